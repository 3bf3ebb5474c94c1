"""`bench ingest`, tiny, on the suite's own servers: everybody takes part, and floor and consumer make one graph."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from headwater.console import console
from headwater_benchmarks.ingest.options import Options
from headwater_benchmarks.ingest.run import run
from headwater_benchmarks.ingest.show import view
from support.borrowed_servers import BorrowedServers
from support.stack import StackUnderTest

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = pytest.mark.nightly


TINY = Options(events=300, rounds=1, sample=60, warm_up=30, latency_seconds=2, batch_rows=(500,), tries=1)


@pytest.fixture
def document(stack: StackUnderTest, topic_prefix: str, clean_database: Driver) -> dict[str, Any]:
    return run(replace(TINY, prefix=topic_prefix), BorrowedServers(stack, clean_database))


@pytest.mark.timeout(900)
def test_everybody_takes_part_and_floor_and_consumer_make_one_graph(
    document: dict[str, Any], clean_database: Driver
) -> None:
    by_name = {each["name"]: each for each in document["measurements"]}
    ours = by_name["headwater"]
    assert ours["records"] == document["environment"]["topic"]["records"] >= TINY.events
    assert {"fetch", "decode", "fold", "write", "commit"} == set(ours["stages"])
    assert ours["peak_rss_mb"]["maximum"] > 30
    assert by_name["packs of 50"]["records"] == document["environment"]["topic of packs"]["records"] >= TINY.events / 50
    for name in ("floor", "floor of segments", "naive", "sink"):
        assert by_name[name]["headwater_ratio"]["median"] > 0
    assert len({each["shape"] for each in by_name["floor"]["tried"]}) == 3
    for name in ("headwater", "floor", "floor of segments"):
        assert by_name[f"graph of {name}"]["same"], by_name[f"graph of {name}"]
        assert by_name[f"graph of {name}"]["equal"] > ours["nodes"] + ours["relationships"], "micro-batches, unpacked"
    for name in ("latency", "latency at 100 events/s"):
        assert by_name[name]["all_p99_ms"] >= by_name[name]["all_p50_ms"] > 0
    assert len(document["goals"]) == 8
    json.dumps(document)
    out = console.out
    with out.capture() as captured:
        out.print(view(document))
    assert "nodes and relationships as they should be" in captured.get()
    with clean_database.session(database="neo4j") as session:
        assert not session.run(
            "SHOW CONSTRAINTS YIELD name WHERE name STARTS WITH 'sink_' OR name STARTS WITH 'floor_'"
        ).values()
        assert not session.run("SHOW INDEXES YIELD name WHERE name STARTS WITH 'floor_'").values()
