"""Observed topics: bounds of the offsets that a run wrote to a Kafka topic, and the topic's id.

Spark doesn't report these offsets.

    ends asked ──▶ 100          140          165
                    │ batch 7    │ batch 8    │
                    └── [100, 140) ── [140, 165)

The id and the end offsets of each topic are requested from Kafka at a query's start and after each micro-batch. The
lower bound of a micro-batch's offsets is the last answer before its first possible write; the upper bound is the first
request after its end. The range is an UPPER_BOUND, since others may write to the topic, too. If the range has as many
offsets as the micro-batch wrote rows, all offsets belong to the micro-batch: EXACT. Without an answer in time, no range
is reported. The topic's id is reported if both answers have the same id: the topic wasn't recreated in between. For a
topic that is only read, one answer soon after the read is enough.

A batch write is bounded by an answer before its beginning (`driver.hooks`) and one after its end; a batch read is
bounded by an answer after its end.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol

import msgspec

from headwater_producers.spark.plan import PlanInput, PlanOutput, SourceKind
from headwater_schemas.events import Certainty, DatasetRef, DatasetUse, KafkaRanges, OffsetRange, Position

# Maximum number of answers kept for each topic, with and without end offsets: enough for the micro-batches that wait
# for their writes.
_KEPT: Final = 64
# Maximum number of read topics: with more, their ids aren't requested after each micro-batch.
_MOST_READ: Final = 20
# Spark's durations are cut to milliseconds.
_ROUNDED: Final = timedelta(milliseconds=5)
# Within this time a topic isn't deleted and recreated: Kafka needs longer.
_SOON: Final = timedelta(seconds=5)


class BatchTimes(Protocol):
    """Times of a micro-batch, by its progress."""

    @property
    def started_at(self) -> datetime:
        """Start of the trigger."""

    @property
    def duration_ms(self) -> int | None:
        """Duration of the trigger."""

    @property
    def before_write_ms(self) -> int:
        """Minimum duration of the trigger's work before its first write."""


@dataclass(frozen=True, slots=True)
class TopicSnapshot:
    """State of a topic at one time.

    Attributes:
        topic_id: Kafka's id of this incarnation; None if the broker has no topic ids.
        ends: end offset (offset after the last record) by partition; None if not requested.
    """

    topic_id: str | None = None
    ends: Mapping[int, int] | None = None


@dataclass(frozen=True, slots=True)
class AskedTopic:
    """Topic whose state is requested, with or without its end offsets."""

    topic: PlanInput | PlanOutput
    offsets: bool


class TopicStates(Protocol):
    """Client that reads the states of topics from their clusters."""

    def states(self, asked: Sequence[AskedTopic]) -> list[TopicSnapshot | None]:
        """Return the state of each topic now; None for a topic that can't be read quickly. Never raises."""


@dataclass(frozen=True, slots=True)
class Observation:
    """Observed state of a topic, at some time between request and answer."""

    asked_at: datetime
    answered_at: datetime
    state: TopicSnapshot


class ObservedTopics:
    """Observed states of all topics that an application reads and writes. Only for the worker's thread.

    Args:
        now: clock of the Spark driver's machine.
    """

    def __init__(
        self,
        topics: TopicStates,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._topics = topics
        self._now = now
        self._pause = pause
        # Answers with and without end offsets are cached separately: otherwise a query that often reads a topic would
        # evict the answers for a query that rarely writes it.
        self._seen: dict[tuple[DatasetRef, bool], deque[Observation]] = {}

    def observe(self, topics: Iterable[PlanInput | PlanOutput], since: datetime | None = None) -> None:
        """Request the states of these inputs' and outputs' topics, unless they were requested after `since`."""
        asked: dict[DatasetRef, PlanInput | PlanOutput] = {}
        for each in topics:
            # For a topic that is read and written, end offsets are requested.
            if each.kind is SourceKind.KAFKA and (each.dataset not in asked or isinstance(each, PlanOutput)):
                asked[each.dataset] = each
        requests = [AskedTopic(topic, isinstance(topic, PlanOutput)) for topic in asked.values()]
        if sum(not each.offsets for each in requests) > _MOST_READ:
            requests = [each for each in requests if each.offsets]
        self._ask(
            [
                each
                for each in requests
                if since is None or not self._is_known(each.topic.dataset, since, offsets=each.offsets)
            ],
            since=since,
        )

    def _is_known(self, dataset: DatasetRef, since: datetime, *, offsets: bool) -> bool:
        """Return True if the topic's state was requested after `since`, with end offsets if needed."""
        seen = [self._seen.get((dataset, True)), None if offsets else self._seen.get((dataset, False))]
        return any(each and each[-1].asked_at >= since for each in seen)

    def _ask(self, asked: Sequence[AskedTopic], since: datetime | None = None) -> list[Observation | None]:
        if not asked:
            return []
        asked_at = self._after(since)
        states = self._topics.states(asked)
        answered_at = self._now()
        answers = [Observation(asked_at, answered_at, state) if state is not None else None for state in states]
        for each, answer in zip(asked, answers, strict=True):
            if answer is not None:
                self._seen.setdefault((each.topic.dataset, each.offsets), deque(maxlen=_KEPT)).append(answer)
        return answers

    def _after(self, since: datetime | None) -> datetime:
        """Return the current time; waits up to 5 ms for `since`: a progress may arrive before its rounded end."""
        now = self._now()
        if since is not None and timedelta() < since - now <= _ROUNDED:
            self._pause((since - now).total_seconds())
            now = self._now()
        return now

    def bounded(self, use: DatasetUse, progress: BatchTimes) -> DatasetUse:
        """Add the offset range that a micro-batch or a batch run wrote to a topic, if it can be bounded."""
        bounds = _bounding_states(self._seen.get((use.dataset, True), ()), progress)
        if bounds is None or not _is_same(*bounds):
            return use
        before, after = bounds
        ranges = _between(before.ends or {}, after.ends or {})
        if ranges is None:
            return use
        position = Position(kafka=KafkaRanges(use.dataset.name, ranges, after.topic_id))
        return msgspec.structs.replace(use, position=position, certainty=Certainty.UPPER_BOUND)

    def written(
        self, uses: tuple[DatasetUse, ...], topics: Collection[DatasetRef], progress: BatchTimes, rows: int | None
    ) -> tuple[DatasetUse, ...]:
        """Add the offset range that a micro-batch wrote, to each output that is a topic.

        Args:
            rows: number of written rows, by the sink's count; None: unknown.
        """
        bounded = tuple([self.bounded(use, progress) if use.dataset in topics else use for use in uses])
        return counted(bounded, rows) if rows is not None else bounded

    def identified(self, use: DatasetUse, progress: BatchTimes) -> DatasetUse:
        """Add the id of a topic that a micro-batch read, if answers before and after agree, or one came soon after.

        The first micro-batch of a query begins before the first answer. If this micro-batch is short, the topic can't
        have been recreated between the micro-batch's begin and the answer.
        """
        if use.position is None or (kafka := use.position.kafka) is None:
            return use
        answers = (answer for offsets in (True, False) for answer in self._seen.get((use.dataset, offsets), ()))
        seen = [each for each in answers if each.state.topic_id is not None]
        bounds = _bounding_states(seen, progress)
        if bounds is None:
            soon = [each for each in seen if _is_soon_after(each, progress)]
            bounds = (soon[0].state, soon[-1].state) if soon else None
        if bounds is None or not _is_same(*bounds):
            return use
        return _with_ranges(use, kafka.ranges, bounds[1].topic_id)

    def after_read(self, use: DatasetUse, topic: PlanInput, ended_at: datetime, *, scanned_once: bool) -> DatasetUse:
        """Add the offsets that a batch run read of a topic, by the topic's state after the run.

        No record lies beyond the end offsets, so all read records are before them: UPPER_BOUND from offset 0. If there
        are as many rows as offsets, all records were read. Offsets that the scan planned aren't changed; only the
        topic's id is added. If the request came too late, or the topic ends before the offsets that the scan planned,
        the answer may be about a later incarnation, and isn't used.
        """
        [answer] = self._ask([AskedTopic(topic, offsets=True)])
        if answer is None or (ends := answer.state.ends) is None:
            return use
        kafka = use.position.kafka if use.position is not None else None
        topic_id = answer.state.topic_id
        if answer.asked_at - ended_at > _SOON:
            return use
        if kafka is not None:
            is_there = all(part.to_exclusive <= ends.get(part.partition, 0) for part in kafka.ranges)
            return _with_ranges(use, kafka.ranges, topic_id) if is_there else use
        if use.position is not None or not ends:
            return use
        ranges = tuple(OffsetRange(partition, 0, end) for partition, end in sorted(ends.items()))
        is_all = scanned_once and use.rows == sum(ends.values())
        return msgspec.structs.replace(
            use,
            position=Position(kafka=KafkaRanges(use.dataset.name, ranges, topic_id)),
            certainty=Certainty.EXACT if is_all else Certainty.UPPER_BOUND,
        )


def _bounding_states(seen: Collection[Observation], progress: BatchTimes) -> tuple[TopicSnapshot, TopicSnapshot] | None:
    """Return the last state before all reads and writes, and the first state after all of them."""
    began, ended = writing_began(progress), writing_ended(progress)
    before = [each for each in seen if each.answered_at <= began]
    after = [each for each in seen if each.asked_at >= ended]
    if not before or not after:
        return None
    return max(before, key=lambda each: each.answered_at).state, min(after, key=lambda each: each.asked_at).state


def _is_soon_after(seen: Observation, progress: BatchTimes) -> bool:
    """Return True if a topic's state was requested after a micro-batch's end, and soon after its start."""
    return writing_ended(progress) <= seen.asked_at <= progress.started_at + _SOON


def _is_same(before: TopicSnapshot, after: TopicSnapshot) -> bool:
    """Return True if the topic wasn't recreated in between, as far as its ids show."""
    return before.topic_id == after.topic_id


def _with_ranges(use: DatasetUse, ranges: tuple[OffsetRange, ...], topic_id: str | None) -> DatasetUse:
    position = Position(kafka=KafkaRanges(use.dataset.name, ranges, topic_id))
    return msgspec.structs.replace(use, position=position)


def counted(uses: tuple[DatasetUse, ...], rows: int) -> tuple[DatasetUse, ...]:
    """Mark the ranges as exact if they have as many offsets as the micro-batch's `rows`: each row has one offset.

    With a single further offset (of another writer, a repeated task or a transaction's end) they stay upper bounds.

    Args:
        rows: number of written rows, by the sink's count.
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
    """Return a time before the micro-batch's first write: its trigger's start, plus the duration of earlier steps."""
    return progress.started_at + timedelta(milliseconds=progress.before_write_ms)


def writing_ended(progress: BatchTimes) -> datetime:
    """Return a time after the micro-batch's last write."""
    return progress.started_at + timedelta(milliseconds=progress.duration_ms or 0) + _ROUNDED


def _between(before: Mapping[int, int], after: Mapping[int, int]) -> tuple[OffsetRange, ...] | None:
    """Return the ranges from one answer to a later one; None if the topic was recreated in between."""
    if not before.keys() <= after.keys() or any(after[partition] < end for partition, end in before.items()):
        return None
    # A new partition has its records from 0 on.
    return tuple(OffsetRange(partition, before.get(partition, 0), end) for partition, end in sorted(after.items()))
