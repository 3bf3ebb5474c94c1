"""Secrets planted at every way in, in each shape: none is found in what the way in makes, stores, answers or logs."""

from __future__ import annotations

import json
import logging
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec
from prometheus_client import CollectorRegistry, generate_latest

from headwater.logs import JsonLines, TextLines
from headwater_consumers.bridge.bridge import Bridge, BridgeParts
from headwater_consumers.bridge.metrics import BridgeMetrics
from headwater_consumers.kafka.notices import Notices
from headwater_consumers.materializer.dead_letters.inspection import document_content
from headwater_dry_run.options import shown_options, without_secrets
from headwater_openlineage.outgoing import documents_of
from headwater_producers.outbox.store import Store
from headwater_producers.spark.events.job_names import application_name, streaming_name
from headwater_schemas.codec import encode
from headwater_schemas.events import IncidentEvent
from headwater_schemas.events.build import lineage_event
from headwater_schemas.record import Record, record_of
from support.api import client_of, fake_graph
from support.events import FULL_EVENTS, TIME
from support.materializer.broker import FakeBroker, FakeDeadLetters, FakeSource
from support.openlineage import FakeSink, run_event
from support.planted import document, leaks, shapes, with_text

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

SHAPES = shapes()
# Ids, digests and paths, which the contract holds to a form. An incident isn't merged into itself.
_NO_TEXT = frozenset(
    {"digest", "schema_digest", "plan_digest", "run_id", "query_id", "manifest_digest", "items", "partition", "into"}
)


def test_there_are_enough_shapes() -> None:
    assert len({shape.text for shape in SHAPES}) >= 150


def test_events_and_what_is_made_of_them_have_none(tmp_path: Path) -> None:
    found: list[str] = []
    records: list[Record] = []
    for shape in SHAPES:
        places: dict[str, str | bytes] = {}
        for name, full in FULL_EVENTS.items():
            event = full()
            body: Any = getattr(event, f"{event.kind.lower()}_event")
            planted = with_text(body, shape.text, _NO_TEXT)
            if isinstance(planted, IncidentEvent) and planted.notified:
                # Recipients differ, and all would have the same name.
                planted = msgspec.structs.replace(planted, notified=planted.notified[:1])
            made = lineage_event(
                planted,
                job=with_text(event.job, shape.text, _NO_TEXT),
                run=event.run,
                producer=shape.text,
                event_time=TIME,
            )
            places[name] = msgspec.json.encode(made)
            records.append(record_of(made))
        places["names of jobs"] = f"{application_name(shape.text, '')} {streaming_name('a', shape.text, [], None)}"
        places["dry run"] = without_secrets(shape.text) + repr(shown_options({"mode": shape.text}))
        found += leaks([shape], places=places)
    outbox = Store.create(tmp_path)
    outbox.append(list(enumerate(records, 1)))
    files: dict[str, str | bytes] = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    outbox.close()
    assert sum(map(len, files.values())) > sum(len(record.value) for record in records)
    found += leaks(SHAPES, places=files)
    assert not found, chr(10).join(found)


def test_documents_over_http_have_none(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    found: list[str] = []
    sink = FakeSink()
    with client_of(replace(fake_graph(intake=True), sink=sink)) as client:
        for number, shape in enumerate(SHAPES):
            sink.taken.clear()
            data = document(shape, number, run_event(number))
            answer = client.post("/api/v1/lineage", json=data)
            bad = client.post("/api/v1/lineage", json={**data, "run": {"runId": [3], "facets": {"x": shape.text}}})
            assert (answer.status_code, bad.status_code) == (201, 400), answer.text
            found += leaks(
                [shape],
                places={
                    "event": b"\n".join(map(encode, sink.taken)),
                    "exported": json.dumps(
                        [documents_of(event, lambda *_: None) for event in sink.taken[:1]], default=str
                    ),
                    "answer": answer.text + repr(answer.headers),
                    "answer to a bad one": bad.text,
                },
            )
        found += leaks(SHAPES, places={"logs": caplog.text, "metrics": client.get("/metrics").text})
    assert not found, chr(10).join(found)


def test_documents_of_a_topic_and_their_dead_letters_have_none() -> None:
    broker = FakeBroker(topic="openlineage.events")
    sink, registry, warnings = FakeSink(), CollectorRegistry(), list[str]()
    parts = BridgeParts(
        source=FakeSource(broker),
        sink=sink,
        dead_letters=FakeDeadLetters(broker),
        metrics=BridgeMetrics(registry),
        notices=Notices(warnings.append, time.monotonic),
        tenant="acme",
        document_max_bytes=1 << 20,
        drain_seconds=0.2,
        clock=time.monotonic,
    )
    for number, shape in enumerate(SHAPES):
        data = document(shape, number, run_event(number))
        broker.extend([json.dumps(data).encode(), json.dumps({**data, "run": {}}).encode(), shape.text.encode()])
    Bridge(parts, until_caught_up=True).run()
    letters = [letter.record.value or b"" for letter in broker.letters]
    assert len(letters) == 2 * len(SHAPES)
    places: dict[str, str | bytes] = {
        "events": b"\n".join(map(encode, sink.taken)),
        "dead letters": b"\n".join(letters),
        "dlq show": repr([document_content(value, max_bytes=1 << 20) for value in letters]),
        "headers": repr([letter.headers(group="g") for letter in broker.letters]),
        "logs": "\n".join(warnings),
        "metrics": generate_latest(registry),
    }
    assert not (found := leaks(SHAPES, places=places)), chr(10).join(found)


def test_logs_have_none() -> None:
    found: list[str] = []
    for shape in SHAPES:
        raised = (ValueError, ValueError(shape.text), None)
        record = logging.LogRecord("headwater", logging.ERROR, "x.py", 1, "failed: %s", (shape.text,), raised)
        record.fields = {"detail": shape.text}
        places: dict[str, str | bytes] = {"text": TextLines().format(record), "JSON": JsonLines().format(record)}
        found += leaks([shape], places=places)
    assert not found, chr(10).join(found)
