"""Spread of sensitive values: breadth-first search over columns, with the form of the value in each column. Pure.

`walk` goes between visits. A column has a visit for each form of its values, since a longer path may expose more than
the shortest, or continue where the shortest ends. There are few levels and exposures, so the number of visits is a
small multiple of the number of columns.

The spread ends at an aggregate that returns no single row's value over groups at least as large as the threshold, and
at an approval that covers the source. A job that leaves a column out also ends the spread: there is no edge. A hash,
mask, token or encryption doesn't end the spread: equal values can be linked.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import NamedTuple, Protocol

from headwater_analysis.privacy.operations import EXPOSURES, Effect, Exposure, Operation
from headwater_analysis.sensitivity import LEAST_SENSITIVE
from headwater_analysis.walk import Walk, WalkStep, walk


class Ending(StrEnum):
    """End of the spread at a column: an aggregate over groups that are large enough, or a reviewed approval."""

    AGGREGATE = "AGGREGATE"
    APPROVAL = "APPROVAL"


class PrivacyEdge(NamedTuple):
    """An edge of column lineage.

    Attributes:
        source: id of a column.
        target: id of a column, or of a dataset if the edge holds for all of its columns.
        edge: id of the relationship.
        whole: whether the target is a dataset.
        direct: whether the value goes into the target.
        job: key of the job.
        former: whether no current plan has this edge; data that was written before may still be there.
    """

    source: int
    target: int
    edge: int
    whole: bool
    direct: bool
    job: str
    effect: Effect
    former: bool


@dataclass(frozen=True, slots=True)
class DeclaredFacts:
    """Declarations of a column.

    Attributes:
        level: level of the column's declared sensitivity, else of its dataset's; 0: not declared. The greatest if
            several sets declare one.
        smallest_group: minimum number of rows that go into each of its values. The smallest if several sets declare
            one.
        covers, approved: levels of its approval: greatest level of covered sources, and level of the column; 0: no
            approval.
        until: last day of the approval; None: no end.
        classified: whether the column or its dataset has a classification, in the organisation's own words.
    """

    level: int = 0
    smallest_group: int | None = None
    covers: int = 0
    approved: int = 0
    until: str | None = None
    classified: bool = False

    def hides(self, effect: Effect, threshold: int) -> bool:
        """True for a statistic over groups that are large enough to hide single rows."""
        return effect.statistic and self.smallest_group is not None and self.smallest_group >= threshold

    def approves(self, level: int, today: date) -> bool:
        """True if the approval is valid and covers a source of this level."""
        is_over = self.until is not None and self.until < today.isoformat()
        return bool(self.approved) and self.approved < level <= self.covers and not is_over


class PrivacyGraph(Protocol):
    """Queries of `spread` to the graph."""

    def edges(self, nodes: Sequence[int], /) -> Iterable[PrivacyEdge]:
        """Edges that leave these columns, in the same order for equal graphs."""

    def columns(self, datasets: Sequence[int], /) -> Mapping[int, Sequence[int]]:
        """Ids of the columns of these datasets."""

    def declared(self, nodes: Sequence[int], /) -> Mapping[int, DeclaredFacts]:
        """Declarations of these columns; columns without any may be left out."""


class SpreadStep(NamedTuple):
    """Facts of a step."""

    job: str
    operation: Operation
    possible: bool
    former: bool
    ending: Ending | None


class PrivacyVisit(NamedTuple):
    """Visit of a column, or of a whole dataset, that a sensitive value reaches, with the form of the value.

    Attributes:
        node: id of the column or dataset.
        level: sensitivity level of the value.
        exposure: form in which a reader gets the value.
        indirect: whether the path has an INDIRECT step: the value only influences the column.
        start: whether the spread begins here.
        ends: whether the spread ends here.
    """

    node: int
    level: int
    exposure: Exposure
    indirect: bool = False
    start: bool = False
    ends: bool = False


class WorstVisit(NamedTuple):
    """Worst visit of a node, and the reason why the spread ends there; None: it continues."""

    visit: PrivacyVisit
    ending: Ending | None


@dataclass(frozen=True, slots=True)
class PrivacySpread:
    """Spread of sensitive values over the graph.

    Attributes:
        reached: worst visit of each node, by node.
    """

    walk: Walk[PrivacyVisit]
    reached: Mapping[int, WorstVisit]


def spread(
    graph: PrivacyGraph,
    starts: Mapping[int, int],
    *,
    threshold: int,
    today: date,
    depth: int | None = None,
) -> PrivacySpread:
    """Follow sensitive values.

    Args:
        starts: level of each column where the spread begins, by id.
        threshold: minimum number of rows in a group so that a statistic over it ends the spread.
        today: day on which approvals must be valid.
        depth: maximum number of hops; None: all.
    """
    begun = [PrivacyVisit(node, level, Exposure.READABLE, start=True) for node, level in sorted(starts.items())]

    def expand(frontier: Sequence[PrivacyVisit]) -> Iterator[WalkStep[PrivacyVisit]]:
        going = [visit for visit in frontier if not visit.ends]
        edges: dict[int, list[PrivacyEdge]] = defaultdict(list)
        for edge in graph.edges(sorted({visit.node for visit in going})):
            edges[edge.source].append(edge)
        wholes = {visit.node for visit in going if not visit.start} - edges.keys()
        parts = graph.columns(sorted(wholes)) if wholes else {}
        facts = graph.declared(sorted({edge.target for each in edges.values() for edge in each if not edge.whole}))
        for visit in going:
            for column in parts.get(visit.node, ()):
                yield WalkStep(visit, visit._replace(node=column), -1, 0)
            for edge in edges.get(visit.node, ()):
                yield _step(visit, edge, facts.get(edge.target, DeclaredFacts()), threshold, today)

    walked = walk(begun, expand, depth=depth)
    reached: dict[int, WorstVisit] = {}
    for visit, found in walked.found.items():
        one = WorstVisit(visit, found.step.facts[4] if found.step.facts else None)
        known = reached.get(visit.node)
        if known is None or _rank(one) < _rank(known):
            reached[visit.node] = one
    return PrivacySpread(walked, reached)


def _rank(one: WorstVisit) -> tuple[bool, bool, int, int]:
    return one.ending is not None, one.visit.indirect, -one.visit.level, EXPOSURES.index(one.visit.exposure)


def _step(
    visit: PrivacyVisit, edge: PrivacyEdge, facts: DeclaredFacts, threshold: int, today: date
) -> WalkStep[PrivacyVisit]:
    level, effect = visit.level, edge.effect
    indirect = visit.indirect or not edge.direct
    exposure = effect.after(visit.exposure) if edge.direct else visit.exposure
    ending: Ending | None = None
    if facts.hides(effect, threshold):
        ending = Ending.AGGREGATE
    elif facts.approves(level, today):
        if facts.approved < LEAST_SENSITIVE:
            ending = Ending.APPROVAL
        else:
            level = facts.approved
    # Values that only decide which rows exist aren't in a column.
    ends = ending is not None or (edge.whole and not edge.direct)
    target = PrivacyVisit(edge.target, level, exposure, indirect=indirect, ends=ends)
    carried = SpreadStep(edge.job, effect.operation, effect.possible, edge.former, ending)
    return WalkStep(visit, target, edge.edge, facts=carried)
