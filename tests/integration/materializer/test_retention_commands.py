"""`headwater retention` on a real Kafka and Neo4j: set, list, apply; late reports; a graph that is rebuilt."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from headwater_schemas.codec import encode
from support.materializer import events
from support.materializer.process import run_until_caught_up
from support.materializer.worlds import RealWorld

if TYPE_CHECKING:
    from neo4j import Driver

    Command = Callable[..., Any]

pytestmark = [pytest.mark.stack, pytest.mark.timeout(300)]

DAY_AFTER = "2026-01-02"  # of all micro-batches of `events.interval`
COUNT = "MATCH (n:Hw{label}) RETURN count(n) AS count"


def count(driver: Driver, label: str) -> int:
    return int(driver.execute_query(COUNT.format(label=label)).records[0]["count"])


@pytest.mark.nightly
def test_what_is_old_leaves_a_summary_and_verify_and_rebuild_hold(
    world: RealWorld, settings: dict[str, str], headwater: Command, neo4j_driver: Driver
) -> None:
    world.put_many([encode(events.interval(batch)) for batch in range(600)])
    run_until_caught_up(settings)
    assert (count(neo4j_driver, "Segment"), headwater("retention", "list")["retentions"]) == (2, [])

    published = headwater("retention", "set", "--before", DAY_AFTER, "--namespace", "tests", "--yes")
    assert (published["before"], published["mode"]) == (DAY_AFTER, "SUMMARIZE")
    run_until_caught_up(settings)
    [found] = headwater("retention", "list")["retentions"]
    assert found == {
        "tenant": "default",
        "namespace": "tests",
        "job": None,
        "summarize_before": DAY_AFTER,
        "drop_before": None,
    }
    # Before it is moved, and after.
    assert count(neo4j_driver, "Segment") == 2
    assert headwater("graph", "verify")["holds"]
    assert headwater("retention", "apply") == {"queries": 1, "micro_batches": 600, "summaries_dropped": 0}
    assert (count(neo4j_driver, "Segment"), count(neo4j_driver, "Summary")) == (0, 1)
    assert headwater("graph", "verify")["holds"]

    # A report that comes late, and one again.
    world.put_many([encode(events.interval(batch)) for batch in (599, 600)])
    run_until_caught_up(settings)
    summary = neo4j_driver.execute_query("MATCH (s:HwSummary)-[r:CONSUMED]->() RETURN s, r").records[0]
    assert (summary["s"]["batches"], summary["s"]["day"]) == (600, "2026-01-01")
    assert (summary["r"]["from"], summary["r"]["to_exclusive"], summary["r"]["offsets"]) == ([0], [6000], 6000)
    # One that wasn't known when the others were moved is moved with the next.
    assert count(neo4j_driver, "Segment") == 1
    assert headwater("graph", "verify")["holds"]
    assert headwater("retention", "apply")["micro_batches"] == 1
    assert headwater("graph", "verify")["holds"]

    headwater("graph", "rebuild", "--yes")
    assert headwater("retention", "apply")["micro_batches"] == 601
    assert headwater("graph", "verify")["holds"]

    headwater("retention", "set", "--before", DAY_AFTER, "--drop", "--yes")
    run_until_caught_up(settings)
    assert headwater("retention", "apply")["summaries_dropped"] == 1
    assert (count(neo4j_driver, "Segment"), count(neo4j_driver, "Summary")) == (0, 0)
    assert count(neo4j_driver, "Query") == 1
    assert headwater("graph", "verify")["holds"]


@pytest.mark.nightly
def test_a_trace_ends_in_a_day_that_is_summarized(
    world: RealWorld, settings: dict[str, str], headwater: Command
) -> None:
    world.put_many([encode(events.interval(batch)) for batch in range(10)])
    run_until_caught_up(settings)
    headwater("retention", "set", "--before", DAY_AFTER, "--yes")
    run_until_caught_up(settings)
    assert [hop["step"]["kind"] for hop in headwater("trace", "flights", "0", "55")["hops"]] == ["MICRO_BATCHES"]
    headwater("retention", "apply")
    # What comes later is kept, and is no hole before which something is missing.
    later = events.interval(10)
    assert later.interval_event is not None
    entry = replace(later.interval_event.entries[0], processing_time=events.START + timedelta(days=1))
    world.put(encode(replace(later, interval_event=replace(later.interval_event, entries=(entry,)))))
    run_until_caught_up(settings)

    listed = headwater("runs", "intervals", "enrich", "--job")
    assert (listed["total"], listed["summarized"]) == (1, 10)
    assert [(item["batch_id"], item["missing"]) for item in listed["items"]] == [(10, 0)]
    assert headwater("runs", "intervals", listed["items"][0]["run_id"])["summarized"] == 10

    found = headwater("trace", "flights", "0", "55")
    [hop] = found["hops"]
    step = hop["step"]
    assert (step["kind"], step["first_batch"], step["last_batch"]) == ("SUMMARY", 0, 9)
    assert hop["inputs"][0]["offsets"] == [{"partition": 0, "start": 55, "end": 56}]
    assert hop["certainty"] == hop["overall"] == "UPPER_BOUND"
    assert hop["outputs"][0]["dataset"]["name"] == "/tests/out"
    assert "10 micro-batches of 2026-01-01 are summarized" in hop["why"]
    assert [hop["step"]["kind"] for hop in headwater("trace", "flights", "0", "105")["hops"]] == ["MICRO_BATCHES"]
    beyond = headwater("trace", "flights", "0", "500")
    assert (beyond["hops"], len(beyond["notes"])) == ([], 1)
    back = headwater("trace", "--back", "--path", "/tests/out")
    assert any("no longer stores the micro-batches" in note for note in back["notes"])


def test_what_cannot_be_meant(headwater: Command) -> None:
    headwater("retention", "set", "--before", DAY_AFTER, "--job", "enrich", "--yes", status=2)
    headwater("retention", "set", "--before", "2999-01-01", "--yes", status=2)
    headwater("retention", "set", "--before", DAY_AFTER, status=2)  # nobody can be asked
