"""Ids by which a request is followed: header, log lines, audit, spans at a collector."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from headwater import tracing
from headwater.console import console
from headwater.errors import ConfigurationError
from headwater.logs import JsonLines, TextLines
from headwater_audit.audit import Audit
from headwater_schemas.tracing import current_trace, span
from headwater_server.middleware.requests import log
from support.api import client_of, fake_graph
from support.audit import file_writer
from support.collector import TestCollector, collecting

UPSTREAM = "/api/v1/assets/orders/upstream"
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = "00f067aa0ba902b7"


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[TestCollector]:
    with collecting() as found:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", found.url)
        yield found


def spans_of(collector: TestCollector) -> list[Any]:
    found = []
    for body in collector.bodies:
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            names = {each.key: each.value.string_value for each in resource.resource.attributes}
            assert names["service.name"] == "headwater-test"
            found += [each for scope in resource.scope_spans for each in scope.spans]
    return found


def attributes(found: Any) -> dict[str, Any]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in found.attributes}


def test_a_defect_is_logged_under_the_request_of_its_answer() -> None:
    lines = io.StringIO()
    handlers = [logging.StreamHandler(lines), logging.StreamHandler(lines)]
    for handler, formatter in zip(handlers, (JsonLines(), TextLines()), strict=True):
        handler.setFormatter(formatter)
        log.addHandler(handler)
    try:
        with client_of(fake_graph(raises=RuntimeError("boom"))) as client:
            answer = client.get(UPSTREAM)
    finally:
        for handler in handlers:
            log.removeHandler(handler)
    request = answer.headers["x-request-id"]
    assert answer.json()["instance"] == request
    document, text, *_ = lines.getvalue().splitlines()
    assert json.loads(document)["request"] == request
    assert f"[request {request}]" in text


def test_the_audit_has_the_request_of_the_answer(tmp_path: Path) -> None:
    file = tmp_path / "audit.jsonl"
    with client_of(replace(fake_graph(), audit=Audit(file_writer(file), required=True))) as client:
        request = client.get(UPSTREAM).headers["x-request-id"]
    assert request in file.read_text(encoding="utf-8")


def test_a_request_continues_the_trace_of_its_client(collector: TestCollector) -> None:
    with console.until_end:
        tracing.start_tracing("headwater-test")
        with client_of(fake_graph()) as client:
            answer = client.get(UPSTREAM, headers={"traceparent": f"00-{TRACE}-{PARENT}-01"})
            client.get("/api/v1/nothing?secret=hw_1")
    first, other = spans_of(collector)
    assert (first.trace_id.hex(), first.parent_span_id.hex()) == (TRACE, PARENT)
    assert first.name == "GET /api/v1/assets/{id}/upstream"
    assert attributes(first)["headwater.request"] == answer.headers["x-request-id"]
    assert attributes(first)["http.response.status_code"] == answer.status_code
    assert other.trace_id.hex() != TRACE
    assert "hw_1" not in str(other)


def test_an_error_is_told_by_its_type_alone(collector: TestCollector) -> None:
    with console.until_end:
        tracing.start_tracing("headwater-test")
        with pytest.raises(ValueError, match="hw_1"), span("write"):
            raise ValueError("the password hw_1")
    (found,) = spans_of(collector)
    assert attributes(found) == {"error.type": "ValueError"}
    assert "hw_1" not in str(found)


def test_without_an_endpoint_nothing_is_traced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_ENDPOINT", raising=False)
    with console.until_end:
        tracing.start_tracing("headwater-test")
        with span("write") as found:
            assert found is None
            assert current_trace() is None


def test_a_collector_that_is_away_costs_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    with console.until_end:
        tracing.start_tracing("headwater-test")
        with client_of(fake_graph()) as client:
            assert client.get("/livez").status_code == 200


def test_without_the_packages_the_fix_is_named(monkeypatch: pytest.MonkeyPatch, collector: TestCollector) -> None:
    monkeypatch.setitem(__import__("sys").modules, "opentelemetry.sdk.trace", None)
    with console.until_end, pytest.raises(ConfigurationError) as raised:
        tracing.start_tracing("headwater-test")
    assert "headwater[tracing]" in raised.value.fix
