"""StreamingQueryProgress, as a value: one executed micro-batch as Spark reports it, and its stateful operators.

Read from `StreamingQueryProgress.json` (Spark 3.4 to 4.0). Spark reports a trigger that found nothing to do under the
id of the batch that would come next; that batch hasn't run, and `Progress.executed` distinguishes the two.

An interval has the sums over stateful operators of their rows and bytes of state, and of rows dropped as late. The
numbers of each single operator are in its run: `StateTally`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

from headwater_producers.spark.connectors.registry import REGISTRY, first_answer
from headwater_schemas.events import DatasetRef, QualityResult

STATE_FACET: Final = "headwater_state"
"""The run facet of a streaming run with stateful operators, as of its last micro-batch that was emitted:
`{"operators": [{"operatorName": "dedupe", "numRowsTotal": 3, "maxNumRowsTotal": 5, "memoryUsedBytes": 1560,
"numRowsDroppedByWatermark": 1}]}`. The names are Spark's; dropped rows are of all its micro-batches."""


@dataclass(frozen=True, slots=True)
class StateOperator:
    """Stateful operator after one micro-batch. Numbers are None where Spark doesn't report them.

    Attributes:
        name: Spark's: `stateStoreSave`, `dedupe`, `symmetricHashJoin`.
        rows, bytes: size of the state.
        dropped_late: rows of this micro-batch that were behind its watermark.
    """

    name: str
    rows: int | None
    bytes: int | None
    dropped_late: int | None

    @classmethod
    def of(cls, progress: dict[str, Any]) -> StateOperator:
        """Parse one of a progress' `stateOperators`."""
        return cls(
            name=str(progress.get("operatorName") or ""),
            rows=progress.get("numRowsTotal"),
            bytes=progress.get("memoryUsedBytes"),
            dropped_late=progress.get("numRowsDroppedByWatermark"),
        )


def total(counts: Iterable[int | None]) -> int | None:
    """Return the sum of the known numbers; None where none is."""
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


class StateTally:
    """Totals of one run's stateful operators over its micro-batches, by their position in its plan."""

    def __init__(self) -> None:
        self._operators: list[StateOperator] = []
        self._most_rows: list[int | None] = []

    def __bool__(self) -> bool:
        return bool(self._operators)

    def add(self, operators: Sequence[StateOperator]) -> None:
        """Add the operators of a micro-batch, each micro-batch once."""
        if not operators:
            return
        before = [each.name for each in self._operators]
        if before != [each.name for each in operators]:
            self._operators, self._most_rows = list(operators), [each.rows for each in operators]
            return
        pairs = list(zip(self._operators, operators, strict=True))
        self._operators = [
            replace(now, dropped_late=total((so_far.dropped_late, now.dropped_late))) for so_far, now in pairs
        ]
        self._most_rows = [
            max((rows for rows in (most, now.rows) if rows is not None), default=None)
            for most, now in zip(self._most_rows, operators, strict=True)
        ]

    @property
    def dropped_late(self) -> int | None:
        """Number of late rows that all operators have dropped."""
        return total(each.dropped_late for each in self._operators)

    def facet(self, producer: str) -> str:
        """Return the facet of the state, as JSON."""
        rows = [
            {
                "operatorName": each.name,
                "numRowsTotal": each.rows,
                "maxNumRowsTotal": most,
                "memoryUsedBytes": each.bytes,
                "numRowsDroppedByWatermark": each.dropped_late,
            }
            for each, most in zip(self._operators, self._most_rows, strict=True)
        ]
        known = [{name: value for name, value in each.items() if value is not None} for each in rows]
        return json.dumps({"_producer": producer, "operators": known})


# Phases of a micro-batch, one after the other, that come before its plan runs. (Its log may be written meanwhile.)
_BEFORE_WRITE: Final = ("latestOffset", "getBatch", "queryPlanning")
# Spark's watermark before any event time was seen.
_NO_WATERMARK: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceProgress:
    """Progress of one source in one micro-batch.

    Offsets are the source's own JSON, parsed; None where Spark has none yet.
    """

    description: str
    start: Any
    end: Any
    rows: int | None
    latest: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Progress of one trigger.

    Attributes:
        query_id, run_id, name: identity of the query.
        batch_id: the micro-batch, or where not `executed` the one that would come next.
        started_at: start of the trigger.
        duration_ms: duration of the trigger.
        before_write_ms: least duration of the trigger's work before its first write.
        executed: True if a micro-batch ran and was committed.
        rows_out: the sink's count; None for sinks of the first API, which have none.
        watermark: the one the batch ran with; None while no event time has been seen, or where there is none.
        has_watermark: True if the query has a watermark at all.
        operators: stateful operators, in Spark's order.
        sources: progress of the sources, in Spark's order.
        sink: description of the sink.
        quality: the boolean metrics that `DataFrame.observe` counted: each is an assertion that held or didn't.
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
        """Late rows dropped by all stateful operators; None without any."""
        return total(each.dropped_late for each in self.operators)

    @property
    def state_rows(self) -> int | None:
        """Rows in the state of all stateful operators; None without any."""
        return total(each.rows for each in self.operators)

    @property
    def state_bytes(self) -> int | None:
        """Bytes of the state of all stateful operators; None without any."""
        return total(each.bytes for each in self.operators)

    def topics(self) -> dict[int, frozenset[str]]:
        """Return the topics of each source with any, by its index."""
        found = {}
        for index, source in enumerate(self.sources):
            topics = first_answer(each.subscribed(source.end, None) for each in REGISTRY)
            if topics is not None:
                found[index] = topics
        return found


def parse_progress(text: str) -> Progress:
    """Parse a progress: alone, or as `QueryProgressEvent.json` has it, which is one round trip to the JVM.

    Raises:
        ValueError: not a progress: no JSON, or without ids and a time.
    """
    try:
        data = json.loads(text)
        data = data.get("progress", data)
        durations = data.get("durationMs") or {}
        event_time = data.get("eventTime") or {}
        sink = data.get("sink") or {}
        watermark = _time(event_time["watermark"]) if "watermark" in event_time else None
        return Progress(
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

    A number beside it named `has_id_value` is the measured value. Other numbers assert nothing.

    Args:
        observed: metrics by name, by the name of their observation.
        dataset: dataset of the checks; None: the one that was written.
    """
    for name, metrics in sorted(observed.items()):
        for metric, passed in sorted((metrics or {}).items()):
            if isinstance(passed, bool):
                value = (metrics or {}).get(f"{metric}_value")
                measured = None if isinstance(value, bool) or not isinstance(value, int | float) else float(value)
                yield QualityResult(assertion=f"{name}.{metric}", passed=passed, value=measured, dataset=dataset)


def _offset(value: Any) -> Any:
    """Parse an offset: Spark embeds its JSON as it is, or as a string where it doesn't look like JSON."""
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
