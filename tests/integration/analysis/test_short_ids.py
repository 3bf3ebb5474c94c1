"""Runs, code versions and keys by the characters that they begin with, as tables and the page print them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from headwater.cli import main

pytestmark = pytest.mark.stack


@pytest.fixture
def ask(asked_demo: None, capsys: pytest.CaptureFixture[str]) -> Any:
    def asked(*words: str) -> Any:
        status = main([*words, "--json"])
        return status, json.loads(capsys.readouterr().out)

    return asked


def test_a_run(ask: Any) -> None:
    _, page = ask("runs", "list", "flights.enrich", "--kind", "job")
    run = page["items"][0]["run_id"]
    for text in (run[:8], run[:13], run.upper()[:12], run.replace("-", "")[:20], run.replace("-", "").upper()):
        status, found = ask("runs", "show", text)
        assert (status, found["run"]["run_id"]) == (0, run), text
    assert ask("runs", "intervals", run[:8])[1]["total"] == ask("runs", "intervals", run)[1]["total"]
    assert ask("runs", "outputs", run[:8])[1]["items"] == ask("runs", "outputs", run)[1]["items"]
    assert ask("blast", "--run", run[:8])[1]["totals"] == ask("blast", "--run", run)[1]["totals"]


def test_what_is_too_short_or_nobodys(ask: Any) -> None:
    _, page = ask("runs", "list", "flights.enrich", "--kind", "job")
    status, found = ask("runs", "show", page["items"][0]["run_id"][:3])
    assert status == 3
    assert "the beginning of one takes 4 characters" in found["error"]["message"]
    assert ask("runs", "show", "no-such-run")[0] == 3


def test_several_runs_that_begin_so(ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids of the demo are random: all of them begin with nothing."""
    monkeypatch.setattr("headwater_analysis.runs.run_names._SHORTEST", 0)
    status, found = ask("runs", "show", "")
    assert status == 2
    assert len(found["error"]["nearest"]) > 1
    assert "give more of it" in found["error"]["message"]


def test_a_query(ask: Any) -> None:
    _, page = ask("runs", "list", "flights.enrich", "--kind", "job")
    query = next(each["query_id"] for each in page["items"] if each["query_id"])
    words = ("--batches", "0..1000", "--depth", "1")
    whole = ask("blast", "--query", query, *words)
    assert whole[0] == 0
    assert ask("blast", "--query", query[:8], *words)[1]["totals"] == whole[1]["totals"]
    assert ask("blast", "--query", query[:3], *words)[0] == 3


def test_a_key(ask: Any) -> None:
    _, found = ask("upstream", "flights.enriched")
    key = found["start"]["key"]
    for text in (key[:8], key[:8].upper()):
        assert ask("upstream", text)[1]["start"]["key"] == key


def test_micro_batches_of_a_job_by_its_name_or_key(ask: Any) -> None:
    of_job = ask("runs", "intervals", "flights.enrich", "--job")
    assert of_job[1]["total"] > 0
    key = ask("show", "flights.enrich", "--kind", "job")[1]["job"]["key"]
    for text in ("flights.enrich", key, key[:8]):
        assert ask("runs", "intervals", text) == of_job, text
    status, found = ask("runs", "intervals", "flights.enrik")
    assert status == 3
    assert any("flights.enrich" in each for each in found["error"]["nearest"])
    assert "No run has the id" in found["error"]["message"]
