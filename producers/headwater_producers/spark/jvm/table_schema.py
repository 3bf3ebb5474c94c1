"""The schema of the table that a write has added to, which may have more columns than what was written."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from headwater_producers.spark.jvm.versions import written_place
from headwater_producers.spark.plan import WriteMode
from headwater_producers.spark.plan.schema import schema_definition

if TYPE_CHECKING:
    from headwater_producers.spark.plan import PlanDescription
    from headwater_schemas.events import SchemaDefinition

logger = logging.getLogger(__name__)

_MADE_OF_THE_QUERY: Final = frozenset({WriteMode.CREATE, WriteMode.REPLACE})


def with_table_schema(description: PlanDescription, execution: Any, session: Any) -> PlanDescription:
    """A successful write with its Delta or Iceberg table's own schema in place of the query's; others as they are.

    `INSERT INTO t (id)` brings one column of several, and `mergeSchema` some that weren't there. It is the newest
    version's, by the time this is asked.
    """
    if not any(output.mode not in _MADE_OF_THE_QUERY for output in description.outputs):
        return description
    try:
        schema = _schema(execution.analyzed(), session)
    except Exception:
        # A table that is gone by now: the query's columns are some of its own.
        logger.debug("lineage capture can't tell the schema of a table", exc_info=True)
        return replace(description, outputs=tuple(replace(each, schema=None) for each in description.outputs))
    if schema is None:
        return description
    return replace(description, outputs=tuple(replace(each, schema=schema) for each in description.outputs))


def _schema(plan: Any, session: Any) -> SchemaDefinition | None:
    table, path = written_place(plan, session)
    if table is not None:
        iceberg = table.table().schema()
        spark = session._jvm.org.apache.iceberg.spark.SparkSchemaUtil.convert(iceberg)
        return schema_definition(json.loads(str(spark.json())))
    if path is None:
        return None
    log = session._jvm.org.apache.spark.sql.delta.DeltaLog.forTable(session._jsparkSession, path)
    return schema_definition(json.loads(str(log.unsafeVolatileSnapshot().schema().json())))
