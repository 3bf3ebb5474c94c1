"""Common parts of all Kafka clients: the logger for librdkafka's own lines, and waiting for an answer."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any, TypeVar

from confluent_kafka import KafkaError, KafkaException

T = TypeVar("T")

# librdkafka's own log, a line for every attempt to connect. Add a handler to see it; important messages are raised or
# logged by the component that owns the client.
librdkafka_log = logging.getLogger("headwater.librdkafka")
librdkafka_log.addHandler(logging.NullHandler())
librdkafka_log.propagate = False


def quiet(client: Mapping[str, Any]) -> dict[str, Any]:
    """Add a logger to client settings: librdkafka's own log lines go to `librdkafka_log` instead of stderr."""
    return {"logger": librdkafka_log, **client}


def answer(future: Future[T], timeout_seconds: float) -> T:
    """Wait for the answer to a request of `AdminClient`.

    librdkafka fails a request at its own timeout, but on a busy machine this may happen after the caller's timeout.

    Raises:
        KafkaException: the brokers refuse, or don't answer in time (`_TIMED_OUT`), whichever clock ran out first.
    """
    try:
        return future.result(timeout_seconds)
    except TimeoutError as error:
        raise KafkaException(
            KafkaError(KafkaError._TIMED_OUT, f"no answer within {timeout_seconds:g} s")  # noqa: SLF001 - librdkafka's name
        ) from error
