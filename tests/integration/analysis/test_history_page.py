"""The worked examples of docs/analysis/history.md, and the same commands for machines."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

import pytest

from headwater.cli import main
from support.worked_examples import PAGES, check_page, examples

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = pytest.mark.stack


@pytest.fixture
def indexed_demo(asked_demo: None, neo4j_driver: Driver) -> None:
    """Columns come into the full-text index in the background."""
    with neo4j_driver.session(database="neo4j") as session:
        session.run("CALL db.index.fulltext.awaitEventuallyConsistentIndexRefresh()").consume()


@pytest.mark.nightly
def test_the_examples(indexed_demo: None) -> None:
    check_page("history.md")


def test_the_same_as_documents(indexed_demo: None, capsys: pytest.CaptureFixture[str]) -> None:
    for example in examples(PAGES / "history.md"):
        assert main([*shlex.split(example.command)[1:], "--json"]) == example.exit_code
        document = json.loads(capsys.readouterr().out)
        assert ("error" in document) == bool(example.exit_code)


EXIT_CODES: list[tuple[str, int]] = [
    ("runs list nothing", 3),
    ("runs show nothing", 3),
    ("runs intervals nothing", 3),
    ("runs intervals nothing --job", 3),
    ("runs versions nothing", 3),
    ("runs list flights.enrich --kind column", 2),
    ("runs list flights.enrich --cursor x", 2),
    ("runs list flights.enrich --since someday", 2),
    ("diff flights.enrich", 2),
    ("diff --before-code 1 --after-code 2", 2),
    ("diff flights.enrich --before 2026-01-01 --before-run x", 2),
    ("diff --before-run x --after-run y", 3),
    ("diff nothing --before 2026-01-01", 3),
    ("search flights --column delay --kind job", 2),
]


def test_how_it_ends(subtests: pytest.Subtests, asked_demo: None) -> None:
    for command, code in EXIT_CODES:
        with subtests.test(command):
            assert main(shlex.split(command)) == code


def test_all_pages_of_a_command(asked_demo: None, capsys: pytest.CaptureFixture[str]) -> None:
    def page(*more: str) -> dict[str, object]:
        assert main(["runs", "intervals", "flights.enrich", "--job", "--json", *more]) == 0
        return dict(json.loads(capsys.readouterr().out))

    whole, found, cursor = page("--limit", "1000"), [], None
    while True:
        part = page("--limit", "5", *(["--cursor", str(cursor)] if cursor else []))
        assert isinstance(part["items"], list)
        found += part["items"]
        cursor = part["next_cursor"]
        if cursor is None:
            break
    assert found == whole["items"]
    assert len(found) == whole["total"]
