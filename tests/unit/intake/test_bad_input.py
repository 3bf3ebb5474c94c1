"""Bad input by every way in: it is refused with the reason, and the good events around it are taken."""

from __future__ import annotations

import json
import time
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from headwater.cli import main
from headwater_consumers.bridge.bridge import Bridge, BridgeParts
from headwater_consumers.bridge.metrics import BridgeMetrics
from headwater_consumers.kafka.notices import Notices
from headwater_openlineage.intake.receiving import Refusal, receive
from support.api import client_of, fake_graph
from support.materializer.broker import FakeBroker, FakeDeadLetters, FakeSource
from support.openlineage import SCHEMA_URL, FakeSink, run_data, run_id

DEEP = b'{"a":' * 1_000 + b"1" + b"}" * 1_000
BAD = {
    # what it is ⇒ the document, the pointer to its fault, words of the reason
    "not JSON": (b"{nonsense}", "", "must be JSON"),
    "cut off": (run_data(2)[:-20], "", "must be JSON"),
    "not UTF-8": (run_data(2).replace(b"shop", b"sh\xffp", 1), "", "must be UTF-8"),
    "no object": (b"[1]", "", "must be an object"),
    "a facet of 10 MB": (run_data(2, job={"namespace": "a", "name": "b" * 10_000_000}), "", "at most 1,048,576"),
    "1,000 levels": (
        run_data(2, run={"runId": run_id(2), "facets": {"a": 0}}).replace(b"0}", DEEP + b"}"),
        "",
        "nested",
    ),
    "a schema of another version": (
        run_data(2, schemaURL=SCHEMA_URL.replace("2-0-2", "3-0-0")),
        "/schemaURL",
        "version 1 or 2",
    ),
    "no run id": (run_data(2, run={}), "/run/runId", "is missing"),
    "an empty run id": (run_data(2, run={"runId": ""}), "/run/runId", "is empty"),
    "a table without a name": (
        run_data(2, outputs=[{"namespace": "postgres://db:5432", "name": ""}]),
        "/outputs/0/name",
        "is empty",
    ),
    "the year 0": (run_data(2, eventTime="0000-01-01T00:00:00Z"), "/eventTime", "must be a time"),
    "the year 9999": (run_data(2, eventTime="9999-12-31T23:59:59Z"), "/eventTime", "1970 to 9998"),
    "a key twice": (run_data(2).replace(b"{", b'{"producer": "a", ', 1), "/producer", "is there twice"),
    "NaN": (run_data(2, eventType=float("nan")), "/eventType", "is NaN"),
    "half of a surrogate pair": (run_data(2, producer="\ud800"), "/producer", "surrogate"),
}
GOOD = [run_id(1), run_id(3)]


def ids(sink: FakeSink) -> list[str]:
    return [event.run.run_id for event in sink.taken if event.kind == "RUN" and event.run is not None]


def test_over_http(subtests: pytest.Subtests) -> None:
    sink = FakeSink()
    with client_of(replace(fake_graph(intake=True), sink=sink)) as client:
        for name, (data, pointer, reason) in BAD.items():
            with subtests.test(name):
                sink.taken.clear()
                alone = client.post("/api/v1/lineage", content=data, headers={"Content-Type": "application/json"})
                assert alone.status_code == 400, alone.text
                assert reason in alone.text
                assert not sink.taken
                lines = b"\n".join([run_data(1), data, run_data(3)])
                batch = client.post(
                    "/api/v1/lineage/batch", content=lines, headers={"Content-Type": "application/x-ndjson"}
                )
                assert batch.status_code == 207, batch.text
                [refused] = batch.json()["refused"]
                assert (refused["index"], refused["pointer"]) == (1, pointer)
                assert reason in refused["message"]
                assert ids(sink) == GOOD


@pytest.mark.nightly
def test_from_a_topic(subtests: pytest.Subtests) -> None:
    for name, (data, pointer, reason) in BAD.items():
        with subtests.test(name):
            broker, sink = FakeBroker(topic="openlineage.events"), FakeSink()
            broker.extend([run_data(1), data, run_data(3)], partition=0)
            parts = BridgeParts(
                source=FakeSource(broker),
                sink=sink,
                dead_letters=FakeDeadLetters(broker),
                metrics=BridgeMetrics(CollectorRegistry()),
                notices=Notices(lambda _: None, time.monotonic),
                tenant="acme",
                document_max_bytes=1 << 20,
                drain_seconds=0.2,
                clock=time.monotonic,
            )
            Bridge(parts, until_caught_up=True).run()
            (letter,) = broker.letters
            assert letter.record.value == data
            assert pointer in letter.message
            assert reason in letter.message
            assert ids(sink) == GOOD


def test_from_a_file(subtests: pytest.Subtests, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, (data, pointer, reason) in BAD.items():
        with subtests.test(name):
            file = tmp_path / "events.jsonl"
            file.write_bytes(b"\n".join([run_data(1), data, run_data(3)]))
            assert main(["emit", "openlineage", str(file), "--dry-run", "--json"]) == 2
            document = json.loads(capsys.readouterr().out)
            assert (document["read"], document["refused"]) == (3, 1)
            (refusal,) = document["refusals"]
            assert (refusal["line"], refusal["pointer"]) == (2, pointer)
            assert reason in refusal["message"]


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["a facet of 10 MB", "1,000 levels", "not JSON"])
def test_what_is_refused_takes_no_memory(name: str) -> None:
    data = BAD[name][0]
    tracemalloc.start()
    try:
        assert isinstance(receive(data, tenant="acme"), Refusal)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1 << 20
