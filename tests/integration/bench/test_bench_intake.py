"""`bench intake`, tiny, on the suite's own servers: each way brings its runs to the graph, with figures."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headwater.console import console
from headwater_benchmarks.intake.documents import material
from headwater_benchmarks.intake.options import Options
from headwater_benchmarks.intake.run import run
from headwater_benchmarks.intake.show import view
from support.borrowed_servers import BorrowedServers
from support.stack import StackUnderTest

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = pytest.mark.nightly

TINY = Options(events=60, rounds=1, warm_up=20, batch=20, latency_seconds=1, rentgen=Path("/nowhere/python"))
HEADWATERS_WAYS = ("one by one", "in batches", "headwater's own events", "from a kafka topic")


@pytest.mark.timeout(600)
def test_each_way_brings_its_runs_to_the_graph(
    stack: StackUnderTest, topic_prefix: str, clean_database: Driver
) -> None:
    document = run(replace(TINY, prefix=topic_prefix), BorrowedServers(stack, clean_database))
    by_name: dict[str, dict[str, Any]] = {each["name"]: each for each in document["measurements"]}
    for name in HEADWATERS_WAYS:
        assert by_name[name]["events"] == TINY.events
        assert by_name[name]["events_per_second"]["median"] > 0
        assert by_name[name]["processor_ms_per_event"]["consumer"]["median"] > 0
    for name in ("one by one", "in batches"):
        assert by_name[name]["processor_ms_per_event"]["server"]["median"] > 0
        assert by_name[name]["accepted_per_second"]["median"] >= by_name[name]["events_per_second"]["median"]
        assert by_name[name]["times_headwater"]["ratio"]["median"] > 0
        late = by_name[f"latency, {name}"]
        assert late["p99_ms"] >= late["p50_ms"] > 0
    assert by_name["data-rentgen"] == {
        "name": "data-rentgen",
        "absent": "/nowhere/python isn't there: no data-rentgen[server,consumer,postgres]",
    }
    assert [goal["value"] is None for goal in document["goals"]] == [False, False, True]
    json.dumps(document)
    out = console.out
    with out.capture() as captured:
        out.print(view(document))
    assert "Data.Rentgen wasn't measured" in captured.get()
    # The last turn's are in the graph: the events of the latency in batches, after its warm-up's.
    rate = by_name["latency, in batches"]["events_per_second"]
    count = round(rate * TINY.latency_seconds)
    sent = material(count, seed=TINY.seed + 1_000 + TINY.batch, after=TINY.warm_up)
    runs = {each.run for each in sent.documents}
    with clean_database.session(database="neo4j") as session:
        found = {record[0] for record in session.run("MATCH (run:HwRun)-[:PRODUCED]->() RETURN run.run_id")}
    assert len(runs & found) >= len(runs) - 1, "a rate of the report is rounded, so there may be one event less"
