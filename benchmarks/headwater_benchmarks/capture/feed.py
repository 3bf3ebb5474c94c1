"""Records for the query: flat JSON of eight fields, the same for everybody."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence

PARTITIONS = 4

SCHEMA = (
    "id BIGINT, carrier STRING, origin STRING, target STRING, delay DOUBLE, distance BIGINT, at STRING, note STRING"
)

_CODES = ("EWR", "JFK", "LGA", "ORD", "ATL", "LAX", "SFO", "BOS")


def records(count: int, *, first: int, seed: int) -> Iterator[str]:
    """`count` records, numbered from `first`."""
    drawn = random.Random(seed * 1_000_003 + first)  # noqa: S311  no secret
    for number in range(first, first + count):
        yield json.dumps(
            {
                "id": number,
                "carrier": drawn.choice(("UA", "B6", "DL")),
                "origin": drawn.choice(_CODES),
                "target": drawn.choice(_CODES),
                "delay": round(drawn.gauss(10, 30), 1),
                "distance": drawn.randrange(100, 2_500),
                "at": f"2013-01-{drawn.randrange(1, 29):02}T{drawn.randrange(24):02}:00:00Z",
                "note": "x" * 40,
            }
        )


def create_topics(bootstrap_servers: str, names: Sequence[str]) -> None:
    """Makes the topics."""
    from confluent_kafka.admin import AdminClient, NewTopic

    admin = AdminClient({"bootstrap.servers": bootstrap_servers, "log_level": 2})
    made = admin.create_topics([NewTopic(name, num_partitions=PARTITIONS, replication_factor=1) for name in names])
    for future in made.values():
        future.result()


class Feed:
    """Fills the topics that the queries read."""

    def __init__(self, bootstrap_servers: str, seed: int) -> None:
        from confluent_kafka import Producer

        self._producer = Producer(
            {"bootstrap.servers": bootstrap_servers, "acks": "all", "linger.ms": 5, "log_level": 2}
        )
        self._seed = seed
        self._sent: dict[str, int] = {}

    def fill(self, topic: str, count: int) -> None:
        """Sends that many more records, spread evenly over the partitions; waits until they are there."""
        first = self._sent.get(topic, 0)
        for number, record in enumerate(records(count, first=first, seed=self._seed)):
            self._producer.produce(topic, record, partition=number % PARTITIONS)
            self._producer.poll(0)
        self._producer.flush()
        self._sent[topic] = first + count
