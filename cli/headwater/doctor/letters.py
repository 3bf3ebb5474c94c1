"""Dead letters: whether somebody looks at them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from headwater.doctor.finding import Finding, Severity, duration_text, ok
from headwater_consumers.materializer.dead_letters.inspection import Census, LatestLetters
from headwater_consumers.materializer.dead_letters.topic import letters

_OLD_SECONDS = 7 * 86_400.0


@dataclass(frozen=True, slots=True)
class SeenLetters:
    """Dead letters that stand: each record's last, and not replayed since.

    Attributes:
        count: how many.
        oldest: when the first of them was published.
        by_reason: how many of each reason, the most frequent first.
    """

    count: int
    oldest: datetime | None
    by_reason: Mapping[str, int]


def look(client: Mapping[str, Any], topic: str) -> SeenLetters:
    """Read all that are on the topic, twice; one is in memory at a time.

    Raises:
        KafkaException, BrokerUnavailableError: the brokers don't answer.
    """
    standing, census = LatestLetters(letters(client, topic)), Census()
    for letter in letters(client, topic):
        if standing.stands(letter):
            census.add(letter)
    oldest = min((group.oldest for group in census.groups if group.oldest is not None), default=None)
    return SeenLetters(census.letters, oldest, census.by_reason)


def judge(seen: SeenLetters, topic: str, now: datetime) -> Iterator[Finding]:
    """A finding on them."""
    if not seen.count:
        yield ok("dead letters", topic, "There are none.")
        return
    age = 0.0 if seen.oldest is None else (now - seen.oldest).total_seconds()
    reasons = ", ".join(f"{reason} {count:,}" for reason, count in seen.by_reason.items())
    yield Finding(
        "dead letters",
        Severity.FAIL if age > _OLD_SECONDS else Severity.WARN,
        topic,
        f"{seen.count:,} records aren't in the graph ({reasons}), the oldest for {duration_text(age)}.",
        "`headwater dlq list` and `dlq show` have the causes; `headwater dlq replay` sends them back when mended.",
    )
