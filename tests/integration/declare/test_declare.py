"""`headwater declare` on a real Kafka and Neo4j."""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headwater_consumers.graph.dump import dump
from support.materializer.process import consuming
from support.worked_examples import check_page

if TYPE_CHECKING:
    from collections.abc import Callable

    from neo4j import Driver

    Command = Callable[..., Any]

pytestmark = [pytest.mark.stack, pytest.mark.timeout(300)]

ROOT = Path(__file__).parents[3]


def test_the_example_of_the_page(followed_demo: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    check_page("../declare.md")


def test_the_page_shows_the_file() -> None:
    page = (ROOT / "docs" / "declare.md").read_text(encoding="utf-8")
    assert (ROOT / "docs" / "examples" / "declare" / "flights.yaml").read_text(encoding="utf-8") in page


def test_declared_withdrawn_and_declared_again_in_any_order(
    settings: dict[str, str], headwater: Command, neo4j_driver: Driver, tmp_path: Path
) -> None:
    """What holds is what the files say now, however often they went to and fro; and rebuilding gives the same bytes."""
    dice = random.Random(7)
    file = tmp_path / "s.yaml"
    declared: dict[str, int] = {}
    with consuming(settings) as consumer:
        for _ in range(6):
            declared = {f"d{number}": dice.randrange(3) for number in dice.sample(range(8), dice.randrange(1, 6))}
            rows = "".join(f"- {{name: {name}, criticality: tier-{tier}}}\n" for name, tier in declared.items())
            reads = ", ".join(declared)
            file.write_text(f"set: s\nnamespace: n\ndatasets:\n{rows}consumers: [{{name: board, reads: [{reads}]}}]\n")
            headwater("declare", str(file))
            if dice.random() < 0.3:
                headwater("declare", "--withdraw", "s")
                declared = {}
        assert consumer.stop() == 0
    holding = (
        "MATCH (x:Declaration {current: true})-[:DECLARES]->(d:Dataset) RETURN d.name AS name, x.criticality AS tier"
    )
    found = {row["name"]: row["tier"] for row in neo4j_driver.execute_query(holding).records}
    assert found == {name: f"tier-{tier}" for name, tier in declared.items()}
    read = {
        row["n"] for row in neo4j_driver.execute_query("MATCH (:Consumer)-[:CONSUMES]->(d) RETURN d.name AS n").records
    }
    assert read == declared.keys()
    assert headwater("graph", "verify")["holds"]
    before = list(dump(neo4j_driver, internal=True))
    headwater("graph", "rebuild", "--yes")
    assert list(dump(neo4j_driver, internal=True)) == before


def test_ten_thousand_datasets(
    followed: dict[str, str], headwater: Command, neo4j_driver: Driver, tmp_path: Path
) -> None:
    file = tmp_path / "s.yaml"
    row = "- {{name: d{0}, owners: [team:{1}], freshness: 1h, columns: {{c: {{sensitivity: PII}}}}}}\n"
    rows = [row.format(number, number % 50) for number in range(10_000)]
    file.write_text(f"set: s\nnamespace: n\ndatasets:\n{''.join(rows)}")
    began = time.monotonic()
    (found,) = headwater("declare", str(file))["sets"]
    assert time.monotonic() - began < 120
    assert (found["declarations"], found["published"], found["revision"]) == (10_000, 10_001, 1)
    # One that changes is one that is published.
    file.write_text(f"set: s\nnamespace: n\ndatasets:\n{''.join(rows[1:])}- {{name: d0, owners: [team:z]}}\n")
    (found,) = headwater("declare", str(file))["sets"]
    assert (found["published"], found["revision"], len(found["changes"])) == (2, 2, 1)
    current = "MATCH (x:Declaration {current: true}) RETURN count(x) AS n"
    assert neo4j_driver.execute_query(current).records[0]["n"] == 10_000


def test_what_is_not_in_the_graph_in_time(
    settings: dict[str, str], headwater: Command, tmp_path: Path, capsys: Any
) -> None:
    file = tmp_path / "s.yaml"
    file.write_text("set: s\nnamespace: n\ndatasets: [{name: d}]\n")
    error = headwater("declare", str(file), "--wait", "0.5", status=4)["error"]
    assert "Set 's' is on the topic, but after 0.5 s the graph has about 0 of its 2 events" in error["message"]


def test_an_older_revision_is_refused(followed: dict[str, str], headwater: Command, tmp_path: Path) -> None:
    file = tmp_path / "s.yaml"
    file.write_text("set: s\nnamespace: n\nrevision: 7\ndatasets: [{name: d}]\n")
    assert headwater("declare", str(file))["sets"][0]["revision"] == 7
    assert headwater("declare", str(file))["sets"][0]["published"] == 0
    # A later number is a later revision, also with the content of the graph: what is on its way may come in between.
    file.write_text("set: s\nnamespace: n\nrevision: 8\ndatasets: [{name: d}]\n")
    (again,) = headwater("declare", str(file))["sets"]
    assert (again["revision"], again["published"], again["changes"], again["in_graph"]) == (8, 1, [], True)
    file.write_text("set: s\nnamespace: n\nrevision: 6\ndatasets: [{name: e}]\n")
    error = headwater("declare", str(file), status=2)["error"]
    assert "is at revision 8 in the graph, and this file is revision 6 with other content" in error["message"]
