"""Base facts of one node each, and their joins.

Facts only grow: registers by stamp, bounds by minimum and maximum, sets by union.

A fact joins another in place; code that shares a fact copies it first. The owner of a use is a run or micro-batch.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Generic, NamedTuple, TypeVar

from headwater_graph.facts.model import RelType, UseKey
from headwater_graph.facts.registers import Cell, Props, Registers, join
from headwater_graph.facts.reports import keep_reports, reports, same_report
from headwater_schemas.events import ColumnLineage

MADE_FROM = "inputs"
"""Register of a PRODUCED: keys of the datasets that the output is derived from; absent: all inputs of its owner."""
POSSIBLE = "possible"
"""Register of a PRODUCED: True if every dataset that its owner consumed is a possible source, and none is certain."""
UNCOMMITTED = "uncommitted"
"""Register of a PRODUCED: True if a failed run names the output, and no report shows that it was committed."""
WIDE = "wide"
"""Register of a use: "ALL" if all reports of the use are wide, "SOME" if some are. A wide report lists more than
`MOST_CONSUMED` inputs or `MOST_PRODUCED` outputs."""
MOST_CONSUMED = 1_000
MOST_PRODUCED = 20
"""Maximum numbers of inputs and outputs that one report relates pair by pair.

In larger reports they are related through the job (`flow`): a document of 72 kB could name a million pairs.
"""


class Evidence(StrEnum):
    """Evidence for FEEDS, in ascending order. The strongest evidence in any report of a job counts.

    - POSSIBLE: a report has both datasets, and doesn't record the sources of the output.
    - EXCLUDED: a report records the sources of the output, and this input isn't among them: no FEEDS.
    - OBSERVED: a report records that the output is derived from the input, or a plan has an edge between them.
    """

    POSSIBLE = "POSSIBLE"
    EXCLUDED = "EXCLUDED"
    OBSERVED = "OBSERVED"


class Link(NamedTuple):
    """A relationship that only has a span, such as READS, USED and RENAMED_TO; `via` is the job of FEEDS.

    If the sources have GOES_INTO to the job, FEEDS begins at the job.
    """

    type: RelType
    start: str
    end: str
    via: str = ""
    evidence: Evidence = Evidence.OBSERVED


T = TypeVar("T", datetime, int)


@dataclass(slots=True)
class _Span(Generic[T]):
    first: T | None = None
    last: T | None = None

    def see(self, first: T | None, last: T | None) -> None:
        """Widen the span."""
        if first is not None and (self.first is None or first < self.first):
            self.first = first
        if last is not None and (self.last is None or last > self.last):
            self.last = last


class TimeSpan(_Span[datetime]):
    """First and last observation; None if no time is known."""

    __slots__ = ()


class Batches(_Span[int]):
    """Lowest and highest known batch id of a query or run; None if none is known. Batches between may be unknown."""

    __slots__ = ()

    def properties(self) -> Props:
        """Return the range as properties of the node; empty if none is known."""
        if self.first is None or self.last is None:
            return {}
        return {"first_batch": self.first, "last_batch": self.last}


@dataclass(slots=True)
class NodeFacts:
    """Facts of one node.

    Attributes:
        identity: properties that follow from the key, so every mention of the node has them.
        registers: reported properties of the node.
        seen: time span in which it was observed.
    """

    identity: Props
    registers: Registers = field(default_factory=dict)
    seen: TimeSpan = field(default_factory=TimeSpan)

    def join(self, other: NodeFacts) -> None:
        """Join the facts of another record of the same node."""
        join(self.registers, other.registers)
        self.seen.see(other.seen.first, other.seen.last)


@dataclass(slots=True)
class ColumnFacts:
    """A column. Its `field` register and span come only from schemas with the column, not from plans that name it."""

    registers: Registers = field(default_factory=dict)
    seen: TimeSpan = field(default_factory=TimeSpan)

    def join(self, other: ColumnFacts) -> None:
        """Join the facts of another record of the same column."""
        join(self.registers, other.registers)
        self.seen.see(other.seen.first, other.seen.last)


@dataclass(slots=True)
class DatasetFacts(NodeFacts):
    """A dataset and its columns by field path."""

    columns: dict[str, ColumnFacts] = field(default_factory=dict)

    def join(self, other: NodeFacts) -> None:
        """Join the facts of another record of the same dataset."""
        NodeFacts.join(self, other)
        assert isinstance(other, DatasetFacts)  # noqa: S101 - for the type checker
        _join_columns(self.columns, other.columns)


@dataclass(slots=True)
class QueryFacts(NodeFacts):
    """A streaming query: the jobs that started it (one, unless a producer is wrong), and its known batches."""

    jobs: set[str] = field(default_factory=set)
    batches: Batches = field(default_factory=Batches)

    def join(self, other: NodeFacts) -> None:
        """Join the facts of another record of the same query."""
        NodeFacts.join(self, other)
        assert isinstance(other, QueryFacts)  # noqa: S101 - for the type checker
        self.jobs |= other.jobs
        self.batches.see(other.batches.first, other.batches.last)


@dataclass(slots=True)
class RunFacts(NodeFacts):
    """A run with its uses, the jobs that cite it (one, unless a producer is wrong), its query and its batches."""

    jobs: set[str] = field(default_factory=set)
    queries: set[str] = field(default_factory=set)
    uses: dict[UseKey, Registers] = field(default_factory=dict)
    batches: Batches = field(default_factory=Batches)

    def join(self, other: NodeFacts) -> None:
        """Join the facts of another record of the same run."""
        NodeFacts.join(self, other)
        assert isinstance(other, RunFacts)  # noqa: S101 - for the type checker
        self.jobs |= other.jobs
        self.queries |= other.queries
        self.batches.see(other.batches.first, other.batches.last)
        join_uses(self.uses, other.uses)


@dataclass(slots=True)
class PlanFacts(NodeFacts):
    """A plan, and its lineage once an event has reported it.

    The digest covers the lineage, except the expressions' texts and the reason why the lineage is incomplete: these are
    in the register `lineage`. So all lineages with one digest are interchangeable here, and equality ignores them.
    """

    job: str = ""
    lineage: ColumnLineage | None = field(default=None, compare=False)

    def join(self, other: NodeFacts) -> None:
        """Join the facts of another record of the same plan."""
        NodeFacts.join(self, other)
        assert isinstance(other, PlanFacts)  # noqa: S101 - for the type checker
        if self.lineage is None:
            self.lineage = other.lineage


@dataclass(slots=True)
class OfDatasetFacts(NodeFacts):
    """A version, or a schema, of the dataset with the key `dataset`."""

    dataset: str = ""


@dataclass(slots=True)
class RetentionFacts:
    """First kept days of a retention scope; a later day replaces an earlier one.

    Attributes:
        identity: properties that are part of the key: tenant, and namespace and job if the scope has them.
        summarize_before: first day whose micro-batches aren't moved into summaries.
        drop_before: first day whose micro-batches aren't deleted.
    """

    identity: Props
    summarize_before: datetime | None = None
    drop_before: datetime | None = None

    def join(self, other: RetentionFacts) -> None:
        """Join another record of the same scope."""
        self.summarize_before = _later(self.summarize_before, other.summarize_before)
        self.drop_before = _later(self.drop_before, other.drop_before)

    def properties(self) -> dict[str, datetime | None]:
        """Return both days as properties of the node."""
        return {"summarize_before": self.summarize_before, "drop_before": self.drop_before}


@dataclass(slots=True)
class Variant:
    """Reports of a micro-batch with one set of source end positions."""

    registers: Registers = field(default_factory=dict)
    uses: dict[UseKey, Registers] = field(default_factory=dict)

    def join(self, other: Variant) -> None:
        """Join another report of the same variant."""
        all_reports = None
        if not same_report(self.registers, self.uses, other.registers, other.uses):
            all_reports = reports(self.registers, self.uses) | reports(other.registers, other.uses)
        join(self.registers, other.registers)
        join_uses(self.uses, other.uses)
        if all_reports is not None:
            keep_reports(self.registers, self.uses, all_reports)

    def copy(self) -> Variant:
        """Return a copy, to be joined with other reports."""
        return Variant(dict(self.registers), {use: dict(registers) for use, registers in self.uses.items()})

    @property
    def rank(self) -> tuple[str, str]:
        """Order of variants: the stamp of the variant's best report, which the register `provenance` always has."""
        stamp, provenance = self.registers["provenance"]
        return stamp, str(provenance)


@dataclass(slots=True)
class IntervalFacts:
    """A micro-batch: its variants by source end digest. More than one variant is a conflict."""

    identity: Props
    query: str
    batch_id: int
    variants: dict[str, Variant] = field(default_factory=dict)

    def join(self, other: IntervalFacts) -> None:
        """Join the facts of another record of the same micro-batch."""
        for digest, theirs in other.variants.items():
            if (mine := self.variants.get(digest)) is None:
                self.variants[digest] = theirs.copy()
            else:
                mine.join(theirs)

    @property
    def winner(self) -> str:
        """Digest of the variant that becomes the Interval; the other variants become its Conflicts."""
        return max(self.variants, key=lambda digest: (self.variants[digest].rank, digest))


def _later(one: datetime | None, other: datetime | None) -> datetime | None:
    return max((time for time in (one, other) if time is not None), default=None)


def join_uses(into: dict[UseKey, Registers], other: dict[UseKey, Registers]) -> None:
    """Join uses of datasets by one owner.

    Three registers don't depend on stamps:

    - Sources of an output: the join is the union of the reports' lists. A report without a list means all inputs,
      unless the report is `possible`: then it counts less than a list. So the register only grows, and so does the
      evidence of FEEDS. For a run, "all inputs" includes the listed inputs (`fold_run`). For a micro-batch, FEEDS
      follow from each report separately.
    - `uncommitted`: stays as long as every report states it.
    - `wide`: "ALL" if both uses have "ALL", "SOME" if any use has the register.
    """
    for use, theirs in other.items():
        if (mine := into.get(use)) is None:
            into[use] = dict(theirs)
            continue
        old, new = mine.get(MADE_FROM), theirs.get(MADE_FROM)
        is_everything = (old is None and POSSIBLE not in mine) or (new is None and POSSIBLE not in theirs)
        is_uncommitted = UNCOMMITTED in mine and UNCOMMITTED in theirs
        wide = _wide(mine.get(WIDE), theirs.get(WIDE))
        join(mine, theirs)
        if wide is not None:
            mine[WIDE] = wide
        if not is_uncommitted:
            mine.pop(UNCOMMITTED, None)
        if is_everything:
            mine.pop(MADE_FROM, None)
        elif old is not None and new is not None:
            mine[MADE_FROM] = (max(old[0], new[0]), sorted({*_keys(old[1]), *_keys(new[1])}))
        if is_everything or MADE_FROM in mine:
            mine.pop(POSSIBLE, None)


def _wide(one: tuple[str, Cell] | None, other: tuple[str, Cell] | None) -> tuple[str, Cell] | None:
    if one is None and other is None:
        return None
    is_wide_in_all = one is not None and other is not None and one[1] == other[1] == "ALL"
    return max(each[0] for each in (one, other) if each is not None), "ALL" if is_wide_in_all else "SOME"


def listed_sources(registers: Registers) -> list[str] | None:
    """Keys of the datasets that an output is derived from; None: all datasets that its owner consumed."""
    register = registers.get(MADE_FROM)
    return None if register is None else _keys(register[1])


def flow(job: str, uses: Mapping[UseKey, Registers]) -> Iterator[Link]:
    """FEEDS and GOES_INTO of the uses of one run or micro-batch of a job.

    All inputs feed all outputs, except an output with listed sources. An output of a failed run doesn't count unless a
    part of it was committed. `graph.derive.possible_feeds` decides which FEEDS of a job exist. Inputs that occur only
    in wide reports get GOES_INTO to the job, and the job FEEDS the outputs. Such a derivation is only possible, because
    the pairs aren't stored.
    """
    consumed: dict[str, list[object]] = defaultdict(list)
    for use, registers in uses.items():
        if use.type is RelType.CONSUMED:
            consumed[use.dataset].append(registers.get(WIDE, ("", None))[1])
    pairable = [key for key, wide in consumed.items() if set(wide) != {"ALL"}]
    in_wide_reports = [key for key, wide in consumed.items() if any(wide)]
    into_job: set[str] = set()
    for use, registers in uses.items():
        if use.type is not RelType.PRODUCED or UNCOMMITTED in registers:
            continue
        wide = registers.get(WIDE, ("", None))[1]
        # Outputs with listed sources get this link, too: their evidence may have been POSSIBLE before, and evidence is
        # never removed.
        if through_job := consumed.keys() if wide else in_wide_reports:
            into_job.update(through_job)
            yield Link(RelType.FEEDS, job, use.dataset, job, Evidence.POSSIBLE)
        listed = listed_sources(registers)
        evidence = Evidence.POSSIBLE if POSSIBLE in registers else Evidence.OBSERVED
        others = evidence if listed is None else Evidence.EXCLUDED
        sources = set(listed or ())
        yield from (Link(RelType.FEEDS, key, use.dataset, job) for key in sources)
        if wide != "ALL":
            yield from (Link(RelType.FEEDS, key, use.dataset, job, others) for key in pairable if key not in sources)
    yield from (Link(RelType.GOES_INTO, key, job) for key in into_job)


def _keys(cell: Cell) -> list[str]:
    # The type of an empty list isn't known when it is read back.
    return [str(key) for key in cell] if isinstance(cell, list) else []


def _join_columns(into: dict[str, ColumnFacts], other: dict[str, ColumnFacts]) -> None:
    for path, theirs in other.items():
        if (mine := into.get(path)) is None:
            into[path] = mine = ColumnFacts()
        mine.join(theirs)
