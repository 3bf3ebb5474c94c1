"""Dead-letter check: letters that nobody has replayed or acknowledged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from headwater.doctor.finding import DoctorFinding, FindingSeverity, SubjectCheck, duration_text
from headwater_consumers.materializer.dead_letters.acknowledging import acknowledged
from headwater_consumers.materializer.dead_letters.inspection import Census, LatestLetters
from headwater_consumers.materializer.dead_letters.topic import letters

_OLD_SECONDS = 7 * 86_400.0


@dataclass(frozen=True, slots=True)
class SeenLetters:
    """Pending dead letters: the last letter of each record, if it was neither replayed nor acknowledged.

    Attributes:
        oldest: publication time of the oldest letter.
        by_reason: number of letters by reason, the most frequent first.
    """

    count: int
    oldest: datetime | None
    by_reason: Mapping[str, int]
    acknowledged: int = 0
    """Number of acknowledged letters, which aren't in `count`."""


def look(client: Mapping[str, Any], topic: str, group: str) -> SeenLetters:
    """Read all letters of the topic, twice, with one in memory at a time.

    Args:
        client: librdkafka settings with the bootstrap servers and the credentials.

    Raises:
        KafkaException, BrokerUnavailableError: the brokers don't answer.
    """
    settled = acknowledged(client, group=group, dead_letters=topic)
    latest, census = LatestLetters(letters(client, topic)), Census()
    settled_count = 0
    for letter in letters(client, topic):
        if not latest.stands(letter):
            continue
        if settled.covers(letter):
            settled_count += 1
        else:
            census.add(letter)
    oldest = min((group.oldest for group in census.groups if group.oldest is not None), default=None)
    return SeenLetters(census.letters, oldest, census.by_reason, settled_count)


def judge(seen: SeenLetters, topic: str, now: datetime) -> Iterator[DoctorFinding]:
    """Finding on pending letters."""
    check = SubjectCheck("dead letters", topic)
    if not seen.count:
        settled = f"None waits; {seen.acknowledged:,} are acknowledged or replayed."
        yield check.ok(settled if seen.acknowledged else "There are none.")
        return
    age = 0.0 if seen.oldest is None else (now - seen.oldest).total_seconds()
    reasons = ", ".join(f"{reason} {count:,}" for reason, count in seen.by_reason.items())
    yield check.finding(
        FindingSeverity.FAIL if age > _OLD_SECONDS else FindingSeverity.WARN,
        f"{seen.count:,} records aren't in the graph ({reasons}), the oldest for {duration_text(age)}.",
        "`headwater dlq list` and `dlq show` show the causes. After the causes are removed, `headwater dlq replay` "
        "sends the records again; `headwater dlq acknowledge` accepts the loss.",
    )
