"""One executed micro-batch as an entry of an interval.

Its progress, and what isn't in it: from the checkpoint, the sink's log and the writes inside foreachBatch.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from headwater_producers.spark.connectors.answer import RangeRead
from headwater_producers.spark.connectors.kafka.connector import KafkaOffsets, kafka_offsets, kafka_ranges
from headwater_producers.spark.connectors.kafka.sink_offsets import SinkOffsets, counted, writing_ended
from headwater_producers.spark.connectors.question import SourceOffsets
from headwater_producers.spark.connectors.registry import REGISTRY
from headwater_producers.spark.connectors.stream_commits import SinkCommits
from headwater_producers.spark.events.writes import Write, outputs_inside
from headwater_producers.spark.plan import PlanDescription, PlanInput, PlanOutput, SourceKind
from headwater_producers.spark.streaming.checkpoint import Checkpoint
from headwater_producers.spark.streaming.progress import Progress, SourceProgress
from headwater_schemas.events import Certainty, DatasetRef, DatasetUse, FileSet, IntervalEntry, OpaqueRange, Position


@dataclass(frozen=True, slots=True, kw_only=True)
class MicroBatchFacts:
    """Facts of a micro-batch that aren't in its progress.

    Attributes:
        first_offsets: by source, the Kafka offsets the source began with; needed where the progress has no start.
        initial_offsets: the same of other sources that log them, as their own JSON, parsed.
        source_files: by source, the files of this batch, for file sources.
        outputs: what was written, one use a dataset.
        watermark_after: the watermark that the batch set.
        plan_digest: the PlanEvent with its column lineage.
        rows_out: over all outputs, where the progress doesn't know.
    """

    first_offsets: Mapping[int, KafkaOffsets] = field(default_factory=dict)
    initial_offsets: Mapping[int, Any] = field(default_factory=dict)
    source_files: Mapping[int, FileSet] = field(default_factory=dict)
    outputs: tuple[DatasetUse, ...] = ()
    watermark_after: datetime | None = None
    plan_digest: str | None = None
    rows_out: int | None = None


def interval_entry(
    progress: Progress, inputs: Iterable[PlanInput], facts: MicroBatchFacts, *, read_often: bool = False
) -> IntervalEntry:
    """Puts an entry together.

    Only streaming sources are inputs of a micro-batch. Tables that are joined in belong to the run: a reconstruction
    from the checkpoint could not know them, and would get another event id for the same batch.

    Args:
        progress: of an executed micro-batch.
        inputs: of the query's plan.
        facts: what isn't in the progress.
        read_often: whether its rows may have been read more than once: each action inside foreachBatch does, and Spark
            adds them up. Offsets bound the true count; without them it isn't known then.
    """
    by_source: dict[int, list[PlanInput]] = {}
    for each in inputs:
        if each.source_index is not None:
            by_source.setdefault(each.source_index, []).append(each)
    uses: list[DatasetUse] = []
    rows: list[int | None] = []
    for index, source in enumerate(progress.sources):
        read = by_source.get(index, [])
        counted = _rows(index, source, read, facts, read_often=read_often)
        uses += _source_uses(index, source, read, facts, counted)
        rows.append(counted)
    return IntervalEntry(
        batch_id=progress.batch_id,
        processing_time=progress.started_at,
        inputs=_distinct(uses),
        outputs=facts.outputs,
        watermark_before=progress.watermark,
        watermark_after=facts.watermark_after,
        duration_ms=progress.duration_ms,
        rows_in=sum(row for row in rows if row is not None) if rows and None not in rows else None,
        rows_out=progress.rows_out if progress.rows_out is not None else facts.rows_out,
        rows_dropped_late=progress.rows_dropped_late,
        state_rows=progress.state_rows,
        state_bytes=progress.state_bytes,
        quality=progress.quality,
        plan_digest=facts.plan_digest,
    )


def source_rows(source: SourceProgress, first: KafkaOffsets | None, *, read_often: bool) -> int | None:
    """How many rows a source gave to a micro-batch, each counted once; None where that isn't known.

    Offsets are an upper bound: transaction markers and compaction leave holes. So a count above them is of several
    reads; it is taken for the offsets where it is a multiple of them.
    """
    if (end := kafka_offsets(source.end)) is None:
        return None if read_often else source.rows
    read = kafka_ranges(kafka_offsets(source.start), end, first).values()
    span = sum(part.to_exclusive - part.from_ for topic in read for part in topic.ranges.ranges)
    if source.rows is None or source.rows <= span:
        return source.rows
    return span if span > 0 and source.rows % span == 0 else None


def _rows(
    index: int, source: SourceProgress, inputs: list[PlanInput], facts: MicroBatchFacts, *, read_often: bool
) -> int | None:
    if not _is_kafka(inputs):
        return None if read_often else source.rows
    return source_rows(source, facts.first_offsets.get(index), read_often=read_often)


def _source_uses(
    index: int, source: SourceProgress, inputs: list[PlanInput], facts: MicroBatchFacts, rows: int | None
) -> Iterable[DatasetUse]:
    if not inputs:
        return []
    start = facts.initial_offsets.get(index) if source.start is None else source.start
    ranges = REGISTRY.read_range(
        SourceOffsets(
            start=source.start,
            end=source.end,
            first=facts.first_offsets.get(index, facts.initial_offsets.get(index)),
            files=facts.source_files.get(index),
            kind=inputs[0].kind,
            from_beginning=inputs[0].from_beginning,
        )
    )
    return _uses(rows, inputs, ranges or (_opaque(start, source.end),))


def _uses(rows: int | None, inputs: list[PlanInput], ranges: Sequence[RangeRead]) -> Iterator[DatasetUse]:
    known = {each.dataset.name: each.dataset for each in inputs}
    # A subscribed pattern meets topics that weren't there when the plan was made; the cluster is the same.
    namespace = inputs[0].dataset.namespace
    for read in ranges:
        of_topic = read.dataset is not None
        datasets = (
            [known.get(read.dataset) or DatasetRef(namespace, read.dataset)]
            if read.dataset is not None
            else [each.dataset for each in inputs]
        )
        position = read.position
        for dataset in datasets:
            yield DatasetUse(
                dataset=dataset,
                position=position,
                certainty=read.certainty,
                rows=rows if len(ranges if of_topic else inputs) == 1 else None,
                files=position.files.count if position is not None and position.files is not None else None,
            )


def _opaque(start: Any, end: Any) -> RangeRead:
    """Of offsets that no connector reads: as they are."""
    if end is None:
        return RangeRead(position=None, certainty=Certainty.UNKNOWN)
    position = Position(opaque=OpaqueRange(from_json=_json(start), to_json=_json(end)))
    return RangeRead(position=position, certainty=Certainty.EXACT)


def _is_kafka(inputs: list[PlanInput]) -> bool:
    """By the plan: a source of one's own may have offsets of the same shape. A source of nothing known may be any."""
    return not inputs or inputs[0].kind is SourceKind.KAFKA


def _json(offset: Any) -> str | None:
    return None if offset is None else json.dumps(offset, sort_keys=True, separators=(",", ":"))


def _distinct(uses: list[DatasetUse]) -> tuple[DatasetUse, ...]:
    """Each use once, by dataset. Two sources that read one topic at their own pace are two uses: both are true."""
    by_position: dict[tuple[DatasetRef, Position | None], DatasetUse] = {}
    for use in uses:
        by_position.setdefault((use.dataset, use.position), use)
    return tuple(sorted(by_position.values(), key=lambda use: use.dataset))


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
    topics = {output.dataset for output in written if output.kind is SourceKind.KAFKA}
    if topics:
        sinks.observe(written, since=writing_ended(progress))
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
