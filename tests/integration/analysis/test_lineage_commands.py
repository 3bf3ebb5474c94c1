"""`headwater upstream` and `downstream` as people run them, on the demo's graph."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import TypeAdapter

from headwater.cli import main
from headwater.options import complete_dataset
from headwater_analysis.lineage import Lineage
from headwater_graph.write import GraphWriter
from support.worked_examples import check_page

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = pytest.mark.stack


def document(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> Any:
    assert main([*arguments, "--json"]) == status
    return json.loads(capsys.readouterr().out)


def test_the_examples_of_the_page(asked_demo: None) -> None:
    check_page("lineage.md")


def test_the_document_is_the_answer(asked_demo: None, capsys: pytest.CaptureFixture[str]) -> None:
    found = document(capsys, "downstream", "flights.departed", "--depth", "all", "--columns")
    answer = TypeAdapter(Lineage).validate_python(found)
    assert {item.asset.title for item in answer.items} == {
        "flights.enriched",
        "delays",
        "routes",
        "flights.routes",
        "daily_report",
    }
    assert (answer.total, answer.truncated, answer.max_hops) == (5, False, 3)
    delays = next(item for item in answer.items if item.asset.title == "delays")
    assert {(each.source, each.target) for each in delays.columns} >= {
        ("value.dep_delay", "delay_minutes"),
        (None, "flights"),
        ("value.event_time", None),
    }


def test_pages_by_cursor(asked_demo: None, capsys: pytest.CaptureFixture[str]) -> None:
    ask = ("downstream", "flights.departed", "-c", "value.dep_delay", "--depth", "all", "--limit", "4")
    names: list[str] = []
    cursor: list[str] = []
    while True:
        page = document(capsys, *ask, *cursor)
        names += [item["asset"]["key"] for item in page["items"]]
        if page["next_cursor"] is None:
            break
        cursor = ["--cursor", page["next_cursor"]]
    assert len(names) == len(set(names)) == page["total"] == 11
    wrong = document(capsys, "upstream", *ask[1:], "--cursor", cursor[1], status=2)
    assert "another question" in wrong["error"]["message"]


MISTAKES: list[tuple[list[str], int, str]] = [
    (["upstream", "flights.depated"], 3, "kafka://embedded/flights.departed"),
    (["upstream", "flights.departed", "-c", "value.delay"], 3, "value.dep_delay"),
    (["upstream", "flights.departed", "--job", "enrch"], 3, "default/flights.enrich"),
    (["upstream", "flights.departed", "--depth", "0"], 2, "from 1 on"),
    (["upstream", "flights.departed", "--as-of", "someday"], 2, "is no time"),
    (["upstream", "flights.departed", "--influence", "direct"], 2, "name one"),
    (["upstream", "flights.departed", "--cursor", "x"], 2, "no cursor"),
]


def test_what_is_wrong_is_reported(
    subtests: pytest.Subtests, asked_demo: None, capsys: pytest.CaptureFixture[str]
) -> None:
    for arguments, status, message in MISTAKES:
        with subtests.test(arguments=arguments, status=status):
            assert main(arguments) == status
            assert message in capsys.readouterr().err


def test_names_are_completed(asked_demo: None) -> None:
    assert complete_dataset("flights.") == ["flights.departed", "flights.enriched", "flights.routes"]
    assert complete_dataset("kafka://embedded/flights.e") == ["kafka://embedded/flights.enriched"]
    assert complete_dataset("nothing of the sort") == []


def test_a_graph_that_nothing_was_written_to(
    clean_database: Driver, settings_of_stack: None, capsys: pytest.CaptureFixture[str]
) -> None:
    GraphWriter(clean_database, "neo4j").ensure_schema()
    assert main(["upstream", "orders"]) == 3
    assert "No dataset is called 'orders'" in capsys.readouterr().err


def test_a_database_that_no_consumer_has_prepared(
    clean_database: Driver, settings_of_stack: None, capsys: pytest.CaptureFixture[str]
) -> None:
    GraphWriter(clean_database, "neo4j").ensure_schema()
    with clean_database.session() as session:
        session.run("DROP INDEX headwater_dataset_words").consume()
    try:
        assert main(["upstream", "orders"]) == 3
        assert "no consumer has prepared it" in capsys.readouterr().err
    finally:
        GraphWriter(clean_database, "neo4j").ensure_schema()
