"""Interval entries: one for each executed micro-batch.

An entry is made of the micro-batch's progress, the checkpoint, the sink's log and the writes inside foreachBatch.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from headwater_producers.spark.connectors.answer import RangeRead, SinkCommit, StreamLog
from headwater_producers.spark.connectors.kafka.observed_topics import ObservedTopics, counted, writing_ended
from headwater_producers.spark.connectors.question import SourceOffsets, StreamSink
from headwater_producers.spark.connectors.registry import REGISTRY, first_answer
from headwater_producers.spark.events.writes import Write, outputs_inside
from headwater_producers.spark.jvm.files import TextFiles, TextFolder
from headwater_producers.spark.plan import PlanDescription, PlanInput, PlanOutput, SourceKind
from headwater_producers.spark.streaming.checkpoint import Checkpoint, source_folder
from headwater_producers.spark.streaming.progress import Progress
from headwater_schemas.events import Certainty, DatasetRef, DatasetUse, IntervalEntry, Position

logger = logging.getLogger(__name__)


class SinkCommits:
    """Commits in the log of one query's sink: EXACT positions, also after a new start of the query.

    | sink | its log | a micro-batch's entry |
    |---|---|---|
    | `FileSink[file:/out]` | `_spark_metadata/` | the file of its number |
    | `DeltaSink[file:/t]` | `_delta_log/` | the commit with the transaction (query id, batch id) |
    | an Iceberg table | its snapshots | the one whose summary has query id and epoch |

    All of them are there before the micro-batch is committed in the checkpoint, and so before its progress is reported.

    Args:
        sink: description of the sink in a progress.
        query_id: the query's.
        files: reader of the log.
        log: log of the sink, where the query's own could be asked.
    """

    def __init__(self, sink: str, query_id: str, files: TextFiles, log: StreamLog | None = None) -> None:
        self._query_id = query_id
        described = StreamSink(description=sink, files=files)
        self._log = first_answer(each.stream_log(described) for each in REGISTRY.named(described.name)) or log

    def use(self, output: PlanOutput, batch_id: int, rows: int | None) -> DatasetUse:
        """Return a micro-batch's use of the sink's one dataset; without a position where its log can't be read.

        Args:
            output: the dataset.
            batch_id: id of a committed micro-batch.
            rows: count of the progress; sinks of the first API have none.
        """
        commit = self._commit(batch_id)
        if commit is None:
            return DatasetUse(dataset=output.dataset, rows=rows)
        return DatasetUse(
            dataset=output.dataset,
            position=commit.position,
            certainty=Certainty.EXACT,
            rows=commit.counts.rows if rows is None else rows,
            bytes=commit.counts.bytes,
            files=commit.counts.files,
            facets=commit.added.of(output.dataset).facets() if commit.added is not None else {},
        )

    def written_at(self, batch_id: int) -> datetime | None:
        """Return the time at which a committed micro-batch was written, by the sink's log; None where it has none."""
        commit = self._commit(batch_id)
        return None if commit is None else commit.at

    def _commit(self, batch_id: int) -> SinkCommit | None:
        if self._log is None:
            return None
        try:
            return self._log.written(self._query_id, batch_id)
        except Exception as error:
            # The log is being cleaned up, a file is truncated, or the catalog doesn't answer.
            logger.info(
                "lineage capture: query %s: outputs of micro-batch %d unknown (%s)",
                self._query_id,
                batch_id,
                type(error).__name__,
            )
            return None


def sink_at(files: TextFiles, path: str) -> str:
    """Return the description of a sink that writes to `path`, by the log there; empty where that can't be read."""
    try:
        return first_answer(each.sink_at(path, files) for each in REGISTRY) or ""
    except Exception:
        # A topic, or a table of another machine: these files can't show it.
        logger.debug("no sink's log at %s", path, exc_info=True)
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MicroBatchFacts:
    """Facts of a micro-batch that aren't in its progress.

    Attributes:
        outputs: outputs, one use a dataset.
        watermark_after: the watermark that the batch set.
        plan_digest: the PlanEvent with its column lineage.
        rows_out: over all outputs, where the progress doesn't know.
        skipped: True if the sink has skipped it, since it was written before its query was restarted. Then no row was
            read, and its number of rows is unknown.
    """

    outputs: tuple[DatasetUse, ...] = ()
    watermark_after: datetime | None = None
    plan_digest: str | None = None
    rows_out: int | None = None
    skipped: bool = False


def interval_entry(
    progress: Progress,
    inputs: Iterable[PlanInput],
    facts: MicroBatchFacts,
    topics: ObservedTopics | None = None,
    *,
    read_often: bool = False,
    checkpoint: TextFolder | None = None,
) -> IntervalEntry:
    """Build the entry of a micro-batch.

    Only streaming sources are inputs of a micro-batch. Tables that are joined in belong to the run: a reconstruction
    from the checkpoint could not know them, and would get another event id for the same batch.

    Args:
        progress: progress of an executed micro-batch.
        inputs: inputs of the query's plan.
        facts: facts that aren't in the progress.
        topics: the states of topics when it ran; None: nobody asked for them then.
        read_often: True if its rows may have been read more than once: each action inside foreachBatch reads them, and
            Spark adds these reads up. Offsets bound the true count; without them it is unknown.
        checkpoint: root of the query's checkpoint, with the logs of its sources; None: unknown.
    """
    inputs = tuple(inputs)
    by_source = _by_source(inputs)
    uses: list[DatasetUse] = []
    rows: list[int | None] = []
    for index, source in enumerate(source_offsets(progress, inputs, checkpoint)):
        ranges = first_answer(each.read_range(source) for each in REGISTRY.of_source(source))
        counted = None if facts.skipped else source_rows(ranges, progress.sources[index].rows, read_often=read_often)
        if (read := by_source.get(index)) is not None:
            uses += _uses(counted, read, ranges or (RangeRead.opaque(source.start, source.end),))
        rows.append(counted)
    if topics is not None and any(each.kind is SourceKind.KAFKA for each in inputs):
        uses = [topics.identified(use, progress) for use in uses]
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


def _by_source(inputs: Iterable[PlanInput]) -> dict[int, list[PlanInput]]:
    found: dict[int, list[PlanInput]] = {}
    for each in inputs:
        if each.source_index is not None:
            found.setdefault(each.source_index, []).append(each)
    return found


def source_offsets(
    progress: Progress, inputs: Iterable[PlanInput], checkpoint: TextFolder | None = None
) -> list[SourceOffsets]:
    """Build connectors' questions about the sources of a micro-batch.

    Args:
        progress: progress of the micro-batch.
        inputs: inputs of the query's plan.
        checkpoint: root of the query's checkpoint; None: unknown.
    """
    by_source = _by_source(inputs)
    found: list[SourceOffsets] = []
    for index, source in enumerate(progress.sources):
        read = by_source[index][0] if index in by_source else None
        found.append(
            SourceOffsets(
                start=source.start,
                end=source.end,
                description=source.description,
                kind=read.kind if read is not None else None,
                from_beginning=read is not None and read.from_beginning,
                folder=source_folder(checkpoint, index) if checkpoint is not None else None,
            )
        )
    return found


def source_rows(ranges: Sequence[RangeRead] | None, rows: int | None, *, read_often: bool) -> int | None:
    """Return the number of rows that a source gave to a micro-batch, each counted once; None where unknown.

    A count above the range of its offsets comes from several reads, if it is a multiple of that range.

    Args:
        ranges: ranges read; None where no connector reads its offsets.
        rows: the progress's count.
        read_often: see `interval_entry`.
    """
    bounds = [each.most_rows for each in ranges] if ranges is not None else [None]
    if None in bounds:
        return None if read_often else rows
    most = sum(bound for bound in bounds if bound is not None)
    if rows is None or rows <= most:
        return rows
    return most if most > 0 and rows % most == 0 else None


def _uses(rows: int | None, inputs: list[PlanInput], ranges: Sequence[RangeRead]) -> Iterator[DatasetUse]:
    known = {each.dataset.name: each.dataset for each in inputs}
    # A subscribed pattern matches topics that didn't exist when the plan was made; the cluster is the same.
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


def _distinct(uses: list[DatasetUse]) -> tuple[DatasetUse, ...]:
    """Remove duplicate uses. Two sources that read one topic at their own pace are two uses: both are true."""
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
    observed: ObservedTopics,
) -> MicroBatchFacts:
    """Read a few small files of the checkpoint and the sink: two at most, for most micro-batches none.

    Args:
        progress: progress of the micro-batch.
        description: the query's plan.
        checkpoint: the query's.
        writes: made inside foreachBatch.
        digest: digest of the micro-batch's column lineage.
        commits: commits in the log of the query's sink.
        observed: the states of the topics that are read and written.
    """
    inputs, described = (description.inputs, description.outputs) if description is not None else ((), ())
    written = [output for write in writes for output in write.description.outputs] if writes else described
    topics = {output.dataset for output in written if output.kind is SourceKind.KAFKA}
    if topics or any(each.kind is SourceKind.KAFKA for each in inputs):
        observed.observe((*inputs, *written), since=writing_ended(progress))
    outputs: tuple[DatasetUse, ...]
    if writes:
        outputs = outputs_inside(writes)
    else:
        outputs = sink_outputs(described, commits, progress.batch_id, progress.rows_out)
    outputs = tuple(observed.bounded(use, progress) if use.dataset in topics else use for use in outputs)
    if progress.rows_out is not None and topics:
        outputs = counted(outputs, progress.rows_out)
    return MicroBatchFacts(
        outputs=outputs,
        watermark_after=(
            checkpoint.watermark_after(progress.batch_id) if checkpoint is not None and progress.has_watermark else None
        ),
        plan_digest=digest,
        rows_out=rows_of(outputs),
        skipped=not writes and _is_skipped(progress, commits),
    )


def _is_skipped(progress: Progress, commits: SinkCommits) -> bool:
    """Return True if a micro-batch was in the sink before it began. Asks the sink only if no row was read."""
    if not progress.sources or any(source.rows != 0 for source in progress.sources):
        return False
    at = commits.written_at(progress.batch_id)
    return at is not None and at < progress.started_at


def rows_of(outputs: Sequence[DatasetUse]) -> int | None:
    """Return the total of rows written to these outputs; None where it is unknown for one of them."""
    rows = [use.rows for use in outputs]
    return sum(row for row in rows if row is not None) if rows and None not in rows else None


def sink_outputs(
    outputs: Sequence[PlanOutput], commits: SinkCommits, batch_id: int, rows: int | None
) -> tuple[DatasetUse, ...]:
    """Build the outputs of one of Spark's own sinks, as its log has them. Kafka's has none: see `observed_topics`.

    Several outputs are topics that the rows choose; the number of rows in each isn't in the progress.
    """
    if len(outputs) == 1:
        return (commits.use(outputs[0], batch_id, rows),)
    return tuple(DatasetUse(dataset=output.dataset) for output in outputs)
