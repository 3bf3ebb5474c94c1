"""Commands on the demo's graph: worked examples, the same as documents, pages by cursor, mistakes, and short ids."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
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


@pytest.fixture
def indexed_demo(asked_demo: None, neo4j_driver: Driver) -> None:
    """Columns come into the full-text index in the background."""
    with neo4j_driver.session(database="neo4j") as session:
        session.run("CALL db.index.fulltext.awaitEventuallyConsistentIndexRefresh()").consume()


@pytest.mark.usefixtures("indexed_demo")
@pytest.mark.parametrize(
    "page",
    [
        pytest.param("history.md", marks=pytest.mark.nightly),
        pytest.param("impact.md", marks=pytest.mark.nightly),
        "lineage.md",
        "review.md",
        "show.md",
        "traces.md",
    ],
)
def test_the_examples(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parents[3])
    check_page(page)


@pytest.mark.nightly
@pytest.mark.usefixtures("layout", "demo_graph", "settings_of_stack")
def test_the_examples_of_rules() -> None:
    check_page("checks.md")


def document(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0) -> Any:
    assert main([*arguments, "--json"]) == status
    return json.loads(capsys.readouterr().out)


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
    ask = ("downstream", "flights.departed", "-c", "value.dep_delay", "--depth", "all")
    for question, limit, many in ((ask, "4", 11), (("runs", "intervals", "flights.enrich", "--job"), "5", None)):
        whole, found, cursor = document(capsys, *question, "--limit", "1000"), [], list[str]()
        while True:
            page = document(capsys, *question, "--limit", limit, *cursor)
            found += page["items"]
            if page["next_cursor"] is None:
                break
            cursor = ["--cursor", page["next_cursor"]]
        assert found == whole["items"]
        assert len(found) == whole["total"] == (many or len(found))
    [cursor_of_lineage] = [document(capsys, *ask, "--limit", "4")["next_cursor"]]
    wrong = document(capsys, "upstream", *ask[1:], "--limit", "4", "--cursor", cursor_of_lineage, status=2)
    assert "another question" in wrong["error"]["message"]


MISTAKES: list[tuple[str, int, str]] = [
    ("upstream flights.depated", 3, "kafka://embedded/flights.departed"),
    ("upstream flights.departed -c value.delay", 3, "value.dep_delay"),
    ("upstream flights.departed --job enrch", 3, "default/flights.enrich"),
    ("upstream flights.departed --depth 0", 2, "from 1 on"),
    ("upstream flights.departed --as-of someday", 2, "is no time"),
    ("upstream flights.departed --influence direct", 2, "name a column"),
    ("upstream flights.departed --cursor x", 2, "isn't a cursor"),
    ("runs list nothing", 3, ""),
    ("runs show nothing", 3, ""),
    ("runs intervals nothing", 3, ""),
    ("runs intervals nothing --job", 3, ""),
    ("runs versions nothing", 3, ""),
    ("runs list flights.enrich --kind column", 2, ""),
    ("runs list flights.enrich --cursor x", 2, ""),
    ("runs list flights.enrich --since someday", 2, ""),
    ("diff flights.enrich", 2, ""),
    ("diff --before-code 1 --after-code 2", 2, ""),
    ("diff flights.enrich --before 2026-01-01 --before-run x", 2, ""),
    ("diff --before-run x --after-run y", 3, ""),
    ("diff nothing --before 2026-01-01", 3, ""),
    ("search flights --column delay --kind job", 2, ""),
    ("show nothing", 3, ""),
    ("show flights.enriched --kind job", 3, ""),
    ("show flights.enriched --kind column", 3, ""),
    ("show flights.enriched#nothing", 3, ""),
    ("show flights.enrich --kind run", 3, ""),
    ("show flights.enriched --kind query", 2, ""),
    ("trace nothing 0 1", 3, ""),
    ("trace --path /nowhere/at/all", 3, ""),
    ("trace --version delays 7", 3, ""),
    ("blast --run nothing", 3, ""),
    ("blast --query nothing --batches 1", 3, ""),
    ("blast --query enrich --batches 900", 3, ""),
    ("trace", 2, ""),
    ("trace flights.departed", 2, ""),
    ("trace flights.departed 0 5..5", 2, ""),
    ("trace flights.departed 0 5 --depth 0", 2, ""),
    ("trace flights.departed 0 5 --horizon soon", 2, ""),
    ("trace flights.departed 0 5 --path /x", 2, ""),
    ("trace flights.departed 0 99999999999999999999", 2, ""),
    ("blast --query enrich", 2, ""),
    ("blast --query enrich --run x", 2, ""),
]
"""Command, exit status, and what stands in its message."""


def test_what_is_wrong_is_reported(
    subtests: pytest.Subtests, asked_demo: None, capsys: pytest.CaptureFixture[str]
) -> None:
    for command, status, message in MISTAKES:
        with subtests.test(command):
            assert main(shlex.split(command)) == status
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
    clean_database.execute_query("DROP INDEX headwater_dataset_words")
    try:
        assert main(["upstream", "orders"]) == 3
        assert "no consumer has prepared it" in capsys.readouterr().err
    finally:
        GraphWriter(clean_database, "neo4j").ensure_schema()


@pytest.fixture
def ask(asked_demo: None, capsys: pytest.CaptureFixture[str]) -> Any:
    def asked(*words: str) -> Any:
        status = main([*words, "--json"])
        return status, json.loads(capsys.readouterr().out)

    return asked


def test_a_run(ask: Any) -> None:
    _, page = ask("runs", "list", "flights.enrich", "--kind", "job")
    run = page["items"][0]["run_id"]
    for text in (run[:8], run.replace("-", "").upper()[:20]):
        status, found = ask("runs", "show", text)
        assert (status, found["run"]["run_id"]) == (0, run), text
    assert ask("runs", "intervals", run[:8])[0] == 0
    status, found = ask("runs", "show", run[:3])
    assert status == 3
    assert "a prefix needs 4 characters" in found["error"]["message"]


def test_several_runs_that_begin_so(ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids of the demo are random: all of them begin with nothing."""
    monkeypatch.setattr("headwater_analysis.runs.run_names._SHORTEST", 0)
    status, found = ask("runs", "show", "")
    assert status == 2
    assert len(found["error"]["nearest"]) > 1
    assert "give more of it" in found["error"]["message"]


@pytest.mark.nightly
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
