"""Replay: letters back to the events topic, after a release or a schema that makes them good.

A replayed record has the original's key, value and headers, and with them `headwater.attempt`, one higher, and
`headwater.replayed.from`, which names the record that the letter is of. Events are idempotent, so replaying a letter
twice changes nothing in the graph. What fails again comes back as another letter, which overtakes this one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from confluent_kafka import KafkaError, KafkaException, Producer

from headwater_consumers.dead_letters.choice import named
from headwater_consumers.materializer import dead_letter as header
from headwater_schemas.errors import BrokerUnavailableError
from headwater_schemas.kafka.client import quiet
from headwater_schemas.kafka.errors import kafka_error, kafka_failure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from confluent_kafka import Message

    from headwater_consumers.dead_letters.letter import Letter

_DELIVERY_SECONDS = 30
_POLL_SECONDS = 0.1


@dataclass(slots=True)
class Replayed:
    """What a replay came to.

    Attributes:
        sent: letters acknowledged by the events topic.
        refused: letters that the topic doesn't take, with what it says, by their place.
    """

    sent: int = 0
    refused: dict[str, str] = field(default_factory=dict)


def replay(client: Mapping[str, Any], topic: str, letters: Iterable[Letter], *, sent: Callable[[], None]) -> Replayed:
    """Send letters to the events topic and wait until each is acknowledged or refused.

    Args:
        client: librdkafka settings that say where the cluster is and who we are.
        topic: the events topic.
        letters: which.
        sent: called once for each that is acknowledged.

    Raises:
        BrokerUnavailableError: the brokers don't answer. What was acknowledged until then is on the topic; doing it
            again is harmless.
        FatalError: they refuse us.
    """
    servers = str(client.get("bootstrap.servers", ""))
    producer = Producer(
        {
            **quiet(client),
            "client.id": "headwater-replay",
            "enable.idempotence": True,
            "compression.type": "zstd",
            # As the publisher has it, so that a job's events stay in one partition.
            "partitioner": "murmur2_random",
            "message.max.bytes": 1_000_000_000,
            "batch.num.messages": 1,
            "delivery.timeout.ms": _DELIVERY_SECONDS * 1000,
        }
    )
    report = Replayed()
    away: list[KafkaError] = []

    def outcome(letter: Letter) -> Callable[[KafkaError | None, Message], None]:
        def on_delivery(error: KafkaError | None, _message: Message) -> None:
            if error is None:
                report.sent += 1
                sent()
            elif error.code() == KafkaError.MSG_SIZE_TOO_LARGE:
                report.refused[letter.where] = error.str()
            else:
                away.append(error)

        return on_delivery

    for letter in letters:
        if away:
            break
        _produce(producer, topic, letter, outcome(letter))
    producer.flush(_DELIVERY_SECONDS + 5)
    if away:
        raise kafka_failure(away[0], servers=servers, doing=f"writing to {topic}")
    if len(producer):
        raise BrokerUnavailableError(f"Topic {topic} at {servers} didn't acknowledge {len(producer)} records in time.")
    return report


def _produce(
    producer: Producer, topic: str, letter: Letter, delivered: Callable[[KafkaError | None, Message], None]
) -> None:
    while True:
        try:
            producer.produce(
                topic,
                key=letter.record.key,
                value=letter.record.value,
                headers=list(replay_headers(letter)),
                on_delivery=delivered,
            )
        except BufferError:
            producer.poll(_POLL_SECONDS)  # the queue is full
        except KafkaException as error:
            delivered(kafka_error(error), None)  # type: ignore[arg-type]  # there is no message of it
            return
        else:
            producer.poll(0)
            return


def replay_headers(letter: Letter) -> tuple[tuple[str, bytes | None], ...]:
    """Headers of the record that goes back: the original's, which attempt this is, and what it is an attempt at."""
    kept = tuple((name, value) for name, value in letter.original_headers if name != header.REPLAYED_FROM)
    added = [(header.ATTEMPT, str(letter.attempt + 1))]
    if letter.source is not None:
        added.append((header.REPLAYED_FROM, named(letter.source)))
    return kept + tuple((name, value.encode()) for name, value in added)
