"""Ends of the events topic, by the configured brokers: for answers from a graph whose consumers are silent."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from confluent_kafka import KafkaException

from headwater.connection import client_config
from headwater.errors import HeadwaterError
from headwater_analysis.freshness import TopicEnd, TopicEnds
from headwater_consumers.kafka.offsets import OffsetReader
from headwater_schemas.kafka.client import quiet
from headwater_schemas.kafka.settings import KafkaSettings

_REQUEST_SECONDS = 3.0
_KEPT_SECONDS = 5.0


def topic_ends(kafka: KafkaSettings) -> TopicEnds:
    """Ask the brokers of the settings; None where there are none, they don't answer within 3 s a request, or refuse."""

    def ends(topic: str) -> Sequence[TopicEnd] | None:
        try:
            found = OffsetReader(quiet(client_config(kafka)), group="").bounds(topic, timeout_seconds=_REQUEST_SECONDS)
        except (KafkaException, HeadwaterError):
            return None
        return [TopicEnd(each.partition.number, each.partition.topic_id, each.begin, each.end) for each in found]

    return ends


def kept(ends: TopicEnds, clock: Callable[[], float] = time.monotonic) -> TopicEnds:
    """Keep each answer for five seconds: for a server that is asked often."""
    known: dict[str, tuple[float, Sequence[TopicEnd] | None]] = {}

    def kept_ends(topic: str) -> Sequence[TopicEnd] | None:
        found = known.get(topic)
        if found is None or clock() - found[0] >= _KEPT_SECONDS:
            found = known[topic] = (clock(), ends(topic))
        return found[1]

    return kept_ends
