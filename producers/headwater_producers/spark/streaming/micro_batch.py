"""Facts that a micro-batch's progress doesn't have: from the checkpoint, the sink's log and the writes inside."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater_producers.spark.connectors.kafka.sink_offsets import counted, writing_ended
from headwater_producers.spark.events.writes import outputs_inside
from headwater_producers.spark.plan import SourceKind
from headwater_producers.spark.streaming.entry import MicroBatchFacts
from headwater_schemas.events import DatasetUse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater_producers.spark.connectors.kafka.sink_offsets import SinkOffsets
    from headwater_producers.spark.connectors.stream_commits import SinkCommits
    from headwater_producers.spark.events.writes import Write
    from headwater_producers.spark.plan import PlanDescription, PlanOutput
    from headwater_producers.spark.streaming.checkpoint import Checkpoint
    from headwater_producers.spark.streaming.progress import Progress


def micro_batch_facts(
    progress: Progress,
    description: PlanDescription | None,
    checkpoint: Checkpoint | None,
    writes: Sequence[Write],
    digest: str | None,
    commits: SinkCommits,
    sinks: SinkOffsets,
) -> MicroBatchFacts:
    """Reads a few small files of the checkpoint and the sink: two at most, for most micro-batches none.

    Args:
        progress: of the micro-batch.
        description: the query's plan.
        checkpoint: the query's.
        writes: made inside foreachBatch.
        digest: of the micro-batch's column lineage.
        commits: of the query's sink.
        sinks: the end offsets of the topics that are written.
    """
    described = description.outputs if description is not None else ()
    written = [output for write in writes for output in write.description.outputs] if writes else described
    sinks.observe(written, since=writing_ended(progress))
    topics = {output.dataset for output in written if output.kind is SourceKind.KAFKA}
    outputs: tuple[DatasetUse, ...]
    if writes:
        outputs = outputs_inside(writes)
    else:
        outputs = sink_outputs(described, commits, progress.batch_id, progress.rows_out)
    outputs = tuple(sinks.bounded(use, progress) if use.dataset in topics else use for use in outputs)
    if progress.rows_out is not None and topics:
        outputs = counted(outputs, progress.rows_out)
    return MicroBatchFacts(
        first_offsets=checkpoint.first_offsets(progress) if checkpoint is not None else {},
        initial_offsets=checkpoint.initial_offsets(progress) if checkpoint is not None else {},
        source_files=checkpoint.files_taken(progress) if checkpoint is not None else {},
        outputs=outputs,
        watermark_after=(
            checkpoint.watermark_after(progress.batch_id) if checkpoint is not None and progress.has_watermark else None
        ),
        plan_digest=digest,
        rows_out=rows_of(outputs),
    )


def rows_of(outputs: Sequence[DatasetUse]) -> int | None:
    """How many rows went into all of them; None where that isn't known of each, since a part is no total."""
    rows = [use.rows for use in outputs]
    return sum(row for row in rows if row is not None) if rows and None not in rows else None


def sink_outputs(
    outputs: Sequence[PlanOutput], commits: SinkCommits, batch_id: int, rows: int | None
) -> tuple[DatasetUse, ...]:
    """What went into a sink of Spark's own, as its log has it. Kafka's has none: see `sink_offsets`.

    Several outputs are topics that the rows choose; how many rows each of them got isn't in the progress.
    """
    if len(outputs) == 1:
        return (commits.use(outputs[0], batch_id, rows),)
    return tuple(DatasetUse(dataset=output.dataset) for output in outputs)
