"""Replay: sending letters back to their topic, after a release or a schema that makes them valid.

The topic is the events topic; for letters of the bridge, it is the topic of OpenLineage documents.

A replayed record has the original's key, value and headers, an incremented `headwater.attempt`, and
`headwater.replayed.from`, which names the letter's original record. Events are idempotent, so replaying a letter twice
changes nothing in the graph. A record that fails again becomes another letter, which supersedes the first one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from headwater_consumers.materializer.dead_letters import letter as header
from headwater_consumers.materializer.dead_letters.inspection import named
from headwater_consumers.materializer.dead_letters.letter import StoredDeadLetter
from headwater_schemas.errors import BrokerUnavailableError
from headwater_schemas.kafka.client import quiet
from headwater_schemas.kafka.errors import kafka_failure
from headwater_schemas.kafka.producer import AcknowledgedProducer, ProducerRecord, Undelivered, one_by_one

_DELIVERY_SECONDS = 30


@dataclass(slots=True)
class Replayed:
    """Result of a replay.

    Attributes:
        sent: number of letters that the original topic has acknowledged.
        refused: reasons of unsent letters, by location: the brokers' reason, or that the letter has no bytes.
    """

    sent: int = 0
    refused: dict[str, str] = field(default_factory=dict)


def replay(
    client: Mapping[str, Any], topic: str, letters: Iterable[StoredDeadLetter], *, sent: Callable[[], None]
) -> Replayed:
    """Send letters back and wait until each is acknowledged or refused.

    Args:
        client: librdkafka settings with the bootstrap servers and the credentials.
        sent: called once for each acknowledged letter.

    Raises:
        BrokerUnavailableError: the brokers don't answer. Letters acknowledged until then are on the topic; sending them
            again is harmless.
        FatalError: the brokers refuse the client.
    """
    servers = str(client.get("bootstrap.servers", ""))
    config = one_by_one(quiet(client), client_id="headwater-replay", delivery_seconds=_DELIVERY_SECONDS)
    producer = AcknowledgedProducer(config)
    report = Replayed()
    unreachable: list[Undelivered] = []
    taken: dict[int, StoredDeadLetter] = {}
    numbers = count()

    def records() -> Iterator[ProducerRecord]:
        for letter in letters:
            if unreachable:
                return
            if letter.left_out is not None:
                report.refused[letter.where] = (
                    f"the original record {letter.source} can't be sent again: the letter doesn't have its bytes"
                )
                continue
            taken[next(numbers)] = letter
            yield ProducerRecord(letter.back_to(topic), letter.record.key, letter.record.value, replay_headers(letter))

    def settled(number: int, failure: Undelivered | None) -> None:
        letter = taken.pop(number)
        if failure is None:
            report.sent += 1
            sent()
        elif failure.too_large:
            report.refused[letter.where] = failure.error.str()
        else:
            unreachable.append(failure)

    unsettled = producer.deliver(records(), settled, delivery_seconds=_DELIVERY_SECONDS)
    if unreachable:
        raise kafka_failure(unreachable[0].error, servers=servers, doing=f"writing to {topic}")
    if unsettled:
        raise BrokerUnavailableError(f"Topic {topic} at {servers} didn't acknowledge {unsettled} records in time.")
    return report


def replay_headers(letter: StoredDeadLetter) -> tuple[tuple[str, bytes | None], ...]:
    """Headers of the record to send: the original's, the number of the attempt, and the source of the letter."""
    kept = tuple((name, value) for name, value in letter.original_headers if name != header.REPLAYED_FROM)
    added = [(header.ATTEMPT, str(letter.attempt + 1))]
    if letter.source is not None:
        added.append((header.REPLAYED_FROM, named(letter.source)))
    return kept + tuple((name, value.encode()) for name, value in added)
