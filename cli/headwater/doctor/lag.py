"""Lag check of the consumer group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from confluent_kafka.admin import AdminClient

from headwater.doctor.finding import DoctorFinding, SubjectCheck, duration_text
from headwater_consumers.kafka.offsets import OffsetReader, PartitionOffsets
from headwater_consumers.kafka.topic_reader import PendingTimes
from headwater_schemas.kafka.client import answer, quiet

_SECONDS = 10.0
_LATE_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class SeenLag:
    """Lag of the group on the events topic.

    Attributes:
        pending: number of records that the group hasn't committed, over all partitions.
        expired: number of records that were deleted before the group read them.
        oldest: timestamp of the oldest pending record; None if nothing is pending, or if it can't be read.
    """

    members: int
    pending: int
    expired: int
    oldest: datetime | None


def look(client: Mapping[str, Any], topic: str, group: str) -> SeenLag:
    """Ask the brokers, without joining the group or committing anything.

    Raises:
        KafkaException: the brokers don't answer, or refuse.
    """
    settings = quiet(client)
    positions = OffsetReader(settings, group=group).positions(topic, timeout_seconds=_SECONDS)
    admin = AdminClient(settings)
    described = answer(admin.describe_consumer_groups([group], request_timeout=_SECONDS)[group], _SECONDS)
    waiting = [each for each in positions if each.pending]
    return SeenLag(
        len(described.members),
        sum(each.pending for each in positions),
        sum(max(0, each.begin - each.committed) for each in positions if each.committed is not None),
        _oldest(settings, waiting) if waiting else None,
    )


def _oldest(client: Mapping[str, Any], waiting: list[PartitionOffsets]) -> datetime | None:
    """The lowest timestamp of the first pending records."""
    times = PendingTimes(client)
    try:
        found = times.read(waiting, timeout_seconds=_SECONDS)
    finally:
        times.close()
    return datetime.fromtimestamp(min(found.values()) / 1_000, UTC) if found else None


def judge(seen: SeenLag, *, topic: str, group: str, now: datetime) -> Iterator[DoctorFinding]:
    """Findings on the group."""
    if seen.expired:
        yield SubjectCheck("lag", topic).fail(
            f"{seen.expired:,} records expired before group {group} read them, and aren't in the graph.",
            "Raise retention.ms; `headwater graph rebuild --archive …` brings them back from an archive.",
        )
    check = SubjectCheck("lag", group)
    age = 0.0 if seen.oldest is None else (now - seen.oldest).total_seconds()
    since = "for an unknown time" if seen.oldest is None else f"the oldest for {duration_text(age)}"
    waits = f"{seen.pending:,} records wait on {topic}, {since}"
    if not seen.pending:
        word = "" if seen.members else "; no consumer is running now"
        yield check.ok(f"Everything on {topic} is in the graph or a dead letter{word}.")
    elif not seen.members:
        yield check.fail(f"{waits}, and no consumer is running.", "Start `headwater consume`.")
    elif seen.oldest is None:
        yield check.unknown(f"{waits}.", "Look at the consumers' logs, and run it again (ops/README.md).")
    elif age > _LATE_SECONDS:
        yield check.risk(
            f"{waits}.", "Start more consumers, up to one for each partition; look at their logs (ops/README.md)."
        )
    else:
        yield check.ok(f"{waits}.")
