"""The schema of the table that a write has added to, which may have more columns than what was written."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from headwater_producers.spark.connectors.delta.snapshots import latest_snapshot
from headwater_producers.spark.jvm.scala import statics
from headwater_producers.spark.plan import WriteMode
from headwater_producers.spark.plan.names import reporting
from headwater_producers.spark.plan.schema import schema_definition

if TYPE_CHECKING:
    from headwater_producers.spark.connectors.versions import Place
    from headwater_producers.spark.plan import PlanDescription
    from headwater_schemas.events import SchemaDefinition

logger = logging.getLogger(__name__)

_MADE_OF_THE_QUERY: Final = frozenset({WriteMode.CREATE, WriteMode.REPLACE})


def with_table_schema(description: PlanDescription, place: Place | None, session: Any) -> PlanDescription:
    """A successful write with its Delta or Iceberg table's own schema in place of the query's; others as they are.

    `INSERT INTO t (id)` brings one column of several, and `mergeSchema` some that weren't there. It is the newest
    version's, by the time this is asked.

    Args:
        description: of its plan.
        place: what it writes; None: that couldn't be asked, and no columns are told.
        session: that ran it.
    """
    if not any(output.mode not in _MADE_OF_THE_QUERY for output in description.outputs):
        return description
    if place is not None and not place.has_versions:
        return description
    schema = None
    try:
        with reporting(description.names):
            schema = _schema(place, session) if place is not None else None
    except Exception:
        # A table that is gone by now: the query's columns are some of its own.
        logger.debug("lineage capture can't tell the schema of a table", exc_info=True)
    return replace(description, outputs=tuple(replace(each, schema=schema) for each in description.outputs))


def _schema(place: Place, session: Any) -> SchemaDefinition:
    if place.delta is not None:
        schema = latest_snapshot(session, place.delta).schema()
    else:
        convert = statics(session, "org.apache.iceberg.spark.SparkSchemaUtil").convert
        schema = convert(place.iceberg.table().schema())
    return schema_definition(json.loads(str(schema.json())))
