"""Winner of two values, labels and properties, and requirements of reading back."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import combinations, permutations

import pytest

from headwater_graph.facts.model import BY_QUERY, IN_SEGMENTS, STORED_LABELS, Label, RelType, UseKey
from headwater_graph.facts.nodes import (
    MADE_FROM,
    POSSIBLE,
    UNCOMMITTED,
    WIDE,
    Batches,
    Evidence,
    Link,
    TimeSpan,
    flow,
    join_uses,
)
from headwater_graph.facts.owners import settled
from headwater_graph.facts.properties import flatten, parse, stamped
from headwater_graph.facts.registers import PROVENANCE_RANKS, Cell, Registers, beats, canonical_value
from headwater_graph.fold import fold
from headwater_schemas.events import Provenance
from support.events import full_interval_event, full_plan_event, full_run_event, with_body

NEW_YEAR = datetime(2013, 1, 1, tzinfo=UTC)


def test_the_labels_that_nodes_in_the_database_have() -> None:
    assert {"Interval", "Conflict"} == IN_SEGMENTS
    assert {"Interval", "Conflict", "Summary"} == BY_QUERY
    stored = {label.value for label in Label} - IN_SEGMENTS | {"Segment"}
    assert {f"Hw{label}" for label in stored} == STORED_LABELS


def test_a_state_gives_way_to_a_later_one_of_its_run_whatever_the_stamps_are() -> None:
    ranks = (("UNKNOWN",), ("OTHER",), ("START",), ("RUNNING",), ("COMPLETE", "FAIL", "ABORT"))
    for lower, higher in combinations(ranks, 2):
        for state, later in ((one, other) for one in lower for other in higher):
            assert beats("state", ("1", {"state": later}), ("2", {"state": state})), (state, later)
            assert not beats("state", ("2", {"state": state}), ("1", {"state": later})), (state, later)
    for one, other in combinations(ranks[-1], 2):
        assert beats("state", ("2", {"state": one}), ("1", {"state": other}))
        assert beats("state", ("2", {"state": other}), ("1", {"state": one}))
    assert beats("other", ("2", {"state": "START"}), ("1", {"state": "RUNNING"})), "another register of that form"


def test_of_several_starts_of_a_run_the_first_counts() -> None:
    first, again = NEW_YEAR, NEW_YEAR.replace(second=6)
    assert beats("started_at", ("2a", first), ("2b", again))
    assert not beats("started_at", ("2b", again), ("2a", first))
    assert beats("started_at", ("2b", first), ("2a", first)), "the same time: the stamp decides"
    assert beats("started_at", ("2a", again), ("1b", first)), "an observed one before a reconciled one"
    assert beats("ended_at", ("2b", again), ("2a", first)), "another register of times"


def test_how_certain_each_provenance_is() -> None:
    assert [PROVENANCE_RANKS[one] for one in (Provenance.UNKNOWN, Provenance.RECONCILED, Provenance.OBSERVED)] == [
        0,
        1,
        2,
    ]


ORDERED_VALUES: list[tuple[Cell, Cell]] = [
    ("a", "b"),
    ("z", "é"),
    ([1, 2], [1, 3]),
    (["a"], ["b"]),
    ({"b": "x", "a": "1"}, {"a": "2", "b": "x"}),
    (NEW_YEAR, NEW_YEAR.replace(microsecond=1)),
    ({"a": NEW_YEAR}, {"a": NEW_YEAR.replace(second=1)}),
    (False, True),
]


def test_of_two_values_with_one_stamp_the_greater_wins(subtests: pytest.Subtests) -> None:
    for lesser, greater in ORDERED_VALUES:
        with subtests.test(lesser=lesser):
            assert beats("any", ("1", greater), ("1", lesser))
            assert not beats("any", ("1", lesser), ("1", greater))
            assert not beats("any", ("1", greater), ("1", greater))
            assert beats("any", ("2", lesser), ("1", greater))


def test_a_value_that_no_property_can_have_is_refused() -> None:
    with pytest.raises(TypeError, match="object is no property value"):
        canonical_value(object())  # type: ignore[arg-type]


def test_a_run_has_its_job_in_one_register_whoever_reports_it() -> None:
    [of_micro_batches] = fold([full_interval_event()]).runs.values()
    assert of_micro_batches.registers.keys() == {"job", "query_id"}
    run = full_run_event()
    assert run.run is not None
    [of_run] = [each for each in fold([run]).runs.values() if each.identity["run_id"] == run.run.run_id]
    assert of_run.registers.keys() > {"job", "query_id"}


def test_facets_are_listed_by_name() -> None:
    registers: Registers = {f"facet:{name}": ("1", f"of {name}") for name in ("b", "c", "a")}
    assert flatten(registers) == {"facet_names": ["a", "b", "c"], "facets": ["of a", "of b", "of c"]}
    assert flatten({}) == {}
    assert stamped({}) == {}


def test_what_has_no_stamp_was_not_written_by_a_materializer() -> None:
    for stored in ({"rows": 3}, {"facet_names": ["a"], "facets": ["{}"]}):
        with pytest.raises(ValueError, match="registers without a stamp"):
            parse(stored, {"rows": "rows"})
    assert parse({"rows": 3, "unknown": 4, "_stamps": ["2" * 53 + "rows"]}, {"rows": "rows"}) == {"rows": ("2" * 53, 3)}


def test_locks_and_what_an_output_is_not_made_from_state_nothing() -> None:
    assert settled({"key": "k", "_l": 1, "_not_from": ["a"], "_stamps": None}, {}) == {"key": "k"}


DATASETS = ("a", "b", "c")
USE = UseKey(RelType.PRODUCED, "out", 0)
OBSERVED, POSSIBLY, EXCLUDED = Evidence.OBSERVED, Evidence.POSSIBLE, Evidence.EXCLUDED


WIDELY: Registers = {WIDE: ("1", "ALL")}
BOTH_WAYS: Registers = {WIDE: ("1", "SOME")}
FLOWS: list[tuple[Registers, Registers, dict[str, Evidence]]] = [
    # What the input c has, what the output has, and what feeds the output; `job` stands for what goes into the job.
    ({}, {}, dict.fromkeys("abc", OBSERVED)),
    ({}, {POSSIBLE: ("1", True)}, dict.fromkeys("abc", POSSIBLY)),
    ({}, {MADE_FROM: ("1", [])}, dict.fromkeys("abc", EXCLUDED)),
    ({}, {MADE_FROM: ("1", ["a", "d"])}, {"a": OBSERVED, "d": OBSERVED, "b": EXCLUDED, "c": EXCLUDED}),
    ({}, {UNCOMMITTED: ("1", True)}, {}),
    ({}, WIDELY, {"job": POSSIBLY}),
    ({}, BOTH_WAYS, {**dict.fromkeys("abc", OBSERVED), "job": POSSIBLY}),
    (WIDELY, {}, {"a": OBSERVED, "b": OBSERVED, "job": POSSIBLY}),
    (WIDELY, {MADE_FROM: ("1", ["a"])}, {"a": OBSERVED, "b": EXCLUDED, "job": POSSIBLY}),
    (BOTH_WAYS, {}, {**dict.fromkeys("abc", OBSERVED), "job": POSSIBLY}),
]


def test_what_feeds_an_output(subtests: pytest.Subtests) -> None:
    for of_input, registers, expected in FLOWS:
        with subtests.test(of_input=of_input, registers=registers):
            uses: dict[UseKey, Registers] = {
                UseKey(RelType.CONSUMED, key, 0): of_input if key == "c" else {} for key in DATASETS
            }
            links = set(flow("job", {**uses, USE: registers}))
            fed = {link.start: link.evidence for link in links if link.type is RelType.FEEDS}
            assert fed == expected
            into = {link.start for link in links if link.type is RelType.GOES_INTO}
            assert into == (set() if "job" not in fed else {"c"} if of_input else {"a", "b", "c"})


def test_what_is_known_to_feed_an_output_only_grows() -> None:
    """Whatever reports come, in whatever order: the graph takes nothing back."""
    outputs: list[Registers] = [{}, WIDELY, {MADE_FROM: ("1", ["a"])}, {POSSIBLE: ("1", True)}]
    reports: list[dict[UseKey, Registers]] = [{UseKey(RelType.CONSUMED, "c", 0): dict(each)} for each in ({}, WIDELY)]
    reports += [{UseKey(RelType.CONSUMED, "a", 0): {}, USE: each} for each in outputs]
    for order in permutations(reports):
        joined: dict[UseKey, Registers] = {}
        known: set[Link] = set()
        for report in order:
            join_uses(joined, report)
            links = {link for link in flow("job", joined) if link.start == "job" or link.evidence is OBSERVED}
            assert known <= links
            known = links
        assert joined == {
            UseKey(RelType.CONSUMED, "a", 0): {},
            UseKey(RelType.CONSUMED, "c", 0): BOTH_WAYS,
            USE: BOTH_WAYS,
        }


ALL: Registers = {}
LISTED: Registers = {MADE_FROM: ("1", ["b"])}
POSSIBLE_: Registers = {POSSIBLE: ("1", True)}


REPORTS_OF_AN_OUTPUT: list[tuple[Registers, Registers, Registers]] = [
    (ALL, LISTED, ALL),
    (ALL, POSSIBLE_, ALL),
    (LISTED, POSSIBLE_, LISTED),
    (POSSIBLE_, POSSIBLE_, POSSIBLE_),
    (LISTED, {MADE_FROM: ("2", ["c", "a"])}, {MADE_FROM: ("2", ["a", "b", "c"])}),
    (LISTED, {MADE_FROM: ("0", ["a"])}, {MADE_FROM: ("1", ["a", "b"])}),
    ({UNCOMMITTED: ("1", True)}, ALL, ALL),
    ({UNCOMMITTED: ("1", True)}, {UNCOMMITTED: ("2", True)}, {UNCOMMITTED: ("2", True)}),
    (WIDELY, {WIDE: ("2", "ALL")}, {WIDE: ("2", "ALL")}),
    (WIDELY, ALL, BOTH_WAYS),
    (WIDELY, LISTED, BOTH_WAYS),
    (BOTH_WAYS, WIDELY, BOTH_WAYS),
    ({"rows": ("1", 3)}, {"rows": ("2", 4)}, {"rows": ("2", 4)}),
]


def test_reports_of_one_output_add_up(subtests: pytest.Subtests) -> None:
    for one, other, expected in REPORTS_OF_AN_OUTPUT:
        with subtests.test(one=one, other=other):
            for first, second in ((one, other), (other, one)):
                joined = {USE: dict(first)}
                join_uses(joined, {USE: second})
                assert joined == {USE: expected}
                join_uses(joined, {USE: first})
                assert joined == {USE: expected}
            alone: dict[UseKey, Registers] = {}
            join_uses(alone, {USE: one})
            assert alone == {USE: one}
            assert alone[USE] is not one


def test_spans_and_batches_grow_both_ways() -> None:
    later = NEW_YEAR.replace(month=2)
    span, batches = TimeSpan(), Batches()
    assert batches.properties() == {}
    for time, batch in ((None, None), (later, 7), (NEW_YEAR, 3), (None, None)):
        span.see(time, time)
        batches.see(batch, batch)
    assert span == TimeSpan(NEW_YEAR, later)
    assert batches.properties() == {"first_batch": 3, "last_batch": 7}


def test_a_plan_has_the_lineage_of_whichever_event_brought_it() -> None:
    lineage = full_plan_event().plan_event
    assert lineage is not None
    run = with_body("run", plan_digest=lineage.digest)
    mention, brought = fold([run]), fold([full_plan_event()])
    for joined in (mention.join(brought), brought.join(mention)):
        [plan] = joined.plans.values()
        assert plan.lineage == lineage.lineage
        assert plan.job in joined.jobs
