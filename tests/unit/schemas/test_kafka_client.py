"""A request to the brokers that isn't answered in time raises as Kafka's own errors do."""

from __future__ import annotations

from concurrent.futures import Future

import pytest
from confluent_kafka import KafkaError, KafkaException

from headwater_schemas.kafka.client import answer


def test_no_answer_in_time_is_a_kafka_exception() -> None:
    waiting: Future[int] = Future()
    with pytest.raises(KafkaException) as raised:
        answer(waiting, 0.01)
    assert raised.value.args[0].code() == KafkaError._TIMED_OUT


def test_an_answer_and_a_refusal_are_passed_on() -> None:
    done: Future[int] = Future()
    done.set_result(7)
    assert answer(done, 1) == 7
    refused: Future[int] = Future()
    refused.set_exception(KafkaException(KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED)))
    with pytest.raises(KafkaException) as raised:
        answer(refused, 1)
    assert raised.value.args[0].code() == KafkaError.TOPIC_AUTHORIZATION_FAILED
