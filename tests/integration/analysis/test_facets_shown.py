"""Every standard facet of a run, a job and a dataset that was sent is listed by the commands, and in JSON whole."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from headwater.cli import main
from support.graph.writing import hold
from support.openlineage_documents import example, standard_facets
from support.openlineage_sequences import Json, dataset, run, run_id
from support.openlineage_spec import TENANT, received

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = [pytest.mark.stack, pytest.mark.usefixtures("settings_of_stack")]

# Those that fill nodes, relationships and properties alone, and aren't kept as they came.
ELSEWHERE = {
    "run": set[str](),
    "job": set[str](),
    "dataset": {"schema", "ownership", "storage", "tags"},
}
# Their examples name other datasets, or an end of this one.
LEFT_OUT = {"columnLineage", "lineage", "lifecycleStateChange", "symlinks"}


def facets(owner: str) -> Json:
    """The specification's example of each facet of a run, a job or a dataset."""
    return {
        name: {**example(url), "_schemaURL": url, "_producer": "https://example.com/producer"}
        for name, url in standard_facets()[owner, "facets"]
        if name not in LEFT_OUT
    }


@pytest.fixture(autouse=True)
def _graph(neo4j_driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_ANALYSIS_TENANT", TENANT)
    totals = dataset("totals", facets=facets("dataset"))
    document = run("COMPLETE", "05:10:00", outputs=[totals], facets=facets("run"), job_facets=facets("job"))
    hold(neo4j_driver, "facets", received(document))


@pytest.mark.parametrize(
    ("owner", "command"),
    [
        ("run", ("runs", "show", run_id(1))),
        ("job", ("show", "totals", "--kind", "job")),
        ("dataset", ("show", "totals", "--kind", "dataset")),
    ],
)
def test_facets_are_listed_with_their_content(
    owner: str, command: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    sent = facets(owner)
    assert main([*command, "--json"]) == 0
    listed: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["facets"]
    content = {each["name"]: json.loads(each["json"]) for each in listed}
    assert sent.keys() - content.keys() == ELSEWHERE[owner]
    assert {name: content[name] for name in sent.keys() & content.keys()} == {
        name: facet for name, facet in sent.items() if name in content
    }
    assert main(list(command)) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert all(name in shown for name in content)
