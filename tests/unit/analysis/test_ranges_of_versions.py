"""Ranges of a table's stream, met with each other and with versions that were written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater_analysis.assets import Asset, AssetKind
from headwater_analysis.trace.batches import Batch, listed
from headwater_analysis.trace.match import matched
from headwater_analysis.trace.traced_parts import Part, PartKind
from headwater_analysis.trace.uses import VERSIONS, part_of, read_use
from headwater_schemas.events import Certainty

if TYPE_CHECKING:
    import pytest

TABLE = Asset(AssetKind.DATASET, "k", "file", "/t")
BATCH = Batch(conflict=False, query="q", first=0, last=0, started_at=None, ended_at=None, uses=(), properties={})


def stream(format_: str, first: str | None, last: str) -> dict[str, Any]:
    return {
        "position": "table_range",
        "format": format_,
        "from_version": first,
        "to_version": last,
        "certainty": "EXACT",
    }


def snapshot(format_: str, version: str) -> Part:
    return Part(dataset=TABLE, kind=PartKind.SNAPSHOT, certainty=Certainty.EXACT, format=format_, version=version)


def test_deltas_versions_are_numbers(subtests: pytest.Subtests) -> None:
    cases = [
        (None, "3", (0, 4)),
        ("2", "4", (3, 5)),
        ("2", "5:1", (3, 6)),  # some of version 5
        ("5:1", "5:3", (5, 6)),  # some more of it
        ("5:3", "6", (5, 7)),
        ("2", "2", (3, 3)),  # nothing
    ]
    for first, last, expected in cases:
        with subtests.test(first=first, last=last):
            assert listed(stream("delta", first, last)) == {VERSIONS: expected}
            spans = read_use("CONSUMED", "k", stream("delta", first, last)).spans
            assert spans == ({VERSIONS: [expected]} if expected[0] < expected[1] else {})


def test_a_version_that_was_written_is_read_by_each_that_has_some_of_it() -> None:
    for first, last, reads in ((None, "4", False), ("4", "5:2", True), ("5:2", "5:4", True), ("5:4", "6", True)):
        found = matched(snapshot("delta", "5"), read_use("CONSUMED", "k", stream("delta", first, last)), BATCH)
        assert (found is not None and found.certainty is Certainty.EXACT) is reads, (first, last)


def test_of_icebergs_snapshots_only_the_last_one_is_known() -> None:
    use = read_use("CONSUMED", "k", stream("iceberg", "71:2", "55:3"))
    assert use.spans == {}
    assert listed(use.properties) == {}
    last = matched(snapshot("iceberg", "55"), use, BATCH)
    assert last is not None
    assert last.certainty is Certainty.UPPER_BOUND, "all of its files, or the first three"
    other = matched(snapshot("iceberg", "63"), use, BATCH)
    assert other is not None, "it may be in between"
    assert other.certainty is Certainty.UNKNOWN


def test_who_wrote_what_a_stream_of_iceberg_read() -> None:
    part = part_of(read_use("CONSUMED", "k", stream("iceberg", None, "55:3")), TABLE)
    wrote = {"position": "table_snapshot", "format": "iceberg", "certainty": "EXACT"}
    found = matched(part, read_use("PRODUCED", "k", {**wrote, "snapshot_id": "55"}), BATCH, verb="wrote")
    assert found is not None
    assert found.certainty is Certainty.UPPER_BOUND
    found = matched(part, read_use("PRODUCED", "k", {**wrote, "snapshot_id": "12"}), BATCH, verb="wrote")
    assert found is not None
    assert found.certainty is Certainty.UNKNOWN
