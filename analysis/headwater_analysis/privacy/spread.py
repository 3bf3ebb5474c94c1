"""Spread of sensitive values: breadth-first over columns, with the facts of the value at each. Pure.

`walk` goes between visits. A column has one for each way in which its value is there, since a second way may expose
more than the shortest, or go on where the first ends. Levels and exposures are few, so visits are at most some times as
many as columns.

The spread ends at an aggregate that hands out no row's value, over groups at least as large as the threshold, and at
an approval that covers the source. Leaving a column out ends it, too; there is no edge then. A hash, mask, token or
encryption doesn't: who has the hash can link it.
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
        target: id of a column, or of a dataset where it holds for all of its columns.
        edge: id of the relationship.
        whole: whether the target is a dataset.
        direct: whether the value goes into it.
        job: key of the job.
        effect: effect of the job on the value.
        former: whether no plan that holds now does it: what it wrote before may still be there.
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
        level: level of its own sensitivity, or else its dataset's; 0: none is declared. The greatest of several sets'.
        smallest_group: least number of rows that go into each of its values. The least of several sets'.
        covers, approved: levels of its approval: the greatest of sources that it covers, the column's by it; 0: none.
        until: the last day of the approval; None: it has none.
        classified: whether it, or its dataset, has a classification in words of the organisation's own.
    """

    level: int = 0
    smallest_group: int | None = None
    covers: int = 0
    approved: int = 0
    until: str | None = None
    classified: bool = False

    def hides(self, effect: Effect, threshold: int) -> bool:
        """True for a statistic over groups of so many rows that no value of a row can be read from it."""
        return effect.statistic and self.smallest_group is not None and self.smallest_group >= threshold

    def approves(self, level: int, today: date) -> bool:
        """True when the approval holds for a source of that level."""
        is_over = self.until is not None and self.until < today.isoformat()
        return bool(self.approved) and self.approved < level <= self.covers and not is_over


class PrivacyGraph(Protocol):
    """Queries of `spread` to the graph."""

    def edges(self, nodes: Sequence[int], /) -> Iterable[PrivacyEdge]:
        """Edges that leave these columns, in an order that is the same for equal graphs."""

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
    """A column that a sensitive value came to, or a dataset as a whole, and how it came there.

    Attributes:
        node: id of the column or dataset.
        level: sensitivity level of the value.
        exposure: form in which a reader gets the value.
        indirect: whether the path has an INDIRECT step: the value only decided something here.
        start: whether the spread begins here.
        ends: whether the spread doesn't go on from here.
    """

    node: int
    level: int
    exposure: Exposure
    indirect: bool = False
    start: bool = False
    ends: bool = False


class WorstVisit(NamedTuple):
    """The worst visit of a node, and what ended the spread there; None: it goes on."""

    visit: PrivacyVisit
    ending: Ending | None


@dataclass(frozen=True, slots=True)
class PrivacySpread:
    """Spread of sensitive values over the graph.

    Attributes:
        walk: walk from visit to visit.
        reached: each node's worst visit, by node.
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
        threshold: number of rows that a group needs so that a statistic over it ends the spread.
        today: day on which approvals have to hold.
        depth: most hops; None: all.
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
    # What only decides which rows there are is in no column.
    ends = ending is not None or (edge.whole and not edge.direct)
    target = PrivacyVisit(edge.target, level, exposure, indirect=indirect, ends=ends)
    carried = SpreadStep(edge.job, effect.operation, effect.possible, edge.former, ending)
    return WalkStep(visit, target, edge.edge, facts=carried)
