"""Logs of the services: a line each, of its time, level and logger; nothing in it that a log must not have."""

from __future__ import annotations

import json
import logging
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from headwater import cli
from headwater.console import console
from headwater.consuming import summary
from headwater.errors import ConfigurationError
from headwater.logs import LogFormat, LogLevel, LogSettings, fields, start_logging
from headwater_consumers.materializer.errors import DeadLetterReason
from headwater_consumers.materializer.reporting import ConsumerTotals

log = logging.getLogger("headwater.consume")
HOSTILE = "a name\nwith \x1b[31mcolour\x1b[0m, \x9b2J and password=hunter2 at bolt://me:hunter2@graph"


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    loggers = [logging.getLogger(name) for name in (None, "headwater", "headwater_consumers", "headwater_schemas")]
    before = [(each.level, list(each.handlers)) for each in loggers]
    yield
    console.reset()
    assert [(each.level, each.handlers) for each in loggers] == before
    assert console.log is None


def test_where_stderr_is_no_terminal_each_line_is_a_document(capsys: pytest.CaptureFixture[str]) -> None:
    start_logging(LogSettings())
    log.info("Consuming %s.", HOSTILE, extra=fields(group="materializer", kafka=HOSTILE, to=[HOSTILE]))
    logging.getLogger("uvicorn.error").info("too much of it")
    logging.getLogger("uvicorn.error").error("it broke")
    first, second = (json.loads(line) for line in capsys.readouterr().err.splitlines())
    assert first.keys() == {"time", "level", "logger", "message", "group", "kafka", "to"}
    assert (first["level"], first["logger"], first["group"]) == ("INFO", "headwater.consume", "materializer")
    assert first["time"].endswith("Z")
    assert abs(datetime.now(UTC) - datetime.fromisoformat(first["time"])) < timedelta(minutes=1)
    assert "a name\nwith" in first["message"]
    assert "hunter2" not in json.dumps(first)
    assert (second["logger"], second["message"]) == ("uvicorn.error", "it broke")


@pytest.mark.parametrize("chosen", LogFormat)
def test_no_control_character_and_no_secret_reaches_the_terminal(
    chosen: LogFormat, capsys: pytest.CaptureFixture[str]
) -> None:
    start_logging(LogSettings(format=chosen))
    try:
        dict[str, str]()[HOSTILE]
    except KeyError:
        log.exception("Failed at %s", HOSTILE)
    lines = capsys.readouterr().err
    assert "hunter2" not in lines
    assert [c for c in lines if not c.isprintable() and c != "\n"] == []
    assert "KeyError" in lines
    if chosen is LogFormat.JSON:
        (line,) = lines.splitlines()
        exception = json.loads(line)["exception"]
        assert exception["type"] == "builtins.KeyError"
        assert exception["message"].startswith("'a name")
        assert exception["stack"].startswith("Traceback")
    else:
        first, *rest = lines.splitlines()
        assert first.split()[1:3] == ["ERROR", "headwater.consume"]
        assert all(line.startswith("    ") for line in rest)


class _Finalized:
    def __del__(self) -> None:
        raise ValueError("in a finalizer")


@pytest.mark.filterwarnings("default")
def test_no_line_of_a_json_log_is_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    hooks = threading.excepthook, sys.unraisablehook

    def command() -> None:
        start_logging(LogSettings())
        thread = threading.Thread(target=[].pop, name="lag")
        thread.start()
        thread.join()
        _Finalized()
        warnings.warn("of a library\nin two lines", stacklevel=1)
        raise RuntimeError("nobody\nforesaw it")

    monkeypatch.setattr("headwater.commands.serve.command", command)
    assert cli.main(["serve"]) == 1
    found = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    exceptions = [line.get("exception") for line in found]
    assert [exception and exception["type"] for exception in exceptions] == [
        "builtins.IndexError",
        "builtins.ValueError",
        None,
        "builtins.RuntimeError",
    ]
    assert [line["level"] for line in found] == ["ERROR", "ERROR", "WARNING", "ERROR"]
    assert found[0]["message"] == "Thread lag ended with an error."
    assert "of a library" in found[2]["message"]
    assert found[3]["exception"]["message"] == "nobody\nforesaw it"
    assert (threading.excepthook, sys.unraisablehook) == hooks


def test_on_a_terminal_it_is_text_of_the_chosen_level(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    start_logging(LogSettings(level=LogLevel.WARNING))
    log.info("not this")
    log.warning("this: 100%")
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("Z WARNING headwater.consume  this: 100%")


def test_what_ends_a_service_is_a_line_of_its_log_too(capsys: pytest.CaptureFixture[str]) -> None:
    start_logging(LogSettings())
    console.warning("100% [odd]")
    console.error(ConfigurationError("Neo4j refuses.", fix="Check HEADWATER_NEO4J_PASSWORD."))
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [(line["level"], line["message"]) for line in lines] == [
        ("WARNING", "100% [odd]"),
        ("ERROR", "Neo4j refuses. Check HEADWATER_NEO4J_PASSWORD."),
    ]


def test_the_last_line_accounts_for_every_record() -> None:
    totals = ConsumerTotals(consumed=130, applied=111, released=13, seconds=4.2)
    totals.dead_lettered.update({DeadLetterReason.NOT_AN_EVENT: 4, DeadLetterReason.INVALID_EVENT: 2})
    assert summary(totals) == (
        "Stopped after 4.2 s: 130 consumed = 111 applied + 6 dead-lettered (INVALID_EVENT 2, NOT_AN_EVENT 4) "
        "+ 13 released, to be read again."
    )


def test_serve_may_be_ended_as_soon_as_it_logs_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_NEO4J_URI", "bolt://127.0.0.1:9")  # nobody's: the port is privileged
    monkeypatch.setenv("HEADWATER_NEO4J_PASSWORD", "unused")
    monkeypatch.setenv("HEADWATER_SERVE_PORT", "0")

    def ends(record: logging.LogRecord) -> bool:
        if "Lineage on" in record.msg:
            signal.raise_signal(signal.SIGTERM)
        return True

    serving = logging.getLogger("headwater.serve")
    serving.addFilter(ends)
    try:
        assert cli.main(["serve"]) == 0
    finally:
        serving.removeFilter(ends)
