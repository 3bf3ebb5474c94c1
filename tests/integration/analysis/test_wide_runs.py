"""Runs with more inputs and outputs than are related each by each: answers go by way of the job."""

from __future__ import annotations

import json
from itertools import permutations
from typing import TYPE_CHECKING, Any

import pytest

from headwater.cli import main
from headwater_analysis.drawing import draw
from headwater_analysis.reader import Reader
from headwater_graph.connection import Neo4jTarget
from headwater_graph.dump import dump
from headwater_graph.fold import fold, uses
from headwater_graph.limits import LinksExceededError
from headwater_graph.oracle import oracle
from headwater_graph.write import GraphWriter, runs
from support.analysis.chains import write
from support.graph.emptying import delete_nodes
from support.graph.writing import store
from support.openlineage_sequences import dataset, run
from support.openlineage_spec import TENANT, received

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = [pytest.mark.stack, pytest.mark.usefixtures("settings_of_stack")]

IN, OUT = [dataset(f"in{n}") for n in range(3)], [dataset(f"out{n}") for n in range(3)]
DOCUMENTS = [
    # Together they are nine pairs, of which no document alone has any.
    run("START", "05:00:00", job="many", inputs=IN),
    run("COMPLETE", "05:10:00", job="many", outputs=OUT),
    # One of them was also reported by itself.
    run("RUNNING", "05:05:00", job="many", inputs=[IN[0]], outputs=[OUT[0]]),
    run("COMPLETE", "06:10:00", job="after", number=2, inputs=[OUT[1]], outputs=[dataset("end")]),
]


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uses, "MOST_CONSUMED", 2)
    monkeypatch.setattr(uses, "MOST_PRODUCED", 2)
    monkeypatch.setenv("HEADWATER_ANALYSIS_TENANT", TENANT)


def asked(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert main([*arguments, "--json"]) in (0, 5)
    return json.loads(capsys.readouterr().out)


def vias(answer: Any) -> dict[str, tuple[bool, bool]]:
    """By dataset: whether it was observed by the last hop, and whether that is only possible."""
    return {
        item["asset"]["name"]: (
            any(via["observed"] for via in item["via"]),
            all(via["possible"] for via in item["via"]),
        )
        for item in answer["items"]
    }


def test_the_graph_is_the_same_in_any_order(clean_database: Driver) -> None:
    events = received(*DOCUMENTS[:3])
    expected = list(oracle(fold(events)))
    for order in permutations(events):
        delete_nodes(clean_database)
        store(clean_database, order, at_once=1)
        assert list(dump(clean_database)) == expected
    feeds = clean_database.execute_query("MATCH (a)-[f:FEEDS]->(b) RETURN a.name AS a, b.name AS b, f.possible AS p")
    assert sorted((row["a"], row["b"], row["p"]) for row in feeds.records) == [
        ("in0", "out0", True),
        ("many", "out0", True),
        ("many", "out1", True),
        ("many", "out2", True),
    ]


def test_what_a_run_gathers_is_bounded_too(clean_database: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of its reports has few; together they would be more than a transaction may have."""
    monkeypatch.setattr(runs, "MOST_LINKS", 12)
    writer = GraphWriter(clean_database, "neo4j")
    writer.ensure_schema()
    few = [run("RUNNING", f"05:00:0{n}", inputs=[IN[n]], outputs=[OUT[n]]) for n in range(3)]
    for event in received(*few[:2]):
        writer.apply(fold([event]))
    before = list(dump(clean_database))
    with pytest.raises(LinksExceededError):
        writer.apply(fold(received(few[2])))
    assert list(dump(clean_database)) == before


def test_answers_go_by_way_of_the_job(
    clean_database: Driver, target: Neo4jTarget, capsys: pytest.CaptureFixture[str]
) -> None:
    write(clean_database, events=received(*DOCUMENTS))
    possible = (False, True)
    down = asked(capsys, "downstream", "in2", "--depth", "all")
    assert vias(down) == {"out0": possible, "out1": possible, "out2": possible, "end": possible}
    assert vias(asked(capsys, "downstream", "in0")) == dict.fromkeys(("out0", "out1", "out2"), possible)
    assert vias(asked(capsys, "upstream", "out1")) == dict.fromkeys(("in0", "in1", "in2"), possible)
    assert vias(asked(capsys, "upstream", "end", "--depth", "all")).keys() == {"out1", "in0", "in1", "in2"}
    drawn = draw(Reader(clean_database, target, tenant=TENANT), "in2", depth=2)
    assert {node.asset.name for node in drawn.nodes} == {"in2", "out0", "out1", "out2", "end"}
    hit = asked(capsys, "impact", "in2", "--type", "data_incorrect")
    items = {item["asset"]["name"]: item["possible"] for item in hit["items"] if item["asset"]["column"] is None}
    assert items == {"out0": True, "out1": True, "out2": True, "end": True}
    needed = asked(capsys, "may-delete", "in2")
    assert "many" in json.dumps(needed)
