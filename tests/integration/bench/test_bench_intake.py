"""`bench intake`, tiny, on the suite's own servers: both ways bring their runs to the graph, with figures."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headwater.console import console
from headwater_benchmarks.intake.documents import documents
from headwater_benchmarks.intake.run import Options, run
from headwater_benchmarks.intake.show import view
from support.borrowed_servers import BorrowedServers
from support.stack import StackUnderTest

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = pytest.mark.nightly

TINY = Options(events=60, rounds=1, warm_up=20, rentgen=Path("/nowhere/python"))


@pytest.mark.timeout(600)
@pytest.mark.parametrize("batch", [1, 20])
def test_both_ways_bring_their_runs_to_the_graph(
    stack: StackUnderTest, topic_prefix: str, clean_database: Driver, batch: int
) -> None:
    document = run(replace(TINY, prefix=topic_prefix, batch=batch), BorrowedServers(stack, clean_database))
    by_name: dict[str, dict[str, Any]] = {each["name"]: each for each in document["measurements"]}
    for name in ("over http", "from a kafka topic"):
        assert by_name[name]["events"] == TINY.events
        assert by_name[name]["events_per_second"]["median"] > 0
        assert by_name[name]["processor_ms_per_event"]["consumer"]["median"] > 0
    http = by_name["over http"]
    assert http["processor_ms_per_event"]["server"]["median"] > 0
    assert http["accepted_per_second"]["median"] >= http["events_per_second"]["median"]
    assert by_name["data-rentgen"] == {
        "name": "data-rentgen",
        "absent": "/nowhere/python isn't there: no data-rentgen[server,consumer,postgres]",
    }
    assert [goal["value"] is None for goal in document["goals"]] == [False, True]
    json.dumps(document)
    out = console.out
    with out.capture() as captured:
        out.print(view(document))
    assert "Data.Rentgen wasn't measured" in captured.get()
    # The last turn's are in the graph.
    runs = {each.run for each in documents(TINY.warm_up + TINY.events, seed=TINY.seed)}
    with clean_database.session(database="neo4j") as session:
        found = {record[0] for record in session.run("MATCH (run:HwRun)-[:PRODUCED]->() RETURN run.run_id")}
    assert runs <= found
