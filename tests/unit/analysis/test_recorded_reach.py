"""Differences between a recorded reach and a later one, by the parts of a dataset."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from headwater_analysis.incidents import recorded
from headwater_analysis.incidents.answers import IncidentReach
from headwater_analysis.incidents.recorded import changes, reached
from headwater_analysis.trace import OffsetSpan, Part, PartKind
from headwater_analysis.trace.traced_parts import Hop, RunBrief, Step, StepKind
from headwater_schemas.events import Certainty
from support.incidents import asset, reach, tainted

ORDERS = asset("orders")


def part(kind: PartKind, certainty: Certainty = Certainty.EXACT, **fields: Any) -> Part:
    return Part(dataset=ORDERS, kind=kind, certainty=certainty, **fields)


def spans(*ranges: tuple[int, int], topic_id: str | None = None) -> Part:
    return part(PartKind.OFFSETS, offsets=tuple(OffsetSpan(0, *each) for each in ranges), topic_id=topic_id)


def files(*paths: str, count: int | None = None) -> Part:
    return part(PartKind.FILES, files=paths, file_count=len(paths) if count is None else count)


def version(number: str, **more: Any) -> Part:
    return part(PartKind.SNAPSHOT, format="delta", version=number, **more)


SOME = part(PartKind.UNKNOWN, Certainty.UNKNOWN)
CASES: dict[str, tuple[tuple[Part, ...], tuple[Part, ...], tuple[Part, ...], tuple[Part, ...], bool]] = {
    "a longer range": ((spans((0, 9)),), (spans((0, 12)),), (spans((9, 12)),), (), True),
    "a moved range": ((spans((0, 9)),), (spans((5, 12)),), (spans((9, 12)),), (spans((0, 5)),), True),
    "another incarnation of a topic": (
        (spans((0, 9), topic_id="a"),),
        (spans((0, 9), topic_id="b"),),
        (spans((0, 9), topic_id="b"),),
        (spans((0, 9), topic_id="a"),),
        True,
    ),
    "an incarnation that may be the same": ((spans((0, 9)),), (spans((0, 9), topic_id="b"),), (), (), True),
    "files": ((files("1", "2"),), (files("2", "3"),), (files("3"),), (files("1"),), True),
    "the same files in other parts": ((files("1", "2"),), (files("1"), files("2", "3")), (files("3"),), (), True),
    "files that aren't all listed": ((files("1", count=9),), (files("1", "2", count=9),), (files("2"),), (), False),
    "versions": ((version("1"),), (version("1"), version("2")), (version("2"),), (), True),
    "partitions of a version": (
        (version("1", partitions=("d=1",)),),
        (version("1", partitions=("d=1", "d=2")),),
        (version("1", partitions=("d=1", "d=2")),),
        (version("1", partitions=("d=1",)),),
        False,
    ),
    "a file that was in some part": ((SOME,), (files("1"),), (files("1"),), (SOME,), False),
    "some part is unchanged": ((SOME, files("1")), (SOME, files("2")), (files("2"),), (files("1"),), False),
    "only the certainty": ((files("1"),), (replace(files("1"), certainty=Certainty.UPPER_BOUND),), (), (), True),
    "ranges that are recorded in part": (
        (spans(*((n, n + 1) for n in range(0, 400, 2))),),
        (spans((0, 1)),),
        (),
        (spans(*((n, n + 1) for n in range(2, 200, 2))),),
        False,
    ),
}
"""Recorded parts, parts now ⇒ parts that are new and gone, and whether they are exact."""


def reach_of(*parts: Part) -> IncidentReach:
    found = reach()
    return replace(found, blast=replace(found.blast, tainted=(tainted("orders", *parts),)))


@pytest.mark.parametrize("case", CASES)
def test_parts_that_are_new_or_gone(case: str) -> None:
    before, now, new, gone, exact = CASES[case]
    [change] = changes(reached(reach_of(*before)), reach_of(*now))
    assert (change.change, change.new, change.gone, change.exact) == ("CHANGED", new, gone, exact)
    assert changes(reached(reach_of(*now)), reach_of(*now)) == ()


def test_parts_beyond_the_size_of_a_record_are_only_a_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorded, "MOST_BYTES", 10)
    [record] = reached(reach_of(files("1")))
    assert (record.parts, record.part_count, record.cleared) == ((), 1, False)
    assert changes([record], reach_of(files("1"))) == ()
    [change] = changes([record], reach_of(files("2")))
    assert (change.change, change.new, change.gone, change.exact) == ("CHANGED", (), (), False)


def test_writers_are_those_of_what_is_new() -> None:
    """By ranges and files; without these, writers of parts of its kind. Those of data that was cleared are none."""

    def now(*parts: Part, writes: dict[str, Part]) -> IncidentReach:
        found = reach_of(*parts)
        (one,) = found.blast.tainted
        hops = tuple(a_hop(number, name, part) for number, (name, part) in enumerate(writes.items(), 1))
        blast = replace(found.blast, tainted=(replace(one, hops=tuple(range(1, len(hops) + 1))),), hops=hops)
        return replace(found, blast=blast)

    def by(before: tuple[Part, ...], after: IncidentReach) -> list[str]:
        (change,) = changes(reached(reach_of(*before)), after)
        assert change.by_total == len(change.by)
        return [step.runs[0].run_id for step in change.by]

    assert by((files("1"),), now(files("1", "2"), writes={"a": files("1"), "b": files("2")})) == ["b"]
    assert by((spans((0, 9)),), now(spans((0, 12)), writes={"a": spans((0, 9)), "b": spans((9, 12))})) == ["b"]
    some = part(PartKind.FILES, file_count=10)
    more = now(part(PartKind.FILES, file_count=22), writes={"a": files("1"), "b": some, "c": version("1")})
    assert by((some,), more) == ["a", "b"]
    cleared = now(files("2"), writes={"a": files("1"), "b": files("2")})
    (change,) = changes(reached(reach_of()), cleared)
    assert (change.change, [step.runs[0].run_id for step in change.by]) == ("REACHED", ["b"])


def a_hop(number: int, run: str, made: Part) -> Hop:
    step = Step(kind=StepKind.RUN, job=None, runs=(RunBrief(run_id=run),))
    return Hop(
        number=number,
        depth=1,
        after=(),
        step=step,
        inputs=(),
        outputs=(made,),
        certainty=Certainty.EXACT,
        overall=Certainty.EXACT,
        why="",
    )
