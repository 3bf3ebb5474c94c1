"""Feed: events at a steady rate, and a ledger of the acknowledged events, which must be in the graph."""

from __future__ import annotations

import contextlib
import random
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any

from confluent_kafka import Producer

from headwater.errors import HeadwaterError
from headwater_benchmarks.workload import Mixture, Proportions
from headwater_graph.fold.builder import Builder
from headwater_graph.fold.fold import fold_event
from headwater_schemas.codec import SINGLE_OBJECT_MAGIC, encode
from headwater_schemas.events import LineageEvent
from headwater_schemas.identity import record_key

PROPORTIONS = Proportions(queries=12, jobs=40, tables=120, skewed=0.02)
_BAD_SHARE = 0.005
_TURN_SECONDS = 0.1
_FLUSH_SECONDS = 120.0


class AcknowledgedFeed:
    """Thread that produces events, and the fold of all acknowledged events.

    Attributes:
        expected: base facts of all acknowledged events that can be applied.
        acknowledged: number of acknowledged records, including bad records.
        bad: number of acknowledged bad records, which belong on the dead-letter topic.
    """

    def __init__(self, client: Mapping[str, Any], topic: str, *, seed: int, rate: float) -> None:
        self._producer = Producer(
            {**client, "enable.idempotence": True, "acks": "all", "message.timeout.ms": 0, "linger.ms": 20}
        )
        self._topic = topic
        self._rate = rate
        self._mixture = Mixture(seed, PROPORTIONS)
        self._stream = iter(self._mixture)
        self._dice = random.Random(seed)  # noqa: S311  no secret
        self._builder = Builder()
        self.acknowledged = self.bad = 0
        self._failed: str | None = None
        self._wanted = threading.Event()
        self._idle = threading.Event()
        self._holding = threading.Lock()
        self._ending = False
        self._thread = threading.Thread(target=self._run, name="feed", daemon=True)
        self._thread.start()

    @property
    def expected(self) -> Any:
        """Fold of the acknowledged events. Read it only while the feed is paused."""
        return self._builder.delta

    def resume(self) -> None:
        """Continue after a pause."""
        self._wanted.set()

    def pause(self) -> None:
        """Pause the feed, send all delayed events, and wait until all events are acknowledged.

        Raises:
            HeadwaterError: the brokers don't acknowledge the events.
        """
        self._wanted.clear()
        if not self._idle.wait(_FLUSH_SECONDS):
            raise HeadwaterError("The feed doesn't pause.")
        for event in self._mixture.finish():
            self.put(event)
        self.flush()

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Pause the feed during the block, which may produce events; other callers of `held` wait."""
        with self._holding:
            self.pause()
            try:
                yield
            finally:
                self.resume()

    def flush(self) -> None:
        """Wait until all events are acknowledged.

        Raises:
            HeadwaterError: the brokers don't acknowledge the events.
        """
        if self._producer.flush(_FLUSH_SECONDS) or self._failed:
            raise HeadwaterError(f"Kafka doesn't acknowledge events: {self._failed or 'the time is over'}.")

    def put(self, event: LineageEvent) -> None:
        """Produce an event. Other threads may call this only while the feed is paused."""
        self._produce(encode(event), record_key(event), event)

    def put_bad(self, count: int) -> None:
        """Produce records that can't be applied. Other threads may call this only while the feed is paused."""
        for _ in range(count):
            self._produce(bad_record(self._dice, encode(next(self._stream))), self._dice.randbytes(4), None)

    def close(self) -> None:
        """End the thread; in-flight records may be lost."""
        self._ending = True
        self._wanted.set()
        self._thread.join(timeout=30)

    def _run(self) -> None:
        while not self._ending:
            if not self._wanted.is_set():
                self._idle.set()
                self._wanted.wait()
                self._idle.clear()
                continue  # check again: the feed may have been paused meanwhile
            began = time.monotonic()
            for _ in range(max(1, round(self._rate * _TURN_SECONDS))):
                if self._dice.random() < _BAD_SHARE:
                    self.put_bad(1)
                self.put(next(self._stream))
            self._producer.poll(0)
            time.sleep(max(0.0, began + _TURN_SECONDS - time.monotonic()))

    def _produce(self, value: bytes, key: bytes, event: LineageEvent | None) -> None:
        def delivered(error: Any, _message: Any) -> None:
            if error is not None:
                self._failed = str(error)
                return
            self.acknowledged += 1
            if event is None:
                self.bad += 1
            else:
                fold_event(self._builder, event)

        while True:
            try:
                self._producer.produce(self._topic, value, key, on_delivery=delivered)
            except BufferError:
                self._producer.poll(0.1)
            else:
                return


def bad_record(dice: random.Random, good: bytes) -> bytes:
    """Make a record that can't be applied, and that a consumer must dead-letter.

    One of: an empty value, garbage, an unknown schema, a truncated event.

    Args:
        good: a valid event, for the truncated event.
    """
    kinds = (
        b"",
        dice.randbytes(40).replace(b"\xc3\x01", b"xx"),
        SINGLE_OBJECT_MAGIC + dice.randbytes(8) + dice.randbytes(20),
        good[: len(good) // 2],
    )
    return dice.choice(kinds)
