"""Delta tables as this driver has read their logs last."""

from __future__ import annotations

from typing import Any

from headwater_producers.spark.jvm.scala import statics


def latest_snapshot(session: Any, path: str) -> Any:
    """The JVM's `Snapshot` of the table at a path, without a look whether others have written since."""
    log = statics(session, "org.apache.spark.sql.delta.DeltaLog").forTable(session._jsparkSession, path)
    return log.unsafeVolatileSnapshot()
