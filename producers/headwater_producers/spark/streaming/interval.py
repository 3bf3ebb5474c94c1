"""Interval entries: one for each executed micro-batch, from its progress as Spark reports it.

An entry is built from the micro-batch's progress, the sources' logs in the checkpoint, the sink's log and the writes
inside foreachBatch.

A progress is read from `StreamingQueryProgress.json`. Spark reports a trigger without new data under
the id of the next batch, which hasn't run; `QueryProgress.executed` is then False.

An interval sums the state rows, the state bytes and the rows dropped as late of all stateful operators. The numbers of
each operator are in its run: `stream_run.StateTally`.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from headwater_producers.spark.connectors.connector_answers import RangeRead, SinkCommit, StreamLog
from headwater_producers.spark.connectors.connector_questions import SourceOffsets, StreamSink
from headwater_producers.spark.connectors.kafka.observed_topics import ObservedTopics, writing_ended
from headwater_producers.spark.connectors.registry import REGISTRY, first_answer
from headwater_producers.spark.events.writes import Write, outputs_inside
from headwater_producers.spark.jvm.files import TextFiles, TextFolder
from headwater_producers.spark.plan import PlanDescription, PlanInput, PlanOutput, SourceKind
from headwater_producers.spark.streaming.checkpoint import StreamCheckpoint
from headwater_schemas.events import Certainty, DatasetRef, DatasetUse, IntervalEntry, Position, QualityResult
from headwater_schemas.quality import rule_by_beginning

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class StateOperator:
    """Stateful operator after one micro-batch. Numbers are None if Spark doesn't report them.

    Attributes:
        name: Spark's name of the operator: `stateStoreSave`, `dedupe`, `symmetricHashJoin`.
        dropped_late: rows of this micro-batch that were behind its watermark.
    """

    name: str
    rows: int | None
    bytes: int | None
    dropped_late: int | None

    @classmethod
    def of(cls, progress: dict[str, Any]) -> StateOperator:
        """Parse an element of a progress's `stateOperators`."""
        return cls(
            name=str(progress.get("operatorName") or ""),
            rows=progress.get("numRowsTotal"),
            bytes=progress.get("memoryUsedBytes"),
            dropped_late=progress.get("numRowsDroppedByWatermark"),
        )


def total(counts: Iterable[int | None]) -> int | None:
    """Return the sum of the known numbers; None if none is known."""
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


# Phases of a micro-batch, one after the other, that come before its plan runs. (Its log may be written meanwhile.)
_BEFORE_WRITE: Final = ("latestOffset", "getBatch", "queryPlanning")
# Spark's watermark before any event time was seen.
_NO_WATERMARK: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceProgress:
    """Progress of one source in one micro-batch.

    Offsets are the source's own JSON, parsed; None if Spark has none yet.
    """

    description: str
    start: Any
    end: Any
    rows: int | None
    latest: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryProgress:
    """Progress of one trigger.

    Attributes:
        batch_id: id of the micro-batch; if not `executed`, id of the next micro-batch.
        before_write_ms: minimum duration of the trigger's work before its first write.
        executed: True if a micro-batch ran and was committed.
        rows_out: number of rows that the sink counted; None for sinks of the V1 API, which don't count.
        watermark: watermark of the batch; None before any event time was seen, or without a watermark.
        has_watermark: True if the query has a watermark at all.
        operators: stateful operators, in Spark's order.
        sources: progress of the sources, in Spark's order.
        quality: boolean metrics of `DataFrame.observe`; each is the result of an assertion.
    """

    query_id: str
    run_id: str
    name: str | None
    batch_id: int
    started_at: datetime
    duration_ms: int | None
    before_write_ms: int
    executed: bool
    rows_out: int | None
    watermark: datetime | None
    has_watermark: bool
    sources: tuple[SourceProgress, ...]
    sink: str
    operators: tuple[StateOperator, ...] = ()
    quality: tuple[QualityResult, ...] = ()

    @property
    def rows_dropped_late(self) -> int | None:
        """Late rows dropped by all stateful operators; None without stateful operators."""
        return total(each.dropped_late for each in self.operators)

    @property
    def state_rows(self) -> int | None:
        """Rows in the state of all stateful operators; None without stateful operators."""
        return total(each.rows for each in self.operators)

    @property
    def state_bytes(self) -> int | None:
        """Bytes of the state of all stateful operators; None without stateful operators."""
        return total(each.bytes for each in self.operators)

    def topics(self) -> dict[int, frozenset[str]]:
        """Return the topics of each source that has topics, by the source's index."""
        found = {}
        for index, source in enumerate(self.sources):
            topics = first_answer(each.subscribed(source.end, None) for each in REGISTRY)
            if topics is not None:
                found[index] = topics
        return found


def parse_progress(text: str) -> QueryProgress:
    """Parse a progress, or a `QueryProgressEvent.json`, which takes one round trip to the JVM.

    Raises:
        ValueError: the text isn't a progress: it is no JSON, or has no ids or no time.
    """
    try:
        data = json.loads(text)
        data = data.get("progress", data)
        durations = data.get("durationMs") or {}
        event_time = data.get("eventTime") or {}
        sink = data.get("sink") or {}
        watermark = _time(event_time["watermark"]) if "watermark" in event_time else None
        return QueryProgress(
            query_id=data["id"],
            run_id=data["runId"],
            name=data.get("name"),
            batch_id=int(data["batchId"]),
            started_at=_time(data["timestamp"]),
            duration_ms=durations.get("triggerExecution", data.get("batchDuration")),
            before_write_ms=sum(durations.get(phase, 0) for phase in _BEFORE_WRITE),
            executed="addBatch" in durations,
            rows_out=_non_negative(sink.get("numOutputRows")),
            watermark=None if watermark == _NO_WATERMARK else watermark,
            has_watermark=watermark is not None,
            sources=tuple(_source(source) for source in data.get("sources") or ()),
            sink=sink.get("description") or "",
            operators=tuple(StateOperator.of(each) for each in data.get("stateOperators") or ()),
            quality=tuple(observed_quality(data.get("observedMetrics") or {})),
        )
    except (KeyError, TypeError, AttributeError, json.JSONDecodeError) as error:
        raise ValueError(f"not a StreamingQueryProgress: {type(error).__name__}: {error}") from error


def _source(data: dict[str, Any]) -> SourceProgress:
    return SourceProgress(
        description=data.get("description") or "",
        start=_offset(data.get("startOffset")),
        end=_offset(data.get("endOffset")),
        rows=_non_negative(data.get("numInputRows")),
        latest=_offset(data.get("latestOffset")),
    )


def observed_quality(
    observed: Mapping[str, Mapping[str, Any] | None], dataset: DatasetRef | None = None
) -> Iterator[QualityResult]:
    """Read checks: `df.observe("orders", expr("bool_and(id IS NOT NULL)").alias("has_id"))` ⇒ `orders.has_id`.

    A further number named `has_id_value` is the measured value. Other numbers assert nothing. The beginning of the
    metric's name decides the rule: `not_null_id` ⇒ COMPLETENESS.

    Args:
        observed: metrics of each observation: name of the observation ⇒ name of the metric ⇒ value.
        dataset: dataset of the checks; None: the written dataset.
    """
    for name, metrics in sorted(observed.items()):
        for metric, passed in sorted((metrics or {}).items()):
            if isinstance(passed, bool):
                value = (metrics or {}).get(f"{metric}_value")
                measured = None if isinstance(value, bool) or not isinstance(value, int | float) else float(value)
                yield QualityResult(
                    assertion=f"{name}.{metric}",
                    passed=passed,
                    value=measured,
                    dataset=dataset,
                    rule=rule_by_beginning(metric),
                )


def _offset(value: Any) -> Any:
    """Parse an offset: Spark embeds JSON directly, and other texts as strings."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except json.JSONDecodeError:
        return value


def _non_negative(rows: int | None) -> int | None:
    return None if rows is None or rows < 0 else rows


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


class SinkCommits:
    """Commits in the log of a query's sink: EXACT positions, even after a restart of the query.

    | sink | its log | a micro-batch's entry |
    |---|---|---|
    | `FileSink[file:/out]` | `_spark_metadata/` | the file of its number |
    | `DeltaSink[file:/t]` | `_delta_log/` | the commit with the transaction (query id, batch id) |
    | an Iceberg table | its snapshots | the snapshot whose summary has query id and epoch |

    All of these entries exist before the micro-batch is committed in the checkpoint, and so before its progress is
    reported.

    Args:
        log: log of the sink, if the running query gave access to it.
    """

    def __init__(self, sink: str, query_id: str, files: TextFiles, log: StreamLog | None = None) -> None:
        self._query_id = query_id
        described = StreamSink(description=sink, files=files)
        self._log = first_answer(each.stream_log(described) for each in REGISTRY.named(described.name)) or log

    def use(self, output: PlanOutput, batch_id: int, rows: int | None) -> DatasetUse:
        """Return a micro-batch's use of the sink's only dataset; without a position if the sink's log can't be read.

        Args:
            rows: row count in the progress; None for sinks of the V1 API.
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
        """Return the time at which a committed micro-batch was written, by the sink's log; None if it has no time."""
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
    """Return the description of a sink that writes to `path`, from the log there; empty if the log can't be read."""
    try:
        return first_answer(each.sink_at(path, files) for each in REGISTRY) or ""
    except Exception:
        # A topic, or a table on another machine, isn't shown by these files.
        logger.debug("no sink's log at %s", path, exc_info=True)
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MicroBatchFacts:
    """Facts of a micro-batch that aren't in its progress.

    Attributes:
        outputs: outputs, one use for each dataset.
        plan_digest: digest of the PlanEvent with the micro-batch's column lineage.
        rows_out: rows written to all outputs, for a progress without a count.
        skipped: True if the sink skipped the micro-batch, because the sink has it from before the query's restart. Then
            no row was read, and its number of rows is unknown.
    """

    outputs: tuple[DatasetUse, ...] = ()
    watermark_after: datetime | None = None
    plan_digest: str | None = None
    rows_out: int | None = None
    skipped: bool = False


def interval_entry(
    progress: QueryProgress,
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
        facts: facts that aren't in the progress.
        topics: states of the topics when the micro-batch ran; None if they weren't requested then.
        read_often: True if the micro-batch's rows may have been read more than once: each action inside foreachBatch
            reads them, and Spark adds these reads up. Offsets bound the true count; without offsets the count is
            unknown.
        checkpoint: root of the query's checkpoint, with the logs of its sources; None: unknown.
    """
    inputs = tuple(inputs)
    by_source = _by_source(inputs)
    uses: list[DatasetUse] = []
    rows: list[int | None] = []
    for index, source in enumerate(source_offsets(progress, inputs, checkpoint)):
        ranges = _ranges(source)
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


def _ranges(source: SourceOffsets) -> tuple[RangeRead, ...] | None:
    for connector in REGISTRY.of_source(source):
        if (ranges := connector.read_range(source)) is not None:
            return ranges
    return None


def _by_source(inputs: Iterable[PlanInput]) -> dict[int, list[PlanInput]]:
    found: dict[int, list[PlanInput]] = {}
    for each in inputs:
        if each.source_index is not None:
            found.setdefault(each.source_index, []).append(each)
    return found


def source_offsets(
    progress: QueryProgress, inputs: Iterable[PlanInput], checkpoint: TextFolder | None = None
) -> list[SourceOffsets]:
    """Build connectors' questions about the sources of a micro-batch.

    Args:
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
                index=index,
                checkpoint=checkpoint,
            )
        )
    return found


def source_rows(ranges: Sequence[RangeRead] | None, rows: int | None, *, read_often: bool) -> int | None:
    """Return the number of rows of a source in a micro-batch, each counted once; None if unknown.

    A count that is a multiple of the number of offsets in the range comes from several reads of the range.

    Args:
        ranges: ranges read; None if no connector reads the source's offsets.
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
    progress: QueryProgress,
    description: PlanDescription | None,
    checkpoint: StreamCheckpoint | None,
    writes: Sequence[Write],
    digest: str | None,
    commits: SinkCommits,
    observed: ObservedTopics,
) -> MicroBatchFacts:
    """Collect the facts that a progress lacks; reads at most two small files, for most micro-batches none.

    Args:
        writes: writes made inside foreachBatch.
        digest: digest of the micro-batch's column lineage.
        commits: commits in the log of the query's sink.
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
    if topics:
        outputs = observed.written(outputs, topics, progress, progress.rows_out)
    return MicroBatchFacts(
        outputs=outputs,
        watermark_after=(
            checkpoint.watermark_after(progress.batch_id) if checkpoint is not None and progress.has_watermark else None
        ),
        plan_digest=digest,
        rows_out=rows_of(outputs),
        skipped=not writes and _is_skipped(progress, commits),
    )


def _is_skipped(progress: QueryProgress, commits: SinkCommits) -> bool:
    """Return True if the sink already had a micro-batch before it began. Asks the sink only if no row was read."""
    if not progress.sources or any(source.rows != 0 for source in progress.sources):
        return False
    at = commits.written_at(progress.batch_id)
    return at is not None and at < progress.started_at


def rows_of(outputs: Sequence[DatasetUse]) -> int | None:
    """Return the total of rows written to these outputs; None if one output's number is unknown."""
    rows = [use.rows for use in outputs]
    return sum(row for row in rows if row is not None) if rows and None not in rows else None


def sink_outputs(
    outputs: Sequence[PlanOutput], commits: SinkCommits, batch_id: int, rows: int | None
) -> tuple[DatasetUse, ...]:
    """Build the outputs of one of Spark's own sinks, from its log. The Kafka sink has no log: see `observed_topics`.

    Several outputs are topics that the rows choose; the number of rows in each isn't in the progress.
    """
    if len(outputs) == 1:
        return (commits.use(outputs[0], batch_id, rows),)
    return tuple(DatasetUse(dataset=output.dataset) for output in outputs)
