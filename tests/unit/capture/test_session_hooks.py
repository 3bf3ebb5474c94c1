"""`headwater run` with a Spark Connect session, and with an `attach` that fails: the script gets its session."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pyspark.sql import SparkSession

from headwater_producers.spark.driver.attach import CONNECT
from headwater_producers.spark.running.__main__ import _attach
from headwater_producers.spark.running.command_line import RunRequest
from headwater_producers.spark.running.hooks import attach_to_sessions

CONNECTED = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})()


@pytest.fixture
def hook(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Any], object]], None]:
    """Hooks into the making of sessions, for this test alone; what is made is of Spark Connect."""
    monkeypatch.setattr(SparkSession, "__init__", SparkSession.__init__)
    monkeypatch.setattr(SparkSession.Builder, "getOrCreate", lambda _builder: CONNECTED)
    return attach_to_sessions


def test_a_connect_session_is_left_alone_in_one_sentence(hook: Any, caplog: pytest.LogCaptureFixture) -> None:
    settings = {"job_name": "enrich", "kafka_bootstrap_servers": "localhost:1"}
    hook(lambda session: _attach(session, RunRequest("job.py", settings=settings)))
    assert SparkSession.builder.getOrCreate() is CONNECTED
    assert caplog.messages == [CONNECT]
    assert caplog.records[0].exc_info is None


def test_what_attach_raises_is_a_line_in_the_log(hook: Any, caplog: pytest.LogCaptureFixture) -> None:
    def refuse(session: object) -> None:
        raise LookupError("no such thing")

    hook(refuse)
    assert SparkSession.builder.getOrCreate() is CONNECTED
    assert caplog.messages == ["lineage isn't captured: no such thing"]
    assert caplog.records[0].exc_info is None
