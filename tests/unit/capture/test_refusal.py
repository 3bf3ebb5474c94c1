"""A session that can't be captured: whether the script that makes it runs on, and with which status it is ended."""

from __future__ import annotations

import os

import pytest

from headwater_producers.spark import CaptureError, CaptureSettingsError
from headwater_producers.spark.driver import shutdown
from headwater_producers.spark.driver.script_end import ApplicationOutcome, ScriptEnd
from headwater_producers.spark.running import __main__ as bootstrap
from headwater_producers.spark.running.command_line import RunRequest, parse
from headwater_schemas.events import RunEventType
from support.capture import fake_session

WRONG = CaptureSettingsError("unknown Spark property spark.headwater.jobNmae")
BROKEN = CaptureError("attach needs a session that runs")


@pytest.fixture
def ended(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The exit statuses that a good end is to have instead."""
    statuses: list[int] = []
    monkeypatch.setattr(shutdown, "ends_with", statuses.append)
    return statuses


def attach_raises(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def refuse(_session: object, **_settings: object) -> None:
        raise error

    monkeypatch.setattr(bootstrap, "attach", refuse)
    monkeypatch.setattr(bootstrap, "running_capture", lambda _session: None)


ENDED: list[tuple[Exception, list[str], dict[str, str], int]] = [
    (WRONG, ["--exit-on-wrong-settings"], {}, 6),
    (WRONG, ["--set", "emission_policy=fail_job"], {}, 6),
    (WRONG, [], {"emissionPolicy": "fail_closed"}, 6),
    (WRONG, [], {"emissionPolicy": "fail-job"}, 6),
    (WRONG, [], {"emisionPolicy": "fail_job"}, 6),
    (BROKEN, [], {"emissionPolicy": "fail_job"}, 1),
]


def test_a_script_is_ended(
    subtests: pytest.Subtests, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], ended: list[int]
) -> None:
    for error, options, properties, status in ENDED:
        with subtests.test(error=error, options=options, properties=properties):
            ended.clear()
            attach_raises(monkeypatch, error)
            with pytest.raises(SystemExit) as left:
                bootstrap._attach(fake_session(properties), parse([*options, "job.py"]))
            assert (left.value.code, ended) == (status, [status])
            assert capsys.readouterr().err == f"headwater run: lineage isn't captured: {error}\n"


@pytest.mark.parametrize(
    ("error", "options", "properties"),
    [
        (WRONG, [], {"jobNmae": "x"}),
        (WRONG, [], {"emissionPolicy": "retry"}),
        (WRONG, ["--set", "emission_policy=warn"], {"emissionPolicy": "fail_job"}),
        (BROKEN, ["--exit-on-wrong-settings"], {}),
    ],
)
def test_a_script_runs_on(
    monkeypatch: pytest.MonkeyPatch,
    ended: list[int],
    error: Exception,
    options: list[str],
    properties: dict[str, str],
) -> None:
    attach_raises(monkeypatch, error)
    with pytest.raises(type(error)):
        bootstrap._attach(fake_session(properties), parse([*options, "job.py"]))
    assert ended == []


def test_the_environment_says_the_policy_where_nothing_else_does(
    monkeypatch: pytest.MonkeyPatch, ended: list[int]
) -> None:
    attach_raises(monkeypatch, WRONG)
    monkeypatch.setenv("HEADWATER_EMISSION_POLICY", "fail_job")
    with pytest.raises(SystemExit):
        bootstrap._attach(fake_session(), RunRequest("job.py"))
    assert ended == [6]


@pytest.mark.parametrize(("kind", "left"), [(RunEventType.COMPLETE, [6]), (RunEventType.FAIL, [])])
def test_a_script_that_catches_its_end_ends_so_all_the_same(
    monkeypatch: pytest.MonkeyPatch, kind: RunEventType, left: list[int]
) -> None:
    statuses: list[int] = []
    monkeypatch.setattr(shutdown, "_leave", statuses.append)
    monkeypatch.setattr(shutdown, "_status_of_success", 0)
    monkeypatch.setattr(shutdown, "install", lambda: None)
    monkeypatch.setattr(shutdown, "_installed_in", os.getpid())
    monkeypatch.setattr(shutdown, "_script", ScriptEnd())
    shutdown.ends_with(6)
    monkeypatch.setattr(shutdown._script, "outcome", lambda: ApplicationOutcome(kind))
    shutdown._at_exit()
    assert statuses == left
