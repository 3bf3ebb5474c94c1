"""The worked examples of docs/analysis/traces.md, and the same commands for machines."""

from __future__ import annotations

import json
import shlex

import pytest

from headwater.cli import main
from support.worked_examples import PAGES, check_page, examples

pytestmark = pytest.mark.stack


def test_the_examples(asked_demo: None) -> None:
    check_page("traces.md")


def test_the_same_as_documents(asked_demo: None, capsys: pytest.CaptureFixture[str]) -> None:
    for example in examples(PAGES / "traces.md"):
        assert main([*shlex.split(example.command)[1:], "--json"]) == example.exit_code
        document = json.loads(capsys.readouterr().out)
        assert {"start", "hops", "notes", "truncated"} <= document.keys()


EXIT_CODES: list[tuple[str, int]] = [
    ("trace nothing 0 1", 3),
    ("trace --path /nowhere/at/all", 3),
    ("trace --version delays 7", 3),
    ("blast --run nothing", 3),
    ("blast --query nothing --batches 1", 3),
    ("blast --query enrich --batches 900", 3),
    ("trace", 2),
    ("trace flights.departed", 2),
    ("trace flights.departed 0 5..5", 2),
    ("trace flights.departed 0 5 --depth 0", 2),
    ("trace flights.departed 0 5 --horizon soon", 2),
    ("trace flights.departed 0 5 --path /x", 2),
    ("trace flights.departed 0 99999999999999999999", 2),
    ("blast --query enrich", 2),
    ("blast --query enrich --run x", 2),
]


def test_how_it_ends(subtests: pytest.Subtests, asked_demo: None) -> None:
    for command, code in EXIT_CODES:
        with subtests.test(command):
            assert main(shlex.split(command)) == code
