"""Errors of a question, as exit code and fix."""

from __future__ import annotations

import inspect

import pytest

from headwater import errors as ours
from headwater.cli import main
from headwater.console import shortened
from headwater.graph_command import Ask, Shown, graph_command, show
from headwater.graph_reader import asking, translated
from headwater_analysis import errors
from headwater_analysis.freshness import NOT_REPORTED, GraphState


def test_each_error_has_its_exit_code_and_fix(subtests: pytest.Subtests) -> None:
    cases = [
        (errors.NotFoundError("none", nearest=["a"]), ours.SubjectNotFoundError, "nearest"),
        (errors.AmbiguousError("two", candidates=["a", "b"]), ours.InputError, "Name one"),
        (errors.QuestionError("wrong", field="depth"), ours.InputError, ""),
        (errors.GraphUnreachableError("away"), ours.UnreachableError, "headwater up"),
        (errors.GraphRefusedError("refused", setting="HEADWATER_NEO4J_USER"), ours.ConfigurationError, "_USER"),
        (errors.NotFilteredError(), ours.HeadwaterError, ""),
        (errors.TimeLimitError(3), ours.HeadwaterError, "--timeout"),
        (errors.ArrivalsUnknownError("t", "no Kafka is configured here"), ours.UnreachableError, ""),
    ]
    assert {type(error) for error, *_ in cases} == set(errors.AnalysisError.__subclasses__())
    for error, kind, fix in cases:
        with subtests.test(error=error):
            found = translated(error)
            assert type(found) is kind
            assert fix in found.fix


def test_a_graph_that_is_away(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("HEADWATER_NEO4J_URI", "bolt://127.0.0.1:1")
    assert main(["upstream", "orders"]) == 4
    printed = capsys.readouterr().err
    assert "doesn't answer at bolt://127.0.0.1:1" in printed
    assert "will be retried" not in printed


def test_an_address_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_NEO4J_URI", "no address at all")
    with pytest.raises(ours.ConfigurationError), asking():
        pass


def test_flags_win_over_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_NEO4J_URI", "bolt://127.0.0.1:1")
    monkeypatch.setenv("HEADWATER_ANALYSIS_TENANT", "acme")
    monkeypatch.setenv("HEADWATER_ANALYSIS_TIMEOUT_SECONDS", "7")
    with asking() as reader:
        assert (reader.tenant, reader.timeout_seconds) == ("acme", 7)
    with asking(tenant="other", timeout_seconds=1) as reader:
        assert (reader.tenant, reader.timeout_seconds) == ("other", 1)


def test_a_long_name_is_cut_in_its_middle() -> None:
    short = shortened("begin " + "x" * 10_000 + " end")
    assert (len(short), short[:6], short[-4:]) == (160, "begin ", " end")
    assert shortened("a\nb\x1b[31m") == r"a\nb\x1b[31m"


def test_a_command_of_a_question_has_the_shared_options_after_its_own() -> None:
    @graph_command(page=7)
    def command(ask: Ask, name: str, *, deep: bool = False) -> Shown:
        """Ask."""
        return Shown((name, deep, ask.limit, ask.cursor), summary="below")

    parameters = inspect.signature(command).parameters
    assert list(parameters) == ["name", "deep", "limit", "cursor", "tenant", "timeout", "json_output"]
    assert parameters["limit"].default == 7
    assert command.__doc__ == "Ask."


def test_a_drawing_is_printed_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    show(Shown(None, drawing="graph {}\n", summary="1 node.", warnings=("careful",)), NOT_REPORTED)
    out, err = capsys.readouterr()
    assert out == "graph {}\n"
    assert err.splitlines() == ["warning: careful", "1 node."]


def test_a_stale_graph_is_stated_in_the_line_of_the_summary(capsys: pytest.CaptureFixture[str]) -> None:
    stale = GraphState(None, None, "2 events wait on the topic")
    show(Shown({}, summary="0 datasets tainted."), stale)
    show(Shown({}), stale)
    assert capsys.readouterr().err.splitlines() == [
        "0 datasets tainted; the graph is stale: 2 events wait on the topic.",
        "warning: The graph is stale: 2 events wait on the topic.",
    ]
