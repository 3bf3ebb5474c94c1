"""A driver's metrics over HTTP: on which port, with what, and that a port that is taken costs the job nothing."""

from __future__ import annotations

import importlib
import logging
import socket
import threading
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import msgspec
import pytest

from headwater_producers.spark import Capture, CaptureSettings, attach
from headwater_producers.spark.common.errors import CaptureSettingsError
from headwater_producers.spark.common.within import within
from headwater_producers.spark.driver import metrics_server
from headwater_producers.spark.driver.engine import EventPublisher
from headwater_schemas.events import LineageEvent, Provenance
from support.capture import RecordingSink, fake_session
from support.events import full_interval_event
from support.waiting import patience

HOST = "127.0.0.1"


@pytest.fixture
def gateway() -> Iterator[tuple[str, list[tuple[str, str, str]]]]:
    """A Pushgateway's address, and what it was sent: method, path and body."""
    sent: list[tuple[str, str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            sent.append((self.command, self.path, self.rfile.read(int(self.headers["Content-Length"])).decode()))
            self.send_response(202)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nothing."""

    with ThreadingHTTPServer((HOST, 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"{HOST}:{server.server_port}", sent
        server.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def none_served(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics_server, "_served", {})


def scraped(served: metrics_server.RunningServer | None) -> dict[str, float]:
    assert served is not None
    with urllib.request.urlopen(f"http://{served.host}:{served.port}/metrics", timeout=patience(10)) as answer:
        lines = [line for line in answer.read().decode().splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


def test_every_series_is_there_on_a_port_that_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        served = metrics_server.serve(HOST, 0)
    found = scraped(served)
    assert {"headwater_outbox_events", "headwater_capture_dropped_total", "headwater_capture_failed_total"} <= set(
        found
    )
    assert served is not None
    assert f"metrics are served on http://{HOST}:{served.port}/metrics" in caplog.text


def test_a_second_application_of_the_process_shares_the_port() -> None:
    assert metrics_server.serve(HOST, 0) is metrics_server.serve(HOST, 0)


def test_a_port_that_is_taken_costs_the_metrics_alone(caplog: pytest.LogCaptureFixture) -> None:
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert metrics_server.serve(HOST, port) is None
    assert f"metrics can't be served on {HOST}:{port}" in caplog.text
    assert "the job goes on" in caplog.text


@pytest.mark.parametrize("port", ["-1", "65536", "many"])
def test_a_port_is_a_number(monkeypatch: pytest.MonkeyPatch, port: str) -> None:
    monkeypatch.setenv("HEADWATER_METRICS_PORT", port)
    with pytest.raises(CaptureSettingsError, match="metrics_port, from the environment"):
        CaptureSettings.load()


@pytest.mark.parametrize(("given", "ports"), [({}, []), ({"metrics_port": 0}, [("127.0.0.1", 0)])])
def test_attach_serves_them_where_a_port_is_set(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, Any], ports: list[tuple[str, int]]
) -> None:
    attaching = importlib.import_module("headwater_producers.spark.driver.attach")
    for module, names in (
        (attaching.sessions, ("join", "application_id")),
        (attaching.captures, ("running_capture", "begin")),
        (attaching.hooks, ("install",)),
        (attaching.shutdown, ("install", "drain_before_stop")),
    ):
        for name in names:
            monkeypatch.setattr(module, name, lambda *_: None)
    monkeypatch.setattr(attaching, "_wired", lambda *_, **__: Capture())
    monkeypatch.setattr(Capture, "begin", lambda _: None)
    served: list[tuple[str, int]] = []
    monkeypatch.setattr(metrics_server, "serve", lambda host, port: served.append((host, port)))
    attach(fake_session(), sink=RecordingSink(), **given)
    assert served == ports


def of(provenance: Provenance) -> LineageEvent:
    event = full_interval_event()
    assert event.interval_event is not None
    body = msgspec.structs.replace(event.interval_event, provenance=provenance)
    return msgspec.structs.replace(event, interval_event=body)


def fails() -> None:
    raise ValueError("odd")


def test_micro_batches_and_failures_are_counted() -> None:
    publisher = EventPublisher(RecordingSink())
    served = metrics_server.serve(HOST, 0)
    before = scraped(served)
    publisher.emit(of(Provenance.OBSERVED))
    publisher.emit(of(Provenance.RECONCILED))
    publisher.emit(of(Provenance.RECONCILED))
    publisher.failed("a catalog didn't answer")
    publisher.guard("reading a plan", fails)
    after = scraped(served)
    changed = {name: after[name] - before[name] for name in after if "capture" in name and after[name] != before[name]}
    batches = len(of(Provenance.OBSERVED).interval_event.entries)  # type: ignore[union-attr]
    assert changed == {
        "headwater_capture_observed_total": batches,
        "headwater_capture_reconciled_total": 2 * batches,
        "headwater_capture_published_total": 3,
        "headwater_capture_failed_total": 2,
    }


def test_a_pushgateway_gets_all_metrics_of_an_application_and_replaces_its_last_ones(
    gateway: tuple[str, list[tuple[str, str, str]]],
) -> None:
    address, sent = gateway
    assert metrics_server.push(address, "orders/daily")
    assert metrics_server.push(f"http://{address}", "orders")
    [(method, path, body), (_, second, _)] = sent
    assert method == "PUT", "POST would leave what an earlier run had"
    assert path.startswith("/metrics/job/headwater-jobs/application@base64/")
    assert second == "/metrics/job/headwater-jobs/application/orders"
    assert {"headwater_capture_refused_total", "headwater_outbox_events", "headwater_capture_failed_total"} <= {
        line.split()[0] for line in body.splitlines() if not line.startswith("#")
    }


def test_a_pushgateway_that_is_away_costs_a_warning_without_secrets(caplog: pytest.LogCaptureFixture) -> None:
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        port = taken.getsockname()[1]
        assert not metrics_server.push(f"http://job:hunter2@{HOST}:{port}", "orders")
    assert "doesn't take the metrics" in caplog.text
    assert "hunter2" not in caplog.text
    assert not metrics_server.push("http://[", "orders"), "no address at all"


def test_a_pushgateway_that_does_not_come_to_an_end_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(metrics_server, "PUSH_SECONDS", 0.5)
    over = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            self.wfile.write(b"HTTP/1.1 202 ")
            while not over.wait(0.1):
                self.wfile.write(b"a")

        def log_message(self, *_: object) -> None:
            """Nothing."""

    with ThreadingHTTPServer((HOST, 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        assert not metrics_server.push(f"{HOST}:{server.server_port}", "orders")
        over.set()
        server.shutdown()
        thread.join()
    assert "TimeoutError" in caplog.text


def test_where_no_thread_starts_any_more_metrics_are_pushed_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't create new thread at interpreter shutdown")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    pushed: list[str] = []
    within(1, lambda: pushed.append("metrics"), "headwater-push")
    assert pushed == ["metrics"]
    with pytest.raises(ValueError, match="odd"):
        within(1, fails, "headwater-push")
