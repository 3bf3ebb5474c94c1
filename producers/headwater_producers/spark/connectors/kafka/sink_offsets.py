"""Which offsets a Kafka sink's micro-batches wrote: bounded from outside, since Spark doesn't report them.

    ends asked ──▶ 100          140          165
                    │ batch 7    │ batch 8    │
                    └── [100, 140) ── [140, 165)

The topic's end offsets are read at a query's start and after each micro-batch. A micro-batch wrote after the last
answer that came before it could write, and before the first question that was put after it had ended. So its range is
certainly within: UPPER_BOUND, since others may write to the topic too. Where it has no more offsets than the
micro-batch wrote rows, all of them are its own: EXACT. Where nothing was asked in time, nothing is claimed.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol

import msgspec

from headwater_producers.spark.plan import PlanOutput, SourceKind
from headwater_schemas.events import Certainty, DatasetRef, DatasetUse, KafkaRanges, OffsetRange, Position

# Answers kept of each topic: enough for the micro-batches that wait for their writes.
_KEPT: Final = 64
# Spark's durations are cut to milliseconds.
_ROUNDED: Final = timedelta(milliseconds=5)


class BatchTimes(Protocol):
    """When a micro-batch ran, by its progress."""

    @property
    def started_at(self) -> datetime:
        """When its trigger began."""

    @property
    def duration_ms(self) -> int | None:
        """Of the trigger."""

    @property
    def before_write_ms(self) -> int:
        """What the trigger did at least before anything could be written."""


class TopicEndOffsets(Protocol):
    """Reads the end offsets of a topic from its cluster."""

    def end_offsets(self, output: PlanOutput) -> Mapping[int, int] | None:
        """The offset after the last record, by partition; None where that can't be read quickly. Never raises."""


@dataclass(frozen=True, slots=True)
class Observation:
    """One answer: the end offsets that a topic had at some time between question and answer."""

    asked_at: datetime
    answered_at: datetime
    ends: Mapping[int, int]


class SinkOffsets:
    """The end offsets of all topics that an application's queries write. The worker's alone.

    Args:
        topics: asks.
        now: the time, of the machine that Spark's driver runs on.
        pause: waits so many seconds.
    """

    def __init__(
        self,
        topics: TopicEndOffsets,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._topics = topics
        self._now = now
        self._pause = pause
        self._seen: dict[DatasetRef, deque[Observation]] = {}

    def observe(self, outputs: Iterable[PlanOutput], since: datetime | None = None) -> None:
        """Reads the end offsets of the topics among these outputs, not before `since`, unless it was done after it."""
        for output in outputs:
            if output.kind is not SourceKind.KAFKA:
                continue
            seen = self._seen.setdefault(output.dataset, deque(maxlen=_KEPT))
            if since is not None and seen and seen[-1].asked_at >= since:
                continue
            asked_at = self._after(since)
            ends = self._topics.end_offsets(output)
            if ends is not None:
                seen.append(Observation(asked_at, self._now(), ends))

    def _after(self, since: datetime | None) -> datetime:
        """The time, at `since` or later. A progress can arrive before the end that it reports: that is rounded up."""
        now = self._now()
        if since is not None and timedelta() < since - now <= _ROUNDED:
            self._pause((since - now).total_seconds())
            now = self._now()
        return now

    def bounded(self, use: DatasetUse, progress: BatchTimes) -> DatasetUse:
        """A micro-batch's use of a topic it wrote, with its range where that can be bounded."""
        seen = self._seen.get(use.dataset, ())
        began, ended = writing_began(progress), writing_ended(progress)
        before = [each for each in seen if each.answered_at <= began]
        after = [each for each in seen if each.asked_at >= ended]
        if not before or not after:
            return use
        ranges = _between(before[-1].ends, after[0].ends)
        if ranges is None:
            return use
        position = Position(kafka=KafkaRanges(use.dataset.name, ranges))
        return msgspec.structs.replace(use, position=position, certainty=Certainty.UPPER_BOUND)


def counted(uses: tuple[DatasetUse, ...], rows: int) -> tuple[DatasetUse, ...]:
    """The ranges that a micro-batch's `rows` fill: each row has an offset of its own, and all of them are within.

    One offset more, of another writer, of a task that was run again or of a transaction's end, and it isn't known
    which: they stay upper bounds.

    Args:
        uses: all that the micro-batch wrote.
        rows: that were written, as the sink counted them.
    """
    spans = [
        sum(part.to_exclusive - part.from_ for part in use.position.kafka.ranges)
        for use in uses
        if use.position is not None and use.position.kafka is not None
    ]
    if len(spans) != len(uses) or sum(spans) != rows:
        return uses
    return tuple(
        msgspec.structs.replace(use, certainty=Certainty.EXACT, rows=span)
        for use, span in zip(uses, spans, strict=True)
    )


def writing_began(progress: BatchTimes) -> datetime:
    """A time at which the micro-batch had written nothing yet: its trigger's start, and what Spark did before."""
    return progress.started_at + timedelta(milliseconds=progress.before_write_ms)


def writing_ended(progress: BatchTimes) -> datetime:
    """A time at which all was written."""
    return progress.started_at + timedelta(milliseconds=progress.duration_ms or 0) + _ROUNDED


def _between(before: Mapping[int, int], after: Mapping[int, int]) -> tuple[OffsetRange, ...] | None:
    """From one answer to a later one; None where the topic isn't the same any more: it was made anew in between."""
    if not before.keys() <= after.keys() or any(after[partition] < end for partition, end in before.items()):
        return None
    # A partition that is new has its records from 0 on.
    return tuple(OffsetRange(partition, before.get(partition, 0), end) for partition, end in sorted(after.items()))
