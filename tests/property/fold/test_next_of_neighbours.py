"""NEXT between two neighbours says what a look at each partition finds, also where a shortcut spares the look."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from headwater_graph.derive import BatchPositions, next_properties
from headwater_graph.facts.model import RelType, UseKey
from headwater_graph.facts.registers import Props

USE = UseKey(RelType.CONSUMED, "d", 0)
RANGES = st.dictionaries(st.integers(0, 3), st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=3)
TOPIC_IDS = st.sampled_from([None, "first", "second"])


def position(ranges: dict[int, tuple[int, int]], topic_id: str | None) -> Props:
    parts = sorted(ranges)
    out: Props = {
        "position": "kafka",
        "certainty": "EXACT",
        "partitions": parts,
        "from": [ranges[part][0] for part in parts],
        "to_exclusive": [sum(ranges[part]) for part in parts],
    }
    return out if topic_id is None else {**out, "topic_id": topic_id}


def expected(before: Props, after: Props, both: set[int]) -> Props:
    """Expected property, computed partition by partition."""

    def bounds(of: Any, part: int) -> tuple[int, int]:
        at = of["partitions"].index(part)
        return of["from"][at], of["to_exclusive"][at]

    ids = {before.get("topic_id"), after.get("topic_id")} - {None}
    joints = [(part, bounds(before, part), bounds(after, part)) for part in sorted(both)]
    out: Props = {}
    if len(ids) == 2 or any(late[0] < early[0] or late[1] < early[1] for _, early, late in joints):
        out["rewinds"] = "q"
    gaps = [(part, early[1], late[0]) for part, early, late in joints if early[1] < late[0]]
    overlaps = [(part, late[0], early[1]) for part, early, late in joints if late[0] < early[1]]
    for name, rows in (("gap", gaps), ("overlap", overlaps)):
        if rows and len(ids) < 2:
            out[f"{name}_datasets"] = ["d"] * len(rows)
            out[f"{name}_partitions"] = [part for part, _, _ in rows]
            out[f"{name}_from"] = [start for _, start, _ in rows]
            out[f"{name}_to_exclusive"] = [end for _, _, end in rows]
    return out


@given(early=RANGES, late=RANGES, early_id=TOPIC_IDS, late_id=TOPIC_IDS, goes_on=st.booleans())
def test_next_says_what_each_partition_says(
    *,
    early: dict[int, tuple[int, int]],
    late: dict[int, tuple[int, int]],
    early_id: str | None,
    late_id: str | None,
    goes_on: bool,
) -> None:
    if goes_on:
        late = {part: (start + length, late.get(part, (0, 1))[1]) for part, (start, length) in early.items()}
    before, after = position(early, early_id), position(late, late_id)
    found = next_properties(BatchPositions("q", 1, {USE: before}), BatchPositions("q", 2, {USE: after}))
    assert found == expected(before, after, early.keys() & late.keys())
