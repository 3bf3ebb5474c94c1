from __future__ import annotations

import json
import os
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from unittest.mock import Mock

import pytest
from confluent_kafka import KafkaError, KafkaException
from neo4j.exceptions import ServiceUnavailable

from headwater import cli
from headwater.commands import demo
from headwater.demo import summary
from headwater.demo.checks import all_checks
from headwater.demo.facts import Facts
from headwater.demo.scenario import DemoResult, PhaseTimes
from headwater.demo.summary import QUESTIONS
from headwater.errors import ExitCode
from headwater.invocation import program
from headwater.stack.info import Member, StackInfo
from headwater_graph.statement_files import names
from headwater_schemas.errors import BrokerUnavailableError, SchemasUnavailableError
from support.demo import GOOD


@pytest.fixture
def outcome(tmp_path: Path) -> DemoResult:
    password = tmp_path / "neo4j.password"
    password.write_text("s3cret\n")
    member = Member(1, "1", tmp_path / "log")
    info = StackInfo("h:1", "bolt://h:2", "neo4j", "http://h:3/browser/", password, tmp_path, "21", member, member)
    return DemoResult(info, 31, GOOD, all_checks(GOOD), {"stack": 1.5, "total": 2.5})


@pytest.fixture(autouse=True)
def _own_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HEADWATER_DATA_DIR", str(tmp_path / "data"))


def ran(monkeypatch: pytest.MonkeyPatch, outcome: DemoResult) -> list[dict[str, object]]:
    calls: list[dict[str, object]] = []

    def run(*_: object, **options: object) -> DemoResult:
        calls.append(options)
        return outcome

    monkeypatch.setattr(demo, "run", run)
    monkeypatch.setattr(demo, "fetch_jars", lambda *_: None)
    return calls


def test_a_server_that_went_away_is_exit_4_without_a_traceback(
    subtests: pytest.Subtests, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cases = [
        BrokerUnavailableError("not there"),
        SchemasUnavailableError("not there"),
        TimeoutError("not there"),
        KafkaException(KafkaError(KafkaError._ALL_BROKERS_DOWN, "not there")),
        ServiceUnavailable("not there"),  # type: ignore[no-untyped-call]
    ]
    monkeypatch.setattr(demo, "fetch_jars", lambda *_: None)
    for error in cases:
        with subtests.test(error=error):
            monkeypatch.setattr(demo, "run", Mock(side_effect=error))
            assert cli.main(["demo"]) == ExitCode.UNREACHABLE
            assert "not there" in capsys.readouterr().err


def test_jars_are_there_before_the_picture_is_drawn(outcome: DemoResult, monkeypatch: pytest.MonkeyPatch) -> None:
    happened: list[str] = []

    class Picture:
        def __enter__(self) -> None:
            happened.append("picture")

        def __exit__(self, *_: object) -> None:
            pass

    ran(monkeypatch, outcome)
    monkeypatch.setattr(demo, "fetch_jars", lambda *names: happened.extend(names))
    monkeypatch.setattr(demo, "View", Picture)
    assert cli.main(["demo"]) == ExitCode.DONE
    assert happened == ["kafka", "neo4j", "spark", "picture"]


def test_it_ends_with_the_questions_and_the_server_to_ask_next(
    outcome: DemoResult, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran(monkeypatch, outcome)
    assert cli.main(["demo", "--keep"]) == ExitCode.DONE
    printed = capsys.readouterr().out
    assert [command for command, _ in QUESTIONS if f"{program()} {command}  # " not in printed] == []
    assert f"{program()} serve  # " in printed


def test_json_is_the_one_agreed_document(
    outcome: DemoResult, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran(monkeypatch, outcome)
    assert cli.main(["demo", "--json"]) == ExitCode.DONE
    assert json.loads(capsys.readouterr().out) == {
        "events": {"acknowledged": 103, "applied": 100, "dead_lettered": 3},
        "nodes": {"Dataset": 5},
        "relationships": {"FEEDS": 5},
        "intervals": {
            "enrich": {"count": 2, "gaps": 0, "overlaps": 0},
            "delays": {"count": 3, "gaps": 0, "overlaps": 0},
        },
        "seconds": {"stack": 1.5, "total": 2.5},
    }


@pytest.mark.parametrize(
    ("facts", "claims"),
    [
        (replace(GOOD, applied=99), ["every acknowledged event is applied or dead-lettered"]),
        (
            replace(GOOD, untraceable_columns=("rain",), runs={"r": "FAIL"}),
            ["every run is COMPLETE", "every column of the daily report can be traced to flights.departed"],
        ),
    ],
)
def test_a_failed_check_is_exit_5_and_named(
    outcome: DemoResult,
    facts: Facts,
    claims: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    ran(monkeypatch, replace(outcome, facts=facts, checks=all_checks(facts)))
    assert cli.main(["demo"]) == ExitCode.CHECK_FAILED
    output = capsys.readouterr()
    for claim in claims:
        assert claim in output.err
        assert f"✗  {claim}" in output.out
    assert "What next" not in output.out


def test_how_many_days(subtests: pytest.Subtests, outcome: DemoResult, monkeypatch: pytest.MonkeyPatch) -> None:
    for arguments, days in [([], 31), (["--full"], 365), (["--days", "2"], 2)]:
        with subtests.test(arguments=arguments):
            calls = ran(monkeypatch, outcome)
            assert cli.main(["demo", *arguments]) == ExitCode.DONE
            assert calls == [{"days": days, "keep": False}]


def test_days_that_make_no_sense_are_bad_usage(subtests: pytest.Subtests) -> None:
    for arguments in [["--full", "--days", "3"], ["--days", "0"], ["--days", "366"]]:
        with subtests.test(arguments=arguments):
            assert cli.main(["demo", *arguments]) == ExitCode.BAD_INPUT


@pytest.mark.parametrize("kept", [True, False])
def test_the_last_word_shows_how_to_go_on_without_the_password(
    outcome: DemoResult, kept: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran(monkeypatch, outcome)
    monkeypatch.setenv("HEADWATER_COMMAND", "./bin/headwater")
    assert cli.main(["demo", *(["--keep"] if kept else [])]) == ExitCode.DONE
    output = capsys.readouterr().out
    assert "http://h:3/browser/" in output
    assert str(outcome.info.password_file) in output
    assert "s3cret" not in output
    folder = os.environ["HEADWATER_DATA_DIR"] if kept else f"{os.environ['HEADWATER_DATA_DIR']}/demo"
    assert f"\nHEADWATER_DATA_DIR={folder} ./bin/headwater status" in output
    assert ("./bin/headwater up  #" in output) is not kept
    assert "./bin/headwater demo --full" in output
    for reason in ("NOT_AN_EVENT", "UNKNOWN_SCHEMA", "INVALID_EVENT"):
        assert reason in output
    for favourite in summary.favourites():
        assert favourite.text in output


def test_there_are_three_queries_worth_pasting() -> None:
    favourites = summary.favourites()
    assert len(favourites) == 3
    assert all(favourite.title and favourite.text.startswith("MATCH") for favourite in favourites)


def test_every_statement_has_a_title_and_a_caller() -> None:
    source = (files("headwater.demo") / "facts.py").read_text()
    for name in names("headwater.demo", "facts"):
        assert f'"{name}"' in source


def test_phases_are_timed() -> None:
    watch = PhaseTimes()
    with watch.timing("a"), watch.timing("b"):
        pass
    assert list(watch.seconds) == ["b", "a"]
    assert watch.seconds["a"] >= watch.seconds["b"] >= 0


def test_nothing_of_the_summary_is_lost_when_it_is_no_terminal(outcome: DemoResult) -> None:
    assert summary.document(outcome)["events"]["acknowledged"] == 103
