"""From a py4j plan to a `PlanDescription`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater_producers.spark.plan.description import PlanDescription, PlanSettings
from headwater_schemas.events import ColumnLineage

if TYPE_CHECKING:
    from headwater_producers.spark.plan.description import Upstream


def describe(
    query_execution: Any,
    *,
    session: Any,
    upstream: Upstream | None = None,
    settings: PlanSettings | None = None,
) -> PlanDescription:
    """What a batch query, or a write inside foreachBatch, reads, writes and derives.

    Takes a few py4j round trips for each leaf of the plan and one for the rest; call it on a worker thread.
    Never raises for a plan: what isn't understood makes the lineage incomplete, with a reason.

    Args:
        query_execution: the JVM's `QueryExecution` (`df._jdf.queryExecution()`, or a listener's argument).
        session: the `SparkSession` that ran it.
        upstream: inside foreachBatch, `PlanDescription.upstream` of the streaming query.
        settings: see `PlanSettings`.
    """
    del query_execution, session, upstream, settings
    return PlanDescription(
        inputs=(), outputs=(), lineage=ColumnLineage(complete=False, incomplete_reason="not read yet")
    )


def describe_streaming(
    streaming_query: Any,
    *,
    session: Any,
    settings: PlanSettings | None = None,
) -> PlanDescription:
    """What a started streaming query reads, writes and derives; the same for all its micro-batches.

    It reads the query's own logical plan, in which every source is still there (a micro-batch's plan has an empty
    relation in place of a source without new data). `source_index` of the inputs follows the order of
    `StreamingQueryProgress.sources`. Never raises for a plan.

    Args:
        streaming_query: a `pyspark.sql.streaming.StreamingQuery` whose first trigger has begun (its first progress,
            or the call of its foreachBatch function, is proof); before, this waits for nothing and says so.
        session: the `SparkSession` that started it.
        settings: see `PlanSettings`.
    """
    del streaming_query, session, settings
    return PlanDescription(
        inputs=(), outputs=(), lineage=ColumnLineage(complete=False, incomplete_reason="not read yet")
    )
