"""Answers to requests of Kafka's AdminClient."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from confluent_kafka import KafkaError, KafkaException

if TYPE_CHECKING:
    from concurrent.futures import Future

T = TypeVar("T")


def answer(future: Future[T], timeout_seconds: float) -> T:
    """Wait for the answer to a request of `AdminClient`.

    librdkafka fails a request at its own timeout, but a machine that is busy may hear of that later than of this one.

    Args:
        future: of the request.
        timeout_seconds: the request's own.

    Raises:
        KafkaException: the brokers refuse, or don't answer in time (`_TIMED_OUT`), whichever clock says so.
    """
    try:
        return future.result(timeout_seconds)
    except TimeoutError as error:
        raise KafkaException(
            KafkaError(KafkaError._TIMED_OUT, f"no answer within {timeout_seconds:g} s")  # noqa: SLF001 - librdkafka's name
        ) from error
