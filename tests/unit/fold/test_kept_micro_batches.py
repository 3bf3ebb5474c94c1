"""Retention of micro-batches: those kept one by one, their reports, and the summaries of the others."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import permutations
from typing import TYPE_CHECKING, Any

from headwater_graph.facts.model import RelType, UseKey
from headwater_graph.facts.nodes import IntervalFacts, RetentionFacts, TimeSpan, Variant
from headwater_graph.facts.registers import Props, Registers
from headwater_graph.facts.reports import Report, Used, day_of, days, reports, shown
from headwater_graph.facts.spans import Spans, difference, flat, has, intersection, ranges_of, union
from headwater_graph.facts.summaries import (
    Horizon,
    SummaryFacts,
    SummaryId,
    bounds,
    date_text,
    offsets,
    reports_of,
    summarize,
)

if TYPE_CHECKING:
    import pytest

THIRD = datetime(2013, 1, 3, tzinfo=UTC)
DAY = 15_708
"""Days from the epoch to that one."""
TICK = timedelta(microseconds=1)
READ, WROTE = UseKey(RelType.CONSUMED, "departed", 0), UseKey(RelType.PRODUCED, "enriched", 1)


def registers(time: datetime | None = THIRD, run: str = "r1", stamp: str = "1") -> Registers:
    """Registers of a micro-batch."""
    out: Registers = {"provenance": (stamp, "OBSERVED")}
    if time is not None:
        out["processing_time"] = (stamp, time)
    if run:
        out["run"] = (stamp, {"run_id": run, "_run": f"key of {run}"})
    return out


def kafka(start: int = 0, end: int = 10, stamp: str = "1") -> Registers:
    """Registers of a use of two partitions' offsets."""
    cell: Props = {"position": "kafka", "partitions": [0, 3], "from": [start, 1], "to_exclusive": [end, 2]}
    return {"position": (stamp, cell)}


def variant(stamp: str = "1", *, uses: dict[UseKey, Registers] | None = None, **of: Any) -> Variant:
    return Variant(registers(stamp=stamp, **of), {READ: kafka(stamp=stamp)} if uses is None else uses)


def interval(*variants: Variant, batch_id: int = 0) -> IntervalFacts:
    return IntervalFacts({}, "query", batch_id, {str(number): one for number, one in enumerate(variants)})


SECOND_OF_JANUARY = RetentionFacts({}, drop_before=THIRD - TICK)
THIRD_OF_JANUARY = RetentionFacts({}, summarize_before=THIRD)
BOTH = RetentionFacts({}, summarize_before=THIRD + timedelta(days=2), drop_before=THIRD)


HORIZONS_OF_SCOPES: list[tuple[list[RetentionFacts], Horizon]] = [
    ([], Horizon(None, None)),
    ([RetentionFacts({})], Horizon(None, None)),
    ([THIRD_OF_JANUARY], Horizon(DAY, None)),
    ([SECOND_OF_JANUARY], Horizon(DAY - 1, DAY - 1)),
    ([SECOND_OF_JANUARY, THIRD_OF_JANUARY], Horizon(DAY, DAY - 1)),
    ([BOTH, THIRD_OF_JANUARY, SECOND_OF_JANUARY], Horizon(DAY + 2, DAY)),
]


def test_of_several_scopes_the_latest_days_count(subtests: pytest.Subtests) -> None:
    for scopes, expected in HORIZONS_OF_SCOPES:
        with subtests.test(scopes=scopes):
            assert Horizon.of(scopes) == expected


def test_a_later_day_replaces_an_earlier_one_in_either_order() -> None:
    earlier = RetentionFacts({}, summarize_before=THIRD - TICK)
    later = RetentionFacts({}, summarize_before=THIRD, drop_before=THIRD)
    for one, other in ((earlier, later), (later, earlier), (later, RetentionFacts({}))):
        joined = RetentionFacts({}, one.summarize_before, one.drop_before)
        joined.join(other)
        assert joined.properties() == {"summarize_before": THIRD, "drop_before": THIRD}


def other_day() -> Variant:
    return variant(time=THIRD - TICK)


def two_reports() -> Variant:
    """Variant with two reports, one on each of two days."""
    found = variant(stamp="2")
    found.join(other_day())
    return found


KEPT_VARIANTS: list[tuple[Callable[[], list[Variant]], bool]] = [
    (lambda: [variant()], True),
    (lambda: [variant(time=THIRD + timedelta(days=9))], True),
    (lambda: [variant(time=None)], True),
    (lambda: [other_day()], False),
    (lambda: [variant(), other_day()], False),
    (lambda: [two_reports()], False),
]


def test_a_micro_batch_is_kept_if_no_report_of_it_is_of_an_earlier_day(subtests: pytest.Subtests) -> None:
    for number, (variants, kept) in enumerate(KEPT_VARIANTS):
        with subtests.test(number=number):
            found = interval(*variants())
            assert Horizon(DAY).keeps(found) is kept
            assert Horizon().keeps(found) is True
            assert Horizon(DAY).split([found, interval(variant())])[1] == ([] if kept else [found])


SUMMARIZED_DAYS: list[tuple[Horizon, list[int | None]]] = [
    (Horizon(), [None, 0, DAY - 1, DAY, DAY + 1]),
    (Horizon(DAY), [None, 0, DAY - 1, DAY, DAY + 1]),
    (Horizon(DAY + 1, DAY), [DAY, DAY + 1]),
]


def test_a_day_has_a_summary_unless_it_is_dropped(subtests: pytest.Subtests) -> None:
    for horizon, with_summary in SUMMARIZED_DAYS:
        with subtests.test(horizon=horizon):
            assert [day for day in (None, 0, DAY - 1, DAY, DAY + 1) if horizon.has_summary(day)] == with_summary


DAYS: list[tuple[int | None, str]] = [
    (None, ""),
    (0, "1970-01-01"),
    (-1, "1969-12-31"),
    (DAY, "2013-01-03"),
    (DAY - 1, "2013-01-02"),
]


def test_days_count_from_the_epoch(subtests: pytest.Subtests) -> None:
    for day, text in DAYS:
        with subtests.test(day=day):
            assert date_text(day) == text
            if day is not None:
                begin = datetime.fromisoformat(f"{text}T00:00:00+00:00")
                assert [day_of(begin - TICK), day_of(begin), day_of(begin + timedelta(days=1) - TICK)] == [
                    day - 1,
                    day,
                    day,
                ]


def test_what_a_report_states() -> None:
    found = shown(registers(), {WROTE: {}, READ: kafka(4, 9)})
    used = (Used("CONSUMED", "departed", 0, (0, 4, 9, 3, 1, 2)), Used("PRODUCED", "enriched", 1, ()))
    assert found == Report("r1", "key of r1", 1_357_171_200_000_000, used)
    assert (found.day, list(used[0].pieces)) == (DAY, [(0, 4, 9), (3, 1, 2)])
    files: Registers = {"position": ("1", {"position": "files", "file_count": 2})}
    found = shown(registers(time=None, run=""), {READ: files})
    assert found == Report("", "", None, (Used("CONSUMED", "departed", 0, ()),))
    assert found.day is None


PLAIN = '["r1","key of r1",1357171200000000,[["CONSUMED","departed",0,[0,0,10,3,1,2]]]]'


OTHER_REPORTS: dict[str, tuple[Variant, str]] = {
    "run": (variant("2", run="r2"), PLAIN.replace("r1", "r2")),
    "no run": (variant("2", run=""), PLAIN.replace('"r1","key of r1"', '"",""')),
    "time": (variant("2", time=THIRD + TICK), PLAIN.replace("000000,", "000001,")),
    "no time": (variant("2", time=None), PLAIN.replace("1357171200000000", "null")),
    "offsets": (variant("2", uses={READ: kafka(1, stamp="2")}), PLAIN.replace("[0,0,", "[0,1,")),
    "no offsets": (variant("2", uses={READ: {}}), PLAIN.replace("[0,0,10,3,1,2]", "[]")),
    "no use": (variant("2", uses={}), PLAIN.replace('["CONSUMED","departed",0,[0,0,10,3,1,2]]', "")),
    "another use": (
        variant("2", uses={WROTE: {}, READ: kafka(stamp="2")}),
        PLAIN.replace("2]]]", '2]],["PRODUCED","enriched",1,[]]]'),
    ),
}


def test_reports_that_differ_in_run_time_or_offsets_are_all_kept(subtests: pytest.Subtests) -> None:
    """In the text that is stored, so that a summary can still be made of each; the greatest stamp is theirs."""
    for case, (other, text) in OTHER_REPORTS.items():
        with subtests.test(case):
            one, two, again = variant(), other.copy(), variant()
            one.join(other)
            two.join(variant())
            assert one == two
            assert one.registers["_reports"] == ("2", sorted([PLAIN, text]))
            one.join(again)
            one.join(two)
            assert one == two
            assert len(reports(one.registers, one.uses)) == 2
            assert days(one.registers) == {DAY, None if other.registers.get("processing_time") is None else DAY}
            third = variant("3", run="r3")
            one.join(third)
            third.join(two)
            assert one == third
            assert one.registers["_reports"] == ("3", sorted([PLAIN, text, PLAIN.replace("r1", "r3")]))


def test_reports_that_state_the_same_are_one() -> None:
    one, other = variant(), variant("2")
    one.registers["rows_in"] = ("1", 3)
    other.registers["rows_out"] = ("2", 4)
    one.join(other)
    assert "_reports" not in one.registers
    assert reports(one.registers, one.uses) == {shown(registers(), {READ: kafka()})}
    assert days(one.registers) == {DAY}


def test_a_later_report_of_what_is_known_moves_the_stamp_of_all() -> None:
    for order in permutations([variant("1"), variant("2", run="r2"), variant("3", run="r2")]):
        first, second, third = (one.copy() for one in order)
        second.join(third)
        first.join(second)
        assert first.registers["_reports"] == ("3", sorted([PLAIN, PLAIN.replace("r1", "r2")]))
        one_by_one, second, third = (one.copy() for one in order)
        one_by_one.join(second)
        one_by_one.join(third)
        assert one_by_one == first


def test_a_summary_has_every_report_of_its_run_and_day() -> None:
    found = [
        interval(two_reports(), variant(run="r2"), batch_id=4),
        interval(variant(time=THIRD + TICK, uses={READ: kafka(8, 20)}), batch_id=6),
        interval(variant(time=None), batch_id=7),
    ]
    assert len(reports_of(found[0])) == 3
    summaries = summarize(found, Horizon(DAY + 1))
    first, second = SummaryId("query", "key of r1", DAY), SummaryId("query", "key of r2", DAY)
    assert set(summaries) == {first, second, first._replace(day=DAY - 1), first._replace(day=None)}
    assert summaries[first] == SummaryFacts(
        "r1", [(4, 5), (6, 7)], TimeSpan(THIRD, THIRD + TICK), {READ: {0: [(0, 20)], 3: [(1, 2)]}}
    )
    assert summaries[second].run_id == "r2"
    assert summaries[first._replace(day=None)].seen == TimeSpan()
    assert set(summarize(found, Horizon(DAY + 1, DAY))) == {first, second}


def test_summaries_join() -> None:
    one = SummaryFacts("", [(4, 5)], TimeSpan(THIRD, THIRD), {READ: {0: [(0, 5)]}})
    one.join(SummaryFacts("r1", [(5, 6)], TimeSpan(THIRD - TICK, THIRD), {READ: {0: [(5, 7)]}, WROTE: {1: [(1, 2)]}}))
    joined = SummaryFacts("r1", [(4, 6)], TimeSpan(THIRD - TICK, THIRD), {READ: {0: [(0, 7)]}, WROTE: {1: [(1, 2)]}})
    assert one == joined
    one.join(SummaryFacts())
    assert one == joined
    empty = SummaryFacts()
    empty.join(one)
    assert empty == joined


def test_a_summary_counts_what_it_has_and_what_it_lacks() -> None:
    assert bounds([(2, 5), (7, 8)]) == {
        "batches": 4,
        "first_batch": 2,
        "last_batch": 7,
        "missing": 2,
        "batch_starts": [2, 7],
        "batch_ends": [5, 8],
    }
    assert offsets({}) == {}
    assert offsets({2: [(1, 2)], 0: [(3, 5), (7, 10)]}) == {
        "partitions": [0, 0, 2],
        "from": [3, 7, 1],
        "to_exclusive": [5, 10, 2],
        "offsets": 6,
        "missing": 2,
    }


TOUCHING_RANGES: list[tuple[list[tuple[int, int, int]], Spans]] = [
    ([], {}),
    ([(0, 3, 3), (0, 4, 3)], {}),
    ([(0, 3, 3), (0, 4, 6), (1, 0, 0), (2, 0, 1)], {0: [(4, 6)], 2: [(0, 1)]}),
    ([(1, 5, 7), (0, 5, 7), (1, 7, 9)], {0: [(5, 7)], 1: [(5, 9)]}),
    ([(0, 0, 9), (0, 2, 3), (0, 9, 10), (0, 11, 12)], {0: [(0, 10), (11, 12)]}),
]


def test_ranges_that_touch_are_one(subtests: pytest.Subtests) -> None:
    for pieces, expected in TOUCHING_RANGES:
        with subtests.test(pieces=pieces):
            assert union(pieces) == expected
            assert list(union(pieces)) == sorted(expected)
            assert ranges_of((start, end) for partition, start, end in pieces if partition == 0) == expected.get(0, [])
            assert union(flat(expected)) == expected


COMMON_RANGES: list[tuple[Spans, Spans, Spans, Spans]] = [
    ({}, {0: [(0, 1)]}, {}, {}),
    ({0: [(0, 10)]}, {0: [(0, 10)]}, {0: [(0, 10)]}, {}),
    ({0: [(0, 10)]}, {0: [(0, 4)]}, {0: [(0, 4)]}, {0: [(4, 10)]}),
    ({0: [(0, 3), (5, 9)]}, {0: [(3, 5)]}, {}, {0: [(0, 3), (5, 9)]}),
    (
        {0: [(0, 10)], 1: [(0, 5)]},
        {0: [(2, 4), (8, 12)], 2: [(0, 5)]},
        {0: [(2, 4), (8, 10)]},
        {0: [(0, 2), (4, 8)], 1: [(0, 5)]},
    ),
]


def test_ranges_of_both_and_of_the_first_alone(subtests: pytest.Subtests) -> None:
    for one, other, both, alone in COMMON_RANGES:
        with subtests.test(one=one, other=other):
            assert intersection(one, other) == intersection(other, one) == both
            assert difference(one, other) == alone


def test_a_range_has_its_start_and_not_its_end() -> None:
    assert [number for number in range(9) if has([(1, 3), (5, 6)], number)] == [1, 2, 5]
    assert has([], 0) is False
