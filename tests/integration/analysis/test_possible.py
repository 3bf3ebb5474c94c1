"""Edges that are only possible, because their producer doesn't record what an output was made from, in every answer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from headwater.cli import main
from headwater_analysis.drawing import draw
from headwater_analysis.reader import Reader
from headwater_graph.connection import Neo4jTarget
from support.graph.writing import hold
from support.openlineage_sequences import columns, dataset, explicit, run
from support.openlineage_spec import TENANT, received

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = [pytest.mark.stack, pytest.mark.usefixtures("settings_of_stack")]

ORDERS, CUSTOMERS, TOTALS, NAMES, LETTERS = map(dataset, ("orders", "customers", "totals", "names", "letters"))
DOCUMENTS = [
    run("START", "05:00:00", inputs=[ORDERS, CUSTOMERS], outputs=[TOTALS, NAMES]),
    run(
        "COMPLETE",
        "05:10:00",
        inputs=[ORDERS, CUSTOMERS],
        outputs=[{**TOTALS, "facets": columns(total=[("orders", "amount")])}, NAMES],
        job_facets=explicit(names=["customers"]),
    ),
    run("COMPLETE", "06:10:00", job="letters", number=2, inputs=[NAMES], outputs=[LETTERS]),
]


@pytest.fixture(autouse=True)
def _graph(neo4j_driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_ANALYSIS_TENANT", TENANT)
    hold(neo4j_driver, "possible edges", received(*DOCUMENTS))


def asked(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(list(arguments)) == 0
    return capsys.readouterr().out


def test_lineage(capsys: pytest.CaptureFixture[str]) -> None:
    found = asked(capsys, "downstream", "customers", "--depth", "all")
    vias = {item["asset"]["name"]: item["via"][0] for item in found["items"]}
    assert {name: (via["observed"], via["possible"]) for name, via in vias.items()} == {
        "names": (True, False),
        "totals": (False, True),
        "letters": (False, True),
    }
    assert "totals (possible, " in shown(capsys, "downstream", "customers")
    up = asked(capsys, "upstream", "totals")
    assert {item["asset"]["name"]: item["via"][0]["possible"] for item in up["items"]} == {
        "orders": False,
        "customers": True,
    }


def test_impact(capsys: pytest.CaptureFixture[str]) -> None:
    ask = ("impact", "customers", "--type", "data_incorrect")
    items = {item["asset"]["name"]: item for item in asked(capsys, *ask)["items"] if item["asset"]["column"] is None}
    assert {name: item["possible"] for name, item in items.items()} == {
        "names": False,
        "totals": True,
        "letters": True,
    }
    assert [hop["possible"] for hop in items["letters"]["path"]] == [False, True]
    assert "doesn't record which inputs" in items["totals"]["reason"]
    assert "doesn't record" not in items["names"]["reason"]
    assert ", possible" in shown(capsys, *ask)


def test_trace_and_blast(capsys: pytest.CaptureFixture[str]) -> None:
    found = asked(capsys, "blast", "--run", DOCUMENTS[-1]["run"]["runId"])
    assert [(part["possible"], part["dataset"]["name"]) for hop in found["hops"] for part in hop["outputs"]] == [
        (False, "letters")
    ]
    found = asked(capsys, "blast", "--run", DOCUMENTS[0]["run"]["runId"])
    tainted = {each["dataset"]["name"]: each for each in found["tainted"]}
    assert not tainted["names"]["parts"][0]["possible"]
    assert tainted["letters"]["parts"][0]["possible"]
    assert "possible" in shown(capsys, "blast", "--run", DOCUMENTS[0]["run"]["runId"])


def test_drawing(quiet_driver: Driver, target: Neo4jTarget) -> None:
    found = draw(Reader(quiet_driver, target, tenant=TENANT), "customers", depth=2)
    names = {node.asset.key: node.asset.name for node in found.nodes}
    assert {(names[edge.source], names[edge.target]): edge.via[0].possible for edge in found.edges} == {
        ("customers", "names"): False,
        ("customers", "totals"): True,
        ("names", "letters"): True,
    }
