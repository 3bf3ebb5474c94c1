"""Gathering what a micro-batch's progress doesn't say: from the checkpoint, the sink's log and the writes inside."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from headwater_producers.spark.events.writes import join_outputs
from headwater_producers.spark.plan import SourceKind
from headwater_producers.spark.streaming.entry import MicroBatchFacts
from headwater_producers.spark.streaming.sink_offsets import writing_ended
from headwater_producers.spark.streaming.spark_log import sink_files
from headwater_schemas.events import Certainty, DatasetUse, Position

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater_producers.spark.events.writes import Write
    from headwater_producers.spark.plan import PlanDescription, PlanOutput
    from headwater_producers.spark.streaming.checkpoint import Checkpoint
    from headwater_producers.spark.streaming.progress import Progress
    from headwater_producers.spark.streaming.sink_offsets import SinkOffsets
    from headwater_producers.spark.streaming.spark_log import TextFiles

# How a file sink describes itself in the progress; the one place where its path is written out in full.
_FILE_SINK: Final = re.compile(r"^FileSink\[(.*)\]$")


def micro_batch_facts(
    progress: Progress,
    description: PlanDescription | None,
    checkpoint: Checkpoint | None,
    writes: Sequence[Write],
    digest: str | None,
    files: TextFiles,
    sinks: SinkOffsets,
) -> MicroBatchFacts:
    """Reads a few small files of the checkpoint and the sink: two at most, for most micro-batches none.

    Args:
        progress: of the micro-batch.
        description: the query's plan.
        checkpoint: the query's.
        writes: made inside foreachBatch.
        digest: of the micro-batch's column lineage.
        files: to read a sink's log with.
        sinks: the ends of the topics that are written.
    """
    described = description.outputs if description is not None else ()
    written = [output for write in writes for output in write.description.outputs] if writes else described
    sinks.observe(written, since=writing_ended(progress))
    topics = {output.dataset for output in written if output.kind is SourceKind.KAFKA}
    outputs: tuple[DatasetUse, ...]
    if writes:
        outputs = join_outputs(use for write in writes for use in write.outputs())
    else:
        outputs = tuple(sink_output(output, progress, files) for output in described)
    outputs = tuple(sinks.bounded(use, progress) if use.dataset in topics else use for use in outputs)
    rows = [use.rows for use in outputs]
    return MicroBatchFacts(
        first_offsets=checkpoint.first_offsets(progress) if checkpoint is not None else {},
        source_files=checkpoint.files_taken(progress) if checkpoint is not None else {},
        outputs=outputs,
        watermark_after=(
            checkpoint.watermark_after(progress.batch_id) if checkpoint is not None and progress.has_watermark else None
        ),
        plan_digest=digest,
        rows_out=sum(row for row in rows if row is not None) if rows and None not in rows else None,
    )


def sink_output(output: PlanOutput, progress: Progress, files: TextFiles) -> DatasetUse:
    """What went into a sink of Spark's own. Kafka's doesn't tell which offsets it wrote: see `sink_offsets`."""
    if output.kind is SourceKind.FILE and (sink := _FILE_SINK.match(progress.sink)):
        added = sink_files(files, sink[1], progress.batch_id)
        if added is not None:
            return DatasetUse(
                dataset=output.dataset,
                position=Position(files=added),
                certainty=Certainty.EXACT,
                rows=progress.rows_out,
                bytes=added.bytes,
                files=added.count,
            )
    return DatasetUse(dataset=output.dataset, rows=progress.rows_out)
