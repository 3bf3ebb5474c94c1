"""Completions that a shell offers for the tab key."""

from __future__ import annotations

import pytest

from headwater import cli
from headwater.options import complete_dataset, words_typed


@pytest.fixture
def complete(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> pytest.CaptureFixture[str]:
    monkeypatch.setenv("_HEADWATER_COMPLETE", "complete_bash")
    return capsys


def typed(monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(line.split()) - 1))


def test_a_commands_name(monkeypatch: pytest.MonkeyPatch, complete: pytest.CaptureFixture[str]) -> None:
    typed(monkeypatch, "headwater downs")
    assert cli.main([]) == 0
    assert complete.readouterr() == ("downstream\n", "")


def test_an_option(monkeypatch: pytest.MonkeyPatch, complete: pytest.CaptureFixture[str]) -> None:
    typed(monkeypatch, "headwater downstream orders --as")
    assert cli.main([]) == 0
    assert complete.readouterr() == ("--as-of\n", "")


def test_nothing_is_reported_where_the_graph_is_away(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HEADWATER_NEO4J_URI", "no address at all")
    assert complete_dataset("fli") == []
    monkeypatch.setenv("HEADWATER_NONSENSE", "1")
    assert complete_dataset("fli") == []
    assert capsys.readouterr() == ("", "")


def test_words_before_the_one_being_typed() -> None:
    bash = {"_HEADWATER_COMPLETE": "complete_bash", "COMP_WORDS": "headwater upstream fli", "COMP_CWORD": "2"}
    assert words_typed(bash) == ["upstream"]
    zsh = {"_HEADWATER_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": "headwater upstream fli"}
    assert words_typed(zsh) == ["upstream"]
    assert words_typed(zsh | {"_TYPER_COMPLETE_ARGS": "headwater upstream "}) == ["upstream"]
    assert words_typed({"_HEADWATER_COMPLETE": "source_bash"}) is None
    assert words_typed({}) is None


def test_the_script_is_for_the_bare_name_however_this_was_called(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HEADWATER_COMMAND", "/somewhere/bin/headwater")
    # Typer asks which shell it was called from; the tests may be run from any, or none.
    monkeypatch.setattr("shellingham.detect_shell", lambda: ("bash", "/bin/bash"))
    assert cli.main(["--show-completion"]) == 0
    assert "_HEADWATER_COMPLETE=complete_bash" in capsys.readouterr().out
