"""Parts that are removed from a scope: whole ones, and offsets, files, micro-batches and times of others."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec
import pytest

from headwater_analysis.errors import QuestionError
from headwater_analysis.incidents.difference import scope_change
from headwater_graph.scope_difference import lies_within
from headwater_schemas.events import DatasetRef, IncidentClock, IncidentScope, OffsetRange
from headwater_schemas.identity import scope_text

RAW, LAKE = DatasetRef("kafka://k", "raw"), DatasetRef("file", "/lake")


def offsets(*ranges: tuple[int, int, int], of: DatasetRef = RAW) -> IncidentScope:
    return IncidentScope(dataset=of, offsets=tuple(OffsetRange(*each) for each in ranges))


def files(*names: str) -> IncidentScope:
    return IncidentScope(dataset=LAKE, files=names)


def batches(first: int | None = None, last: int | None = None, query: str = "q") -> IncidentScope:
    return IncidentScope(query=query, from_batch=first, to_batch=last)


def hours(since: int | None, until: int | None, clock: IncidentClock = IncidentClock.PROCESSING) -> IncidentScope:
    begin, end = (None if hour is None else datetime(2026, 1, 1, hour, tzinfo=UTC) for hour in (since, until))
    return IncidentScope(dataset=RAW, since=begin, until=end, clock=clock)


def column(part: IncidentScope) -> IncidentScope:
    return msgspec.structs.replace(part, column="a")


@pytest.mark.parametrize(
    ("part", "taken", "rest"),
    [
        (offsets((0, 0, 20)), offsets((0, 0, 20)), []),
        (offsets((0, 0, 20)), offsets((0, 5, 8)), [offsets((0, 0, 5), (0, 8, 20))]),
        (offsets((0, 0, 20), (1, 0, 9)), offsets((0, 0, 30)), [offsets((1, 0, 9))]),
        (offsets((0, 0, 20)), offsets((0, 0, 99), (1, 0, 5)), []),
        (column(offsets((0, 0, 20))), column(offsets((0, 0, 5))), [column(offsets((0, 5, 20)))]),
        (files("a", "b"), files("b", "c"), [files("a")]),
        (files("a"), files("a", "b"), []),
        (batches(), batches(5, 6), [batches(None, 4), batches(7, None)]),
        (batches(), batches(None, 6), [batches(7, None)]),
        (batches(2, 6), batches(5, None), [batches(2, 4)]),
        (batches(2, 6), batches(), []),
        (hours(10, 14), hours(11, 12), [hours(10, 11), hours(12, 14)]),
        (hours(10, None), hours(11, 12), [hours(10, 11), hours(12, None)]),
        (hours(10, 14), hours(None, 12), [hours(12, 14)]),
    ],
)
def test_the_rest_of_a_part(part: IncidentScope, taken: IncidentScope, rest: list[IncidentScope]) -> None:
    other = batches(1, 2, query="other")
    change = scope_change({scope_text(each): each for each in (other, part)}, [taken])
    assert (change.removed, list(change.added)) == ((part,), rest)


@pytest.mark.parametrize(
    ("part", "taken"),
    [
        (offsets((0, 0, 20)), offsets((0, 20, 30))),
        (offsets((0, 0, 20)), offsets((1, 0, 20))),
        (offsets((0, 0, 20)), offsets((0, 0, 20), of=LAKE)),
        (offsets((0, 0, 20)), column(offsets((0, 0, 20)))),
        (IncidentScope(dataset=RAW), offsets((0, 0, 20))),
        (files("a"), files("b")),
        (batches(2, 6), batches(7, None)),
        (batches(2, 6), batches(2, 6, query="other")),
        (hours(10, 14), hours(14, 15)),
        (hours(10, 14), hours(10, 14, IncidentClock.EVENT)),
        (IncidentScope(dataset=RAW), hours(10, 14)),
    ],
)
def test_a_part_of_which_nothing_can_be_removed(part: IncidentScope, taken: IncidentScope) -> None:
    with pytest.raises(QuestionError, match="No part of the scope is") as caught:
        scope_change({scope_text(part): part}, [taken])
    assert caught.value.field == "removed"


def test_several_are_removed_one_after_the_other() -> None:
    """Two parts that hold the offsets lose them; a rest is cut again; one that is in the scope already isn't added."""
    scope = {scope_text(each): each for each in (offsets((0, 0, 20)), offsets((0, 10, 40)), offsets((0, 0, 5)))}
    change = scope_change(scope, [offsets((0, 10, 20)), offsets((0, 5, 10)), offsets((0, 30, 35))])
    assert set(change.removed) == {offsets((0, 0, 20)), offsets((0, 10, 40))}
    assert change.added == (offsets((0, 20, 30), (0, 35, 40)),)


def test_the_rest_of_a_part_lies_within_it() -> None:
    whole = offsets((0, 0, 20))
    assert lies_within(offsets((0, 5, 8)), whole)
    assert not lies_within(offsets((0, 5, 28)), whole)
    assert not lies_within(column(offsets((0, 5, 8))), whole)
