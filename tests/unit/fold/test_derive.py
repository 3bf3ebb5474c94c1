"""Facts derived from uses: versions of datasets, and the fit of neighbours in a chain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater_graph import keys
from headwater_graph.derive import BatchPositions, marked, neighbour, next_properties, skipped, versions_used
from headwater_graph.facts.model import RelType, UseKey
from headwater_graph.facts.registers import Props

if TYPE_CHECKING:
    import pytest

VERSION_OF_POSITION: list[tuple[Any, tuple[str, str] | None]] = [
    ({"position": "files", "manifest_digest": "ab"}, ("files", "ab")),
    ({"position": "files", "file_count": 3}, None),
    ({"position": "kafka", "manifest_digest": "ab"}, None),
    ({"position": "table_snapshot", "format": "delta", "snapshot_id": "7"}, ("delta", "7")),
    (None, None),
]


def test_a_position_names_a_version_where_it_is_a_snapshot_or_a_set_of_files(subtests: pytest.Subtests) -> None:
    for position, version in VERSION_OF_POSITION:
        for use, link in ((RelType.CONSUMED, RelType.READ), (RelType.PRODUCED, RelType.WROTE)):
            with subtests.test(link=link.value, position=position):
                found = list(versions_used("acme", {UseKey(use, "dataset-key", 0): {"position": ("stamp", position)}}))
                assert found == ([] if version is None else [(link, keys.version_key("acme", "dataset-key", *version))])


USE = UseKey(RelType.CONSUMED, "dataset-key", 0)
FILE_SET: Props = {"position": "files", "manifest_digest": "ab", "certainty": "EXACT"}


def kafka(begin: int, end: int, **fields: Any) -> Props:
    return {
        "position": "kafka",
        "certainty": "EXACT",
        "partitions": [0],
        "from": [begin],
        "to_exclusive": [end],
        **fields,
    }


GAP: Props = {"gap_datasets": ["dataset-key"], "gap_partitions": [0], "gap_from": [5], "gap_to_exclusive": [6]}


def overlap(begin: int, end: int) -> Props:
    return {
        "overlap_datasets": ["dataset-key"],
        "overlap_partitions": [0],
        "overlap_from": [begin],
        "overlap_to_exclusive": [end],
    }


NEIGHBOURS: list[tuple[Props, Props, Props]] = [
    (kafka(0, 5), kafka(5, 9), {}),
    (kafka(0, 5), kafka(6, 9), GAP),
    (kafka(0, 5), kafka(4, 9), overlap(4, 5)),
    (kafka(0, 5), kafka(0, 5), overlap(0, 5)),
    (kafka(5, 9), kafka(4, 9), {"rewinds": "query-key", **overlap(4, 9)}),
    (kafka(5, 9), kafka(6, 8), {"rewinds": "query-key", **overlap(6, 9)}),
    (kafka(0, 5), FILE_SET, {}),
    (FILE_SET, kafka(0, 5), {}),
    (FILE_SET, {**FILE_SET, "manifest_digest": "cd"}, {}),
    (kafka(0, 5, topic_id="a"), kafka(6, 9, topic_id="a"), GAP),
    (kafka(0, 5, topic_id="a"), kafka(6, 9), GAP),
    (kafka(0, 5), kafka(6, 9, topic_id="a"), GAP),
    (kafka(0, 5, topic_id="a"), kafka(6, 9, topic_id="b"), {"rewinds": "query-key"}),
    (kafka(0, 5, topic_id="a"), kafka(5, 9, topic_id="b"), {"rewinds": "query-key"}),
    (kafka(0, 5, certainty="INFERRED"), kafka(6, 9, certainty="INFERRED"), GAP),
    (kafka(0, 5, certainty="UPPER_BOUND"), kafka(6, 9), {}),
    (kafka(0, 5), kafka(6, 9, certainty="UPPER_BOUND"), {}),
    (kafka(0, 5), kafka(6, 9, partitions=[1]), {}),
]


def test_neighbours_fit_together_or_not(subtests: pytest.Subtests) -> None:
    for before, after, properties in NEIGHBOURS:
        with subtests.test(before=before, after=after):
            found = next_properties(
                BatchPositions("query-key", 3, {USE: before}), BatchPositions("query-key", 4, {USE: after})
            )
            assert found == properties


def test_batches_between_neighbours_are_missing_and_positions_are_not_compared(subtests: pytest.Subtests) -> None:
    for batch_id, missing in ((5, 1), (7, 3), (3, -1)):
        with subtests.test(batch_id=batch_id):
            early, late = {USE: kafka(0, 5)}, {USE: kafka(6, 9)}
            found = next_properties(BatchPositions("query-key", 3, early), BatchPositions("query-key", batch_id, late))
            assert found == {"missing": missing}


def test_what_is_written_has_no_gaps_and_what_one_of_them_used_is_not_compared() -> None:
    written = UseKey(RelType.PRODUCED, "dataset-key", 0)
    other = UseKey(RelType.CONSUMED, "other-key", 0)
    early = BatchPositions("query-key", 3, {written: kafka(0, 5), other: kafka(0, 5)})
    late = BatchPositions("query-key", 4, {written: kafka(6, 9), USE: kafka(6, 9)})
    assert next_properties(early, late) == {}


def test_what_is_skipped_of_a_topic_that_was_made_anew(subtests: pytest.Subtests) -> None:
    old = kafka(0, 5, topic_id="a")
    cases = [
        (old, kafka(5, 8, topic_id="b"), 4, [("dataset-key", 0, 5)]),
        (old, kafka(0, 8, topic_id="b"), 4, []),
        (old, kafka(5, 8, topic_id="a"), 4, []),
        (old, kafka(5, 8), 4, []),
        (old, kafka(5, 8, topic_id="b", certainty="UPPER_BOUND"), 4, []),
        (old, kafka(5, 8, topic_id="b"), 5, []),
    ]
    for early, late, batch_id, found in cases:
        with subtests.test(early=early, late=late, batch_id=batch_id):
            before, after = (
                BatchPositions("query-key", 3, {USE: early}),
                BatchPositions("query-key", batch_id, {USE: late}),
            )
            assert skipped(before, after) == found
    written = UseKey(RelType.PRODUCED, "dataset-key", 0)
    before, after = (BatchPositions("query-key", n, {written: kafka(n, n, topic_id=str(n))}) for n in (3, 4))
    assert skipped(before, after) == []


def test_of_several_partitions_those_are_named_that_do_not_fit() -> None:
    early = kafka(0, 0, partitions=[0, 1, 2], to_exclusive=[5, 6, 7], **{"from": [0, 0, 0]})
    late = kafka(0, 0, partitions=[0, 1, 2], to_exclusive=[9, 9, 9], **{"from": [5, 7, 6]})
    found = next_properties(BatchPositions("query-key", 3, {USE: early}), BatchPositions("query-key", 4, {USE: late}))
    gaps = {"gap_datasets": ["dataset-key"], "gap_partitions": [1], "gap_from": [6], "gap_to_exclusive": [7]}
    assert found == {**gaps, **overlap(6, 7), "overlap_partitions": [2]}


def test_offsets_that_are_equal_are_those_of_other_partitions() -> None:
    early = kafka(0, 0, partitions=[0, 1], to_exclusive=[5, 6], **{"from": [0, 0]})
    late = kafka(0, 0, partitions=[1, 2], to_exclusive=[9, 9], **{"from": [5, 6]})
    found = next_properties(BatchPositions("query-key", 3, {USE: early}), BatchPositions("query-key", 4, {USE: late}))
    assert found == {**overlap(5, 6), "overlap_partitions": [1]}


BROKEN_LINKS: list[tuple[Props, bool]] = [
    ({}, False),
    ({"rewinds": "query-key"}, False),
    ({"gap_datasets": ["dataset-key"]}, False),
    ({"missing": 1}, True),
    (GAP, True),
    (overlap(4, 5), True),
]


def test_what_does_not_fit_together_is_marked_with_its_query(subtests: pytest.Subtests) -> None:
    for properties, broken in BROKEN_LINKS:
        with subtests.test(properties=properties):
            assert marked("query-key", properties) == properties | ({"_broken": "query-key"} if broken else {})


def test_a_neighbour_has_the_positions_of_its_uses_that_have_one() -> None:
    uses: dict[UseKey, Any] = {
        USE: {"position": ("stamp", FILE_SET), "rows": ("stamp", 3)},
        UseKey(RelType.CONSUMED, "no-position", 0): {"rows": ("stamp", 3)},
        UseKey(RelType.PRODUCED, "taken-back", 0): {"position": ("stamp", None)},
        UseKey(RelType.PRODUCED, "written", 0): {"position": ("stamp", kafka(0, 5))},
    }
    written = UseKey(RelType.PRODUCED, "written", 0)
    assert neighbour("query-key", 7, uses) == BatchPositions("query-key", 7, {USE: FILE_SET, written: kafka(0, 5)})
