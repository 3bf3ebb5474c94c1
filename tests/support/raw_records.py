"""Values of records as another writer makes them: by fastavro, which checks nothing that `encode` does."""

from __future__ import annotations

from datetime import datetime
from io import BytesIO

import msgspec
from fastavro import schemaless_writer

from headwater_schemas.avro_schema import current_schema
from headwater_schemas.codec import SINGLE_OBJECT_MAGIC
from headwater_schemas.events import LineageEvent


def raw(event: LineageEvent) -> bytes:
    """An event, good or not, by the current schema in single-object encoding.

    Raises:
        Exception: one of fastavro's, for what Avro can't hold.
    """
    datum = msgspec.to_builtins(event, builtin_types=(datetime,))
    out = BytesIO()
    schemaless_writer(out, current_schema().parsed, datum, disable_tuple_notation=True)
    return SINGLE_OBJECT_MAGIC + current_schema().fingerprint + out.getvalue()
