"""StreamingQueryProgress, as a value: one executed micro-batch as Spark reports it.

Read from `StreamingQueryProgress.json` (Spark 3.4 to 4.0). Spark reports a trigger that found nothing to do under the
id of the batch that would come next; that batch hasn't run, and `Progress.executed` distinguishes the two.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from headwater_producers.spark.connectors.kafka.offsets import kafka_offsets
from headwater_producers.spark.streaming.operators import StateOperator, total
from headwater_schemas.events import QualityResult

if TYPE_CHECKING:
    from collections.abc import Iterator

# Phases of a micro-batch, one after the other, that come before its plan runs. (Its log may be written meanwhile.)
_BEFORE_WRITE: Final = ("latestOffset", "getBatch", "queryPlanning")
# Spark's watermark before any event time was seen.
_NO_WATERMARK: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceProgress:
    """One source in one micro-batch. Offsets are the source's own JSON, parsed; None where Spark has none yet."""

    description: str
    start: Any
    end: Any
    rows: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """One trigger.

    Attributes:
        query_id, run_id, name: of the query.
        batch_id: the micro-batch, or where not `executed` the one that would come next.
        started_at: when the trigger began.
        duration_ms: of the trigger.
        before_write_ms: what the trigger did at least before anything could be written.
        executed: whether a micro-batch ran and was committed.
        rows_out: as the sink reports; None for sinks of the first API, which don't.
        watermark: the one the batch ran with; None while no event time has been seen, or where there is none.
        has_watermark: whether the query has a watermark at all.
        operators: those with state, in Spark's order.
        sources: in Spark's order.
        sink: its description.
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
        """Over all stateful operators; None without any."""
        return total(each.dropped_late for each in self.operators)

    @property
    def state_rows(self) -> int | None:
        """Over all stateful operators; None without any."""
        return total(each.rows for each in self.operators)

    @property
    def state_bytes(self) -> int | None:
        """Over all stateful operators; None without any."""
        return total(each.bytes for each in self.operators)

    def topics(self) -> dict[int, frozenset[str]]:
        """The topics of each Kafka source."""
        ends = ((index, kafka_offsets(source.end)) for index, source in enumerate(self.sources))
        return {index: frozenset(end) for index, end in ends if end is not None}


def parse_progress(text: str) -> Progress:
    """Reads a progress.

    Raises:
        ValueError: not a progress: no JSON, or without ids and a time.
    """
    try:
        data = json.loads(text)
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
            rows_out=_known(sink.get("numOutputRows")),
            watermark=None if watermark == _NO_WATERMARK else watermark,
            has_watermark=watermark is not None,
            sources=tuple(_source(source) for source in data.get("sources") or ()),
            sink=sink.get("description") or "",
            operators=tuple(StateOperator.of(each) for each in data.get("stateOperators") or ()),
            quality=tuple(_quality(data.get("observedMetrics") or {})),
        )
    except (KeyError, TypeError, AttributeError, json.JSONDecodeError) as error:
        raise ValueError(f"not a StreamingQueryProgress: {type(error).__name__}: {error}") from error


def _source(data: dict[str, Any]) -> SourceProgress:
    return SourceProgress(
        description=data.get("description") or "",
        start=_offset(data.get("startOffset")),
        end=_offset(data.get("endOffset")),
        rows=_known(data.get("numInputRows")),
    )


def _quality(observed: dict[str, dict[str, Any]]) -> Iterator[QualityResult]:
    """`df.observe("orders", expr("bool_and(id IS NOT NULL)").alias("has_id"))` ⇒ `orders.has_id`.

    A number beside it called `has_id_value` is what was measured. Other numbers assert nothing.
    """
    for name, metrics in sorted(observed.items()):
        for metric, passed in sorted((metrics or {}).items()):
            if isinstance(passed, bool):
                value = metrics.get(f"{metric}_value")
                measured = None if isinstance(value, bool) or not isinstance(value, int | float) else float(value)
                yield QualityResult(assertion=f"{name}.{metric}", passed=passed, value=measured)


def _offset(value: Any) -> Any:
    """Spark embeds an offset's JSON as it is, or as a string where it doesn't look like JSON."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except json.JSONDecodeError:
        return value


def _known(rows: int | None) -> int | None:
    return None if rows is None or rows < 0 else rows


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)
