"""What the loop drives, and how it behaves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from headwater_consumers.materializer.backoff import BackoffPolicy
from headwater_consumers.materializer.batch import Preparation
from headwater_consumers.materializer.checkpoint import CheckpointContext
from headwater_consumers.materializer.health import Health
from headwater_consumers.materializer.lane import Lane
from headwater_consumers.materializer.limits import BatchLimit
from headwater_consumers.materializer.metrics import Metrics
from headwater_consumers.materializer.notices import Notices
from headwater_consumers.materializer.records import Partition
from headwater_consumers.materializer.source import Source
from headwater_consumers.materializer.totals import Totals


@dataclass(frozen=True, slots=True)
class LoopPolicy:
    """How the loop behaves in time, in seconds.

    Attributes:
        backoff: between attempts.
        drain_seconds: how long the batch that is being written may take when partitions go or the consumer stops.
        close_seconds: how long what the lane does then may still take before it is left behind.
        idle_seconds: how long a poll waits for the first record.
        busy_seconds: the same while a batch is being written, whose end is to be noticed soon.
        stall_seconds: a write that takes longer lets the loop pause its partitions and poll on, for the membership.
        ping_seconds: how often the database is looked at while there is nothing to write.
        silence_seconds: a write that takes longer makes the consumer unready.
        until_caught_up: stop when the group has committed what was on the topic at the start.
    """

    backoff: BackoffPolicy = field(default_factory=BackoffPolicy)
    drain_seconds: float = 20.0
    close_seconds: float = 2.0
    idle_seconds: float = 0.1
    busy_seconds: float = 0.01
    stall_seconds: float = 5.0
    ping_seconds: float = 5.0
    silence_seconds: float = 30.0
    until_caught_up: bool = False


@dataclass(frozen=True, slots=True)
class Parts:
    """What the loop drives.

    Attributes:
        start: makes topics and graph ready; called in the lane until it succeeds, before the group is joined.
        finish: lets go of what the lane used; called in the lane, last.
        committed: called with the offsets that were committed, and how long that took.
        watch: called now and then, for whoever shows progress.
    """

    source: Source
    lane: Lane
    checkpoint_context: CheckpointContext
    preparation: Preparation
    limit: BatchLimit
    start: Callable[[], None]
    finish: Callable[[], None]
    health: Health
    metrics: Metrics
    notices: Notices
    totals: Totals
    committed: Callable[[Mapping[Partition, int], float], None]
    watch: Callable[[], None]
