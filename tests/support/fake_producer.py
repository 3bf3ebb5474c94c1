"""A stand-in for confluent_kafka.Producer that plays a script of failures."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from confluent_kafka import KafkaError

Delivery = tuple[bytes, Any]  # value, on_delivery


class FakeCluster:
    """Fake cluster that keeps its producers' records.

    Attributes:
        reject: says of a record whether `produce` raises, by topic and value.
        answer: says what the delivery report of a batch is; None: delivered.
        holding: True keeps every record undelivered, as an unreachable broker does.
        producers: all that were made, in order.
        delivered: values by topic, in order.
    """

    def __init__(self) -> None:
        self.reject: Callable[[str, bytes], BaseException | None] = lambda _topic, _value: None
        self.answer: Callable[[str, list[bytes]], KafkaError | None] = lambda _topic, _values: None
        self.holding = False
        self.producers: list[FakeProducer] = []
        self.delivered: dict[str, list[bytes]] = {}
        self.headers: list[Any] = []

    def producer(self, conf: dict[str, Any]) -> Any:
        made = FakeProducer(self, conf)
        self.producers.append(made)
        return made


class FakeProducer:
    """All records of a topic that wait at a poll go out as one batch."""

    def __init__(self, cluster: FakeCluster, conf: dict[str, Any]) -> None:
        self.cluster = cluster
        self.conf = conf
        self.errors: deque[KafkaError] = deque()
        self._waiting: dict[str, list[Delivery]] = {}
        self._purged: list[Delivery] = []
        self._lock = threading.Lock()

    def produce(self, topic: str, *, value: bytes, on_delivery: Any, headers: Any = None, **_: Any) -> None:
        problem = self.cluster.reject(topic, value)
        if problem is not None:
            raise problem
        with self._lock:
            self._waiting.setdefault(topic, []).append((value, on_delivery))
        if headers:
            self.cluster.headers.append(headers)

    def poll(self, timeout: float) -> int:
        while self.errors:
            self.conf["error_cb"](self.errors.popleft())
        if self.cluster.holding:
            threading.Event().wait(min(timeout, 0.005))
            return 0
        with self._lock:
            batches, self._waiting = self._waiting, {}
        for topic, batch in batches.items():
            error = self.cluster.answer(topic, [value for value, _ in batch])
            if error is None:
                self.cluster.delivered.setdefault(topic, []).extend(value for value, _ in batch)
            for _, on_delivery in batch:
                on_delivery(error, None)
        if not batches:
            threading.Event().wait(min(timeout, 0.005))
        return sum(map(len, batches.values()))

    def purge(self) -> None:
        with self._lock:
            self._purged = [record for batch in self._waiting.values() for record in batch]
            self._waiting = {}

    def flush(self, timeout: float) -> int:
        self.poll(timeout)
        purged, self._purged = self._purged, []
        for _, on_delivery in purged:
            on_delivery(KafkaError(KafkaError._PURGE_QUEUE), None)
        return 0

    def list_topics(self, timeout: float) -> Any:
        return SimpleNamespace(topics={})

    def __len__(self) -> int:
        with self._lock:
            return sum(map(len, self._waiting.values()))
