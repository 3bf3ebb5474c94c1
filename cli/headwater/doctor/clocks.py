"""Clock check: this machine, the database, and the producers of events."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from headwater.doctor.finding import DoctorFinding, SubjectCheck, duration_text
from headwater_consumers.kafka.topic_reader import records_to_end
from headwater_schemas.errors import DecodeError

if TYPE_CHECKING:
    from neo4j import Driver

    from headwater_schemas.codec import Decoder

MOST_SKEW_SECONDS = 5.0
"""Largest skew without a warning. Answers about `1h` ago are wrong by the skew."""
NEWEST = 500
"""Number of newest events of each partition whose event times are read: brokers may set the records' timestamps."""
MOST_AHEAD_SECONDS = 60.0
"""Largest tolerated lead of a producer's clock. During a lead, this producer's reports win over all others."""


@dataclass(frozen=True, slots=True)
class SeenClock:
    """Another clock's time, with the local time before and after the reading.

    Attributes:
        asked, answered: local time before and after the reading.
    """

    whose: str
    time: datetime
    asked: datetime
    answered: datetime

    @property
    def skew_seconds(self) -> float:
        """Seconds by which the clock is ahead (negative: behind); 0 if `time` is between `asked` and `answered`."""
        if self.time > self.answered:
            return (self.time - self.answered).total_seconds()
        return min(0.0, (self.time - self.asked).total_seconds())


def look(driver: Driver, database: str) -> SeenClock:
    """Read the database's clock.

    Raises:
        neo4j.exceptions.Neo4jError, DriverError: as the driver raises them.
    """
    asked = datetime.now(UTC)
    with driver.session(database=database, default_access_mode="READ") as session:
        record = session.run("RETURN datetime.realtime('UTC') AS time").single(strict=True)
    time: datetime = record["time"].to_native()
    return SeenClock("Neo4j", time, asked, datetime.now(UTC))


def judge(clock: SeenClock) -> DoctorFinding:
    """Finding on another clock."""
    check, skew = SubjectCheck("clocks", clock.whose), clock.skew_seconds
    if abs(skew) <= MOST_SKEW_SECONDS:
        return check.ok("Its clock agrees with this machine's.")
    direction = "ahead of" if skew > 0 else "behind"
    return check.risk(
        f"Its clock is {duration_text(abs(skew))} {direction} this machine's.", "Run NTP (chrony) on both."
    )


def latest_event(client: Mapping[str, Any], topic: str, decoder: Decoder) -> datetime | None:
    """Latest time in the newest events of the partitions; None if none of them can be read.

    Raises:
        KafkaException, BrokerUnavailableError: the brokers don't answer, or refuse.
        TransientError: schemas can't be looked up.
    """
    latest = None
    for record in records_to_end(client, topic, newest=NEWEST):
        with contextlib.suppress(DecodeError):
            time = decoder.decode(record.value).event_time
            latest = time if latest is None else max(latest, time)
    return latest


def judge_events(times: Iterable[datetime | None], topic: str, now: datetime) -> Iterator[DoctorFinding]:
    """Finding on producers' clocks, from the latest time of an event.

    Args:
        times: times of the newest events, and the latest timestamp of a record; None without events.
    """
    latest = max((time for time in times if time is not None), default=None)
    if latest is None:
        return
    check, ahead = SubjectCheck("clocks", topic), (latest - now).total_seconds()
    if ahead > MOST_AHEAD_SECONDS:
        yield check.fail(
            f"An event has the time {latest:%Y-%m-%d %H:%M:%S}Z, {duration_text(ahead)} ahead: until then, or for a "
            "day at most, its producer's reports override all others.",
            "Run NTP (chrony) where drivers run; `headwater events` shows the job of the event.",
        )
    else:
        yield check.ok(f"None of the newest {NEWEST} events of each partition is in the future.")
