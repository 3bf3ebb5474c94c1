"""A trace doesn't go on through what a failed run didn't commit."""

from __future__ import annotations

from typing import Any

from headwater_analysis.trace.batches import read_run


def run(*written: dict[str, Any]) -> Any:
    uses = [["CONSUMED", "in", {"certainty": "EXACT"}], *(["PRODUCED", "out", properties] for properties in written)]
    row: Any = {"properties": {"key": "r", "run_id": "r", "state": "FAIL"}, "job": None, "uses": uses}
    return read_run(row)


def test_what_was_not_committed_is_no_output() -> None:
    failed = run({"uncommitted": True})
    assert [use.dataset for use in failed.reads()] == ["in"]
    assert failed.writes() == []


def test_what_was_committed_all_the_same_is_one() -> None:
    partly = run({"uncommitted": True, "ordinal": 1}, {"ordinal": 0, "position": "table_snapshot", "snapshot_id": "7"})
    assert [use.properties["snapshot_id"] for use in partly.writes("out")] == ["7"]
