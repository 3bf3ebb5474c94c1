"""Which offsets a Kafka sink's micro-batches wrote: bounded from outside, since Spark doesn't tell.

    ends asked ──▶ 100          140          165
                    │ batch 7    │ batch 8    │
                    └── [100, 140) ── [140, 165)

The topic's ends are asked for at a query's start and after each micro-batch. A micro-batch wrote after the last answer
that came before it could write, and before the first question that was put after it had ended. So its range is
certainly within: UPPER_BOUND, since others may write to the topic too. Where nothing was asked in time, nothing is
claimed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final, Protocol

from headwater_producers.spark.plan import SourceKind
from headwater_schemas.events import Certainty, DatasetUse, KafkaRanges, OffsetRange, Position

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from headwater_producers.spark.plan import PlanOutput
    from headwater_producers.spark.streaming.progress import Progress
    from headwater_schemas.events import DatasetRef

# Answers kept of each topic: enough for the micro-batches that wait for their writes.
_KEPT: Final = 64
# Spark's durations are cut to milliseconds.
_ROUNDED: Final = timedelta(milliseconds=5)


class TopicEnds(Protocol):
    """Asks a cluster for the ends of a topic."""

    def ends(self, output: PlanOutput) -> Mapping[int, int] | None:
        """The offset after the last record, by partition; None where that can't be told quickly. Never raises."""


@dataclass(frozen=True, slots=True)
class Observation:
    """One answer: the ends that a topic had at some time between question and answer."""

    asked_at: datetime
    answered_at: datetime
    ends: Mapping[int, int]


class SinkOffsets:
    """The ends of all topics that an application's queries write. The worker's alone.

    Args:
        topics: asks.
        now: the time, of the machine that Spark's driver runs on.
    """

    def __init__(self, topics: TopicEnds, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._topics = topics
        self._now = now
        self._seen: dict[DatasetRef, deque[Observation]] = {}

    def observe(self, outputs: Iterable[PlanOutput], since: datetime | None = None) -> None:
        """Asks for the ends of the topics among these outputs, unless it was done after `since`."""
        for output in outputs:
            if output.kind is not SourceKind.KAFKA:
                continue
            seen = self._seen.setdefault(output.dataset, deque(maxlen=_KEPT))
            if since is not None and seen and seen[-1].asked_at >= since:
                continue
            asked_at = self._now()
            ends = self._topics.ends(output)
            if ends is not None:
                seen.append(Observation(asked_at, self._now(), ends))

    def bounded(self, use: DatasetUse, progress: Progress) -> DatasetUse:
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
        return DatasetUse(
            dataset=use.dataset,
            position=Position(kafka=KafkaRanges(use.dataset.name, ranges)),
            certainty=Certainty.UPPER_BOUND,
            rows=use.rows,
            bytes=use.bytes,
            files=use.files,
            facets=use.facets,
        )


def writing_began(progress: Progress) -> datetime:
    """A time at which the micro-batch had written nothing yet: its trigger's start, and what Spark did before."""
    return progress.started_at + timedelta(milliseconds=progress.before_write_ms)


def writing_ended(progress: Progress) -> datetime:
    """A time at which all was written."""
    return progress.started_at + timedelta(milliseconds=progress.duration_ms or 0) + _ROUNDED


def _between(before: Mapping[int, int], after: Mapping[int, int]) -> tuple[OffsetRange, ...] | None:
    """From one answer to a later one; None where the topic isn't the same any more: it was made anew in between."""
    if not before.keys() <= after.keys() or any(after[partition] < end for partition, end in before.items()):
        return None
    # A partition that is new has its records from 0 on.
    return tuple(OffsetRange(partition, before.get(partition, 0), end) for partition, end in sorted(after.items()))
