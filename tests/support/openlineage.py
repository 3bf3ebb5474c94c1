"""OpenLineage events as a client sends them, and a sink that tests play Kafka with."""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from headwater_openlineage.intake.sink import Settled, SinkFullError, Undeliverable
from headwater_schemas.events import LineageEvent

PRODUCER = "https://example.com/producer/1.0"
SCHEMA_URL = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"


def run_id(number: int) -> str:
    """Always the same for a number."""
    return str(uuid.UUID(int=number + (7 << 76) + (2 << 62)))


def run_event(number: int = 1, **fields: Any) -> dict[str, Any]:
    """A run that is complete: `orders` → `totals`."""
    return {
        "eventType": "COMPLETE",
        "eventTime": "2026-11-20T10:00:00.000Z",
        "run": {"runId": run_id(number), "facets": {}},
        "job": {"namespace": "shop", "name": f"totals_{number}", "facets": {}},
        "inputs": [{"namespace": "postgres://db:5432", "name": "shop.public.orders", "facets": {}}],
        "outputs": [{"namespace": "postgres://db:5432", "name": "shop.public.totals", "facets": {}}],
        "producer": PRODUCER,
        "schemaURL": SCHEMA_URL,
        **fields,
    }


def run_data(number: int = 1, **fields: Any) -> bytes:
    """Run event as bytes."""
    return json.dumps(run_event(number, **fields)).encode()


class FakeSink:
    """Takes events and settles each at once, or when `release` is called.

    Attributes:
        taken: the events, in order.
        holding: True keeps them unsettled, as a Kafka that doesn't answer.
        room: how many more are taken; None: any number.
        failure: what each is settled with.
    """

    def __init__(self) -> None:
        self.taken: list[LineageEvent] = []
        self.holding = False
        self.room: int | None = None
        self.failure: Undeliverable | None = None
        self._waiting: list[tuple[Sequence[LineageEvent], Settled]] = []
        self._lock = threading.Lock()

    def send(self, events: Sequence[LineageEvent], settled: Settled) -> None:
        with self._lock:
            if self.room is not None:
                if self.room < len(events):
                    raise SinkFullError("1 event waits for Kafka")
                self.room -= len(events)
            self.taken += events
            if self.holding:
                self._waiting.append((events, settled))
                return
        self._settle(events, settled)

    def release(self) -> None:
        with self._lock:
            waiting, self._waiting = self._waiting, []
        for events, settled in waiting:
            self._settle(events, settled)

    def _settle(self, events: Sequence[LineageEvent], settled: Settled) -> None:
        settled([] if self.failure is None else [replace(self.failure, event_id=event.event_id) for event in events])

    def problem(self) -> str | None:
        return "Kafka at broker-1:9092: away" if self.holding else None
