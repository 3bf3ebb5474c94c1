"""Messages of `attach` before anything of Spark is asked, and the description of its handle."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from headwater_producers.spark import Capture, CaptureError, CaptureSettings, attach
from headwater_producers.spark.driver import capture as captures
from headwater_producers.spark.driver import sessions
from headwater_producers.spark.driver.status import CaptureStatus
from support.capture import RecordingSink, fake_session


def test_a_session_that_was_stopped() -> None:
    with pytest.raises(CaptureError, match="this one's SparkContext was stopped"):
        attach(fake_session(stopped=True), kafka_bootstrap_servers="localhost:1")


def test_a_sink_that_is_none() -> None:
    with pytest.raises(CaptureError, match="object has no publish, flush, close"):
        attach(fake_session(), sink=object())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("again", "warned"),
    [({}, False), ({"job_name": "enrich"}, False), ({"job_name": "other"}, True), ({"sink": RecordingSink()}, True)],
)
def test_a_second_attach_warns_where_it_asks_for_something_else(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, again: dict[str, Any], warned: bool
) -> None:
    running = Capture(asked=(CaptureSettings.load(job_name="enrich"), None))
    monkeypatch.setattr(captures, "running_capture", lambda _session: running)
    monkeypatch.setattr(sessions, "join", lambda _session: None)
    with caplog.at_level(logging.WARNING):
        assert attach(fake_session(), **again) is running
    assert [message.startswith("lineage capture: ") for message in caplog.messages] == [True] * warned


def test_a_handle_says_how_it_does_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    capture = Capture()
    assert repr(capture) == "<Capture: off, 0 events published>"
    status = CaptureStatus(
        enabled=True, queued=1, received=9, dropped=0, failed=2, published=7, publish_failed=0, last_error="no\nway"
    )
    monkeypatch.setattr(capture, "status", lambda: status)
    assert repr(capture) == (
        "<Capture: on, received=9, queued=1, dropped=0, failed=2, published=7, lost=0, last_error='no\\nway'>"
    )
