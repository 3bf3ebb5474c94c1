"""Spread of a change on any small graph: the nodes reached by definition, never more, and the worst of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater_analysis.impact import Cause, ChangeType, SchemaChange, default_policy
from headwater_analysis.impact.graph import AssetFacts, Feed, StoredColumnEdge, _each_once
from headwater_analysis.impact.moves import ChangeStart
from headwater_analysis.impact.policy import SEVERITIES, Severity, default_policy_text, parse_policy
from headwater_analysis.impact.policy_inputs import ConsumerInput, InputGroup, JobInput, SeverityInputs
from headwater_analysis.impact.spread import HitStep, ImpactSpread, spread

# Datasets 0 to 4; dataset d has columns 10 d + 11 and 10 d + 12.
DATASETS = range(5)
COLUMNS = [10 * dataset + 10 + number for dataset in DATASETS for number in (1, 2)]
DIRECT = ("COPY", "CAST", "DERIVE", "AGGREGATE", "HASH", "EXTERNAL", "UNKNOWN")
CHOICE = ("CONDITIONAL", "WINDOW_DEPENDENCY")
ROWS = ("FILTER_DEPENDENCY", "JOIN_DEPENDENCY", "GROUP_DEPENDENCY", "SORT_DEPENDENCY")


class Fed(NamedTuple):
    """A Feed whose parts have names."""

    source: int
    target: int
    edge: int
    job: str


@dataclass
class Picture:
    """A graph in memory. Each edge has a job of its own, and every column edge the FEEDS that goes with it."""

    edges: list[StoredColumnEdge] = field(default_factory=list)
    fed: list[Fed] = field(default_factory=list)
    silent: set[str] = field(default_factory=set)
    known: dict[int, SeverityInputs] = field(default_factory=dict)
    critical: dict[str, JobInput] = field(default_factory=dict)
    asked: set[tuple[int, InputGroup]] = field(default_factory=set)

    def column_edges(self, nodes: Sequence[int], /) -> Iterable[StoredColumnEdge]:
        return [edge for edge in self.edges if edge.source in nodes]

    def lookups(self, edges: Sequence[int], /) -> dict[int, list[int]]:
        return {}

    def feeds(self, nodes: Sequence[int], /) -> Iterable[Feed]:
        return [feed for feed in self.fed if feed.source in nodes]

    def unseen(self, made: Iterable[tuple[str, int]], /) -> set[tuple[str, int]]:
        return {pair for pair in made if pair[0] in self.silent}

    def facts(self, nodes: Sequence[int], /) -> dict[int, AssetFacts]:
        return {node: AssetFacts(f"{node:02}", dataset_of(node), "TABLE", "") for node in nodes}

    def inputs(self, nodes: Sequence[int], groups: Iterable[InputGroup], /) -> dict[int, SeverityInputs]:
        self.asked |= {(node, group) for node in nodes for group in groups}
        return {node: self.known.get(node, SeverityInputs()) for node in nodes}

    def critical_jobs(self, jobs: Iterable[str], /) -> dict[str, JobInput]:
        return {job: self.critical[job] for job in jobs if job in self.critical}


def dataset_of(node: int) -> int:
    return node if node < 10 else (node - 10) // 10


@st.composite
def pictures(draw: st.DrawFn) -> Picture:
    picture = Picture()
    moves = draw(
        st.lists(st.tuples(st.sampled_from(COLUMNS), st.sampled_from(COLUMNS), st.integers(0, 12)), max_size=14)
    )
    for number, (source, target, kind) in enumerate(moves):
        job = f"j{number}"
        if kind < 7:
            edge = StoredColumnEdge(source, target, number, False, True, DIRECT[kind], kind == 4, job)
        elif kind < 9:
            edge = StoredColumnEdge(source, target, number, False, False, CHOICE[kind - 7], False, job)
        else:
            edge = StoredColumnEdge(source, dataset_of(target), number, True, False, ROWS[kind - 9], False, job)
        picture.edges.append(edge)
        picture.fed.append(Fed(dataset_of(source), dataset_of(target), 100 + number, job))
    pairs = draw(st.lists(st.tuples(st.sampled_from(DATASETS), st.sampled_from(DATASETS), st.booleans()), max_size=5))
    for number, (upper, lower, silent) in enumerate(pairs):
        picture.fed.append(Fed(upper, lower, 200 + number, f"s{number}"))
        if silent:
            picture.silent.add(f"s{number}")
    return picture


def reachable(picture: Picture, starts: Iterable[int]) -> set[int]:
    """By definition: everything that some edge leads to, from a column by way of its dataset too."""
    seen, waiting = set(starts), list(starts)
    while waiting:
        node = waiting.pop()
        following = [edge.target for edge in picture.edges if edge.source == node]
        following += [feed.target for feed in picture.fed if feed.source == dataset_of(node)]
        for target in following:
            if target not in seen:
                seen.add(target)
                waiting.append(target)
    return seen


def spread_of(
    picture: Picture, node: int, change: ChangeType, schema: SchemaChange | None, depth: int | None = None
) -> ImpactSpread:
    start = ChangeStart((node,), (), dataset_of(node), "TABLE")
    return spread(picture, start, change, schema, default_policy(), depth=depth)


CHANGES = st.sampled_from(
    [
        *((ChangeType.SCHEMA_BREAKING, schema) for schema in SchemaChange),
        (ChangeType.SCHEMA_COMPATIBLE, SchemaChange.RETYPED),
        *((change, None) for change in ChangeType if not change.of_schema),
    ]
)


@given(pictures(), st.sampled_from([*COLUMNS, *DATASETS]), CHANGES)
def test_nothing_is_hit_that_is_not_reachable(
    picture: Picture, node: int, change: tuple[ChangeType, SchemaChange | None]
) -> None:
    hit = spread_of(picture, node, *change)
    assert hit.worst.keys() <= reachable(picture, [node]) - {node}
    jobs = {edge.job for edge in picture.edges} | {feed.job for feed in picture.fed}
    assert hit.jobs.keys() <= jobs


@given(pictures(), st.sampled_from([*COLUMNS, *DATASETS]), CHANGES)
def test_every_path_is_one(picture: Picture, node: int, change: tuple[ChangeType, SchemaChange | None]) -> None:
    hit = spread_of(picture, node, *change)
    ends = {edge.edge: (edge.source, edge.target) for edge in picture.edges}
    ends |= {feed.edge: (feed.source, feed.target) for feed in picture.fed}
    jobs = {edge.edge: edge.job for edge in picture.edges} | {feed.edge: feed.job for feed in picture.fed}
    for reached, visit in hit.worst.items():
        path = hit.walk.path(visit)
        assert len(path) == hit.walk.found[visit].hops
        assert [step.source.node for step in path] == [node, *(step.target.node for step in path[:-1])]
        assert path[-1].target.node == reached
        assert all(step.source.propagates for step in path)
        for step in path:
            source, target = ends[step.edge]
            assert target == step.target.node
            # A FEEDS may be followed from a column of the dataset it leaves.
            assert source in (step.source.node, dataset_of(step.source.node))
            assert HitStep(*step.facts).job == jobs[step.edge]


@given(pictures(), st.sampled_from(COLUMNS))
def test_a_removed_column_breaks_exactly_what_is_derived_from_it(picture: Picture, node: int) -> None:
    """Check values that are surely made of it (UNKNOWN is possible, not certain), and choices, at any distance."""
    sure = Picture([edge for edge in picture.edges if edge.kind != "UNKNOWN" and not edge.whole])
    derived = reachable(sure, [node]) - {node}
    hit = spread_of(picture, node, ChangeType.SCHEMA_BREAKING, SchemaChange.REMOVED)
    broken = {each for each, visit in hit.worst.items() if SEVERITIES[visit.rank] is Severity.BREAKING}
    through_unknown = reachable(Picture([edge for edge in picture.edges if not edge.whole]), [node])
    assert derived <= {each for each in broken if each >= 10} <= through_unknown


@given(pictures(), st.sampled_from(COLUMNS), st.sampled_from(SchemaChange))
def test_what_nobody_uses_can_change(picture: Picture, node: int, schema: SchemaChange) -> None:
    picture.edges = [edge for edge in picture.edges if edge.source != node]
    picture.silent.clear()
    assert spread_of(picture, node, ChangeType.SCHEMA_BREAKING, schema).worst == {}


@given(pictures(), st.sampled_from(COLUMNS))
def test_a_dataset_whose_readers_tell_nothing_may_be_hit(picture: Picture, node: int) -> None:
    hit = spread_of(picture, node, ChangeType.SCHEMA_BREAKING, SchemaChange.REMOVED)
    unseen = {
        feed.target
        for feed in picture.fed
        if feed.source == dataset_of(node) and feed.job in picture.silent and feed.target != node
    }
    assert unseen <= hit.worst.keys()


@given(pictures(), st.sampled_from([*COLUMNS, *DATASETS]), CHANGES, st.integers(1, 3))
def test_depth_cuts_and_says_so(
    picture: Picture, node: int, change: tuple[ChangeType, SchemaChange | None], depth: int
) -> None:
    whole, cut = spread_of(picture, node, *change), spread_of(picture, node, *change, depth)
    near = {visit for visit, found in whole.walk.found.items() if found.hops <= depth}
    assert cut.walk.found.keys() == near
    assert cut.walk.truncated == (len(near) < len(whole.walk.found))
    assert cut.jobs.keys() <= whole.jobs.keys()


@given(pictures(), st.sampled_from(DATASETS))
def test_late_data_makes_late_what_is_fed(picture: Picture, node: int) -> None:
    hit = spread_of(picture, node, ChangeType.FRESHNESS_BREACH, None)
    fed = reachable(Picture(fed=picture.fed), [node]) - {node}
    assert hit.worst.keys() == fed
    assert {HitStep(*found.step.facts).cause for found in hit.walk.found.values()} <= {Cause.FLOW}


@given(pictures(), st.sampled_from(COLUMNS), st.randoms())
def test_the_order_of_rows_makes_no_difference(picture: Picture, node: int, random: object) -> None:
    before = spread_of(picture, node, ChangeType.DATA_INCORRECT, None)
    picture.edges.reverse()
    picture.fed.reverse()
    after = spread_of(picture, node, ChangeType.DATA_INCORRECT, None)
    assert {n: before.walk.path(visit) for n, visit in before.worst.items()} == {
        n: after.walk.path(visit) for n, visit in after.worst.items()
    }


def test_of_two_severities_of_one_column_the_worse_one_leads_on(subtests: pytest.Subtests) -> None:
    """11 is a copy of 21, and made of it by code that nobody sees into: the copy hits 0, which takes in itself."""
    for backwards in [False, True]:
        with subtests.test(backwards=backwards):
            picture = Picture(
                [
                    StoredColumnEdge(21, 11, 0, False, True, "COPY", False, "j0"),
                    StoredColumnEdge(21, 11, 1, False, True, "EXTERNAL", False, "j1"),
                ],
                [Fed(1, 0, 100, "j0"), Fed(1, 0, 101, "j1"), Fed(0, 0, 200, "s0")],
                {"s0"},
            )
            if backwards:
                picture.edges.reverse()
            hit = spread_of(picture, 21, ChangeType.DATA_INCORRECT, None)
            [last] = [found for visit, found in hit.walk.found.items() if visit == hit.worst[0]]
            assert last.step.source == hit.worst[11]


def test_the_worst_way_counts_not_the_shortest() -> None:
    """11 ⇒ 21 by a sort of the whole dataset and at once; by 31 its value is copied."""
    picture = Picture(
        [
            StoredColumnEdge(11, 21, 1, False, True, "UNKNOWN", False, "quick"),
            StoredColumnEdge(11, 31, 2, False, True, "COPY", False, "slow"),
            StoredColumnEdge(31, 21, 3, False, True, "COPY", False, "slower"),
        ]
    )
    hit = spread_of(picture, 11, ChangeType.SCHEMA_BREAKING, SchemaChange.REMOVED)
    assert SEVERITIES[hit.worst[21].rank] is Severity.BREAKING
    assert hit.hops(21) == 2
    jobs = {job: SEVERITIES[each.rank] for job, each in hit.jobs.items()}
    assert jobs == {"quick": Severity.DEGRADED, "slow": Severity.BREAKING, "slower": Severity.BREAKING}


def test_of_two_ways_that_are_as_bad_the_direct_one_counts() -> None:
    """11 decides at once which value 21 has; by 31 it is the value."""
    picture = Picture(
        [
            StoredColumnEdge(11, 21, 1, False, False, "CONDITIONAL", False, "quick"),
            StoredColumnEdge(11, 31, 2, False, True, "COPY", False, "slow"),
            StoredColumnEdge(31, 21, 3, False, True, "COPY", False, "slower"),
        ]
    )
    hit = spread_of(picture, 11, ChangeType.BACKFILL_RESTATEMENT, None)
    assert {visit.rank for visit in hit.walk.found if visit.node == 21} == {hit.worst[21].rank}
    assert not hit.worst[21].indirect
    assert hit.hops(21) == 2


def test_of_two_ways_that_are_as_bad_and_as_direct_the_shorter_one_counts() -> None:
    """Though the change ends there, and goes on the longer way."""
    rule = '[[rule]]\nchange = ["DATA_INCORRECT"]\nseverity = "TAINTED"\nreason = "r"\naction = "a"\npropagate = {}\n'
    rules = rule.format('false\nkind = ["UNKNOWN"]') + rule.format("true")
    policy = parse_policy(rules + default_policy_text(), "policy.toml")
    picture = Picture(
        [
            StoredColumnEdge(11, 21, 1, False, True, "UNKNOWN", False, "quick"),
            StoredColumnEdge(11, 31, 2, False, True, "COPY", False, "slow"),
            StoredColumnEdge(31, 21, 3, False, True, "COPY", False, "slower"),
        ]
    )
    start = ChangeStart((11,), (), dataset_of(11), "TABLE")
    hit = spread(picture, start, ChangeType.DATA_INCORRECT, None, policy, depth=None)
    ways = {visit.propagates: found.hops for visit, found in hit.walk.found.items() if visit.node == 21}
    assert ways == {False: 1, True: 2}
    assert hit.hops(21) == 1


def test_a_job_is_hit_as_badly_as_the_worst_of_its_steps(subtests: pytest.Subtests) -> None:
    for kinds in [("UNKNOWN", "COPY"), ("COPY", "UNKNOWN")]:
        with subtests.test(kinds=kinds):
            targets = zip((21, 31), kinds, strict=True)
            picture = Picture([StoredColumnEdge(11, to, to, False, True, kind, False, "j") for to, kind in targets])
            hit = spread_of(picture, 11, ChangeType.SCHEMA_BREAKING, SchemaChange.REMOVED)
            assert {SEVERITIES[hit.worst[node].rank] for node in (21, 31)} == {Severity.DEGRADED, Severity.BREAKING}
            assert SEVERITIES[hit.jobs["j"].rank] is Severity.BREAKING


COPIED = [StoredColumnEdge(11, 21, 1, False, True, "COPY", False, "j1")]
COPIED += [StoredColumnEdge(21, 31, 2, False, True, "COPY", False, "j2")]


def test_a_raise_changes_the_severity_and_not_where_the_change_goes() -> None:
    """31 is read by a critical consumer; what nobody depends on stays as the rules have it."""
    board = SeverityInputs(consumers=(ConsumerInput("board", criticality="Tier-1"),))
    plain, raised = (
        spread_of(Picture(COPIED, known=known), 11, ChangeType.DATA_INCORRECT, None) for known in ({}, {31: board})
    )
    assert {SEVERITIES[plain.rank(node)] for node in plain.worst} == {Severity.TAINTED}
    assert {node: SEVERITIES[raised.rank(node)] for node in raised.worst} == {21: "TAINTED", 31: "CRITICAL"}
    assert raised.worst == plain.worst
    assert [node for *_, node in raised.ordered()] == [31, 21]
    # A job is as bad as the worst that it passes on, raised.
    assert {key: SEVERITIES[job.rank] for key, job in raised.jobs.items()} == {"j1": "TAINTED", "j2": "CRITICAL"}


def test_a_critical_job_raises_what_it_makes_alone() -> None:
    picture = Picture(COPIED, critical={"j1": JobInput("j1", "high")})
    hit = spread_of(picture, 11, ChangeType.DATA_INCORRECT, None)
    assert {node: SEVERITIES[hit.rank(node)] for node in hit.worst} == {21: "CRITICAL", 31: "TAINTED"}


def test_of_two_jobs_that_make_it_the_critical_one_counts() -> None:
    again = StoredColumnEdge(11, 21, 3, False, True, "COPY", False, "z")
    for critical in ("j1", "z"):
        picture = Picture([*COPIED, again], critical={critical: JobInput(critical, "high")})
        hit = spread_of(picture, 11, ChangeType.DATA_INCORRECT, None)
        assert SEVERITIES[hit.rank(21)] is Severity.CRITICAL


def test_only_what_the_policy_asks_is_looked_up() -> None:
    """BREAKING is raised by nothing, and DATA_INCORRECT by nothing that is declared of the dataset."""
    picture = Picture(COPIED)
    spread_of(picture, 11, ChangeType.SCHEMA_BREAKING, SchemaChange.REMOVED)
    assert {node for node, _ in picture.asked} == set()
    spread_of(picture, 11, ChangeType.DATA_INCORRECT, None)
    assert picture.asked == {
        (node, group) for node in (21, 31) for group in (InputGroup.CONSUMERS, InputGroup.JOBS, InputGroup.PUBLICATION)
    }


def test_a_job_that_fails_writes_nothing_at_all() -> None:
    """It reads 11 into 21, and writes dataset 2 too; what is made of dataset 2 gets nothing new."""
    picture = Picture(
        [StoredColumnEdge(11, 21, 1, False, True, "COPY", False, "j")],
        [Fed(0, 1, 2, "j"), Fed(0, 2, 3, "j"), Fed(2, 3, 4, "later"), Fed(0, 4, 5, "other")],
    )
    hit = spread_of(picture, 11, ChangeType.SCHEMA_BREAKING, SchemaChange.REMOVED)
    found = {node: (HitStep(*hit.walk.found[visit].step.facts).cause, visit.rank) for node, visit in hit.worst.items()}
    breaking, degraded = Severity.BREAKING.rank, Severity.DEGRADED.rank
    assert found == {
        21: (Cause.VALUE, breaking),
        1: (Cause.JOB, breaking),
        2: (Cause.JOB, breaking),
        3: (Cause.FLOW, degraded),
    }


@pytest.mark.parametrize("order", [1, -1])
def test_of_edges_under_several_names_a_sure_one_is_shown(order: int) -> None:
    edges = [((1, 2, 7, "j"), True), ((1, 2, 8, "j"), False), ((1, 3, 9, "j"), True), ((1, 2, 5, "k"), True)]
    feeds, possible = zip(*edges[::order], strict=True)
    assert sorted(_each_once([*feeds], possible)) == [(1, 2, 5, "k"), (1, 2, 8, "j"), (1, 3, 9, "j")]
    assert _each_once([*feeds[:1]], possible[:1]) == [*feeds[:1]]
