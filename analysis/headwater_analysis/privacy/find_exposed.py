"""Question for the spread of sensitive columns."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Final

from headwater_analysis import paging
from headwater_analysis.assets import Asset, dataset_asset, dataset_or_column, job_asset
from headwater_analysis.declared import consumers_of
from headwater_analysis.errors import QuestionError
from headwater_analysis.identity import Identities, notice
from headwater_analysis.lineage.hops import transformation
from headwater_analysis.lineage.scope import Influence
from headwater_analysis.paging import check_depth, check_limit
from headwater_analysis.privacy.exposed_data import (
    Approved,
    DroppedBy,
    Privacy,
    PrivacyExit,
    PrivacyHop,
    PrivacyItem,
    SensitiveSource,
    UnknownUse,
)
from headwater_analysis.privacy.graph import StoredPrivacyGraph
from headwater_analysis.privacy.one_step import sensitive_columns
from headwater_analysis.privacy.operations import EXPOSURES, Exposure
from headwater_analysis.privacy.spread import (
    PrivacySpread,
    PrivacyVisit,
    SpreadStep,
    WorstVisit,
    spread,
)
from headwater_analysis.reader import Reader, Transaction
from headwater_analysis.resolve import resolve_asset, resolve_column
from headwater_analysis.sensitivity import LEVELS, SENSITIVE, level_of
from headwater_analysis.walk import WalkStep
from headwater_schemas.events import Sensitivity

DEFAULT_THRESHOLD: Final = 10
"""Minimum number of rows in a group so that a statistic hides single rows."""
_MOST: Final = 100


@dataclass(frozen=True, slots=True)
class PrivacyQuestion:
    """Columns to follow, and filters of the answer.

    Attributes:
        asset: a dataset, or a column as `dataset#path`; None: every column that is declared sensitive.
        column: field path of a column of the dataset.
        as_: sensitivity to assume for the asset; None: the declared sensitivity.
        threshold: minimum number of rows in a group so that a statistic over it ends the spread.
        readable: whether to list only readable columns.
        lower: whether to list only columns that are classified lower than their sources.
    """

    asset: str | None = None
    column: str | None = None
    as_: Sensitivity | None = None
    threshold: int = DEFAULT_THRESHOLD
    readable: bool = False
    lower: bool = False

    def check(self) -> None:
        """Check that the fields fit together.

        Raises:
            QuestionError: fields don't fit together; the error names one.
        """
        if self.asset is None and self.column is not None:
            raise QuestionError("Name the dataset of the column, too.", field="column")
        if self.asset is None and self.as_ is not None:
            raise QuestionError("Name the dataset or column that should have this sensitivity.", field="as")
        if self.as_ is not None and self.as_ not in SENSITIVE:
            raise QuestionError(f"The sensitivity must be one of {', '.join(SENSITIVE)}.", field="as")
        if self.threshold < 1:
            raise QuestionError("The threshold is at least 1 row.", field="threshold")


@dataclass(frozen=True, slots=True)
class PrivacyPage:
    """Page of the answer: maximum number of hops (None: all) and items, and cursor."""

    depth: int | None = None
    limit: int = 100
    cursor: str | None = None


def privacy(reader: Reader, question: PrivacyQuestion, today: date, page: PrivacyPage = PrivacyPage()) -> Privacy:
    """Follow sensitive columns to derived columns, with their exposure to readers, and columns classified too low.

    Args:
        question: columns to follow, and filters.
        today: day on which approvals must be valid.

    Raises:
        QuestionError: a field of the question makes no sense, the asset has no column that is declared sensitive, or
            the cursor belongs to another question.
        NotFoundError, AmbiguousError: as `resolve_asset`.
        TimeLimitError, GraphUnreachableError, GraphRefusedError: as `Reader.read`.
    """
    question.check()
    check_depth(page.depth)
    check_limit(page.limit)
    return reader.read(lambda tx: _answer(tx, question, today, page))


def _answer(tx: Transaction, question: PrivacyQuestion, today: date, page: PrivacyPage) -> Privacy:
    graph = StoredPrivacyGraph(tx)
    starts, subject, notes = _starts(tx, graph, question)
    found = spread(graph, starts, threshold=question.threshold, today=today, depth=page.depth)
    every = found.reached
    declared = graph.declared([node for node in every if _is_column(graph, node)])

    def is_lower(one: WorstVisit) -> bool:
        known = declared.get(one.visit.node)
        return known is not None and one.ending is None and not one.visit.indirect and known.level < one.visit.level

    def order(one: WorstVisit) -> tuple[int, int, int, int, int, str]:
        hops = found.walk.found[one.visit].hops
        exposure = EXPOSURES.index(one.visit.exposure)
        return (
            int(one.ending is not None),
            int(one.visit.indirect),
            -one.visit.level,
            exposure,
            hops,
            graph.facts([one.visit.node])[one.visit.node].key,
        )

    asked = [
        one
        for one in every.values()
        if (not question.readable or _is_readable(one)) and (not question.lower or is_lower(one))
    ]
    asked.sort(key=order)
    same = (tx.tenant, subject, replace(question, asset=None, column=None), page.depth)
    first = 0
    if page.cursor is not None:
        after = paging.decode(page.cursor, question=same, kinds=(int, int, int, int, int, str))
        first = bisect_right(asked, after, key=order)
    shown = asked[first : first + page.limit]
    details = _Details(tx, graph, found, shown, list(starts)[:_MOST])
    readable = {node for node, one in every.items() if _is_readable(one)}
    surroundings = _Surroundings(tx, graph, {**dict.fromkeys(starts, True), **{n: n in readable for n in every}}, every)
    consumers = consumers_of(tx, {*starts, *readable})
    listed = {consumer.key for consumer in consumers}
    hidden = {node for node, one in every.items() if not one.visit.indirect and one.ending is None} - readable
    return Privacy(
        sources=tuple(SensitiveSource(details.asset(node), LEVELS[starts[node]]) for node in list(starts)[:_MOST]),
        sources_total=len(starts),
        threshold=question.threshold,
        items=tuple(details.item(one, is_lower=is_lower(one), today=today) for one in shown),
        total=len(asked),
        readable=len(readable),
        protected=len(hidden),
        indirect=sum(one.visit.indirect and one.ending is None for one in every.values()),
        ended=sum(one.ending is not None for one in every.values()),
        lower=sum(map(is_lower, every.values())),
        consumers=consumers,
        protected_consumers=tuple(each for each in consumers_of(tx, hidden) if each.key not in listed),
        exits=surroundings.exits[:_MOST],
        exits_total=len(surroundings.exits),
        drops=surroundings.drops[:_MOST],
        drops_total=len(surroundings.drops),
        unknown=surroundings.unknown[:_MOST],
        unknown_total=len(surroundings.unknown),
        max_hops=max((found.walk.found[one.visit].hops for one in every.values()), default=0),
        truncated=found.walk.truncated,
        notes=notes,
        next_cursor=paging.encode(order(shown[-1]), question=same) if first + page.limit < len(asked) else None,
    )


def _is_readable(one: WorstVisit) -> bool:
    return one.visit.exposure is Exposure.READABLE and not one.visit.indirect and one.ending is None


def _is_column(graph: StoredPrivacyGraph, node: int) -> bool:
    return graph.facts([node])[node].dataset != node


def _starts(
    tx: Transaction, graph: StoredPrivacyGraph, question: PrivacyQuestion
) -> tuple[dict[int, int], str, tuple[str, ...]]:
    """Levels of the columns to follow, the subject of the question, and notes."""
    if question.asset is None:
        levels = sensitive_columns(tx)
        facts = graph.facts(levels)
        starts = {node: levels[node] for node in sorted(levels, key=lambda node: facts[node].key)}
        return starts, "", ()
    found = (
        resolve_asset(tx, question.asset)
        if question.column is None
        else resolve_column(tx, question.asset, question.column)
    )
    dataset = graph.facts([found.id])[found.id].dataset
    columns = graph.columns_of([dataset])
    path = found.asset.column
    own = [row for row in columns if path is None or row["name"] == path or row["name"].startswith(f"{path}.")]
    declared = graph.declared([row["id"] for row in own])
    top = 0 if question.as_ is None else LEVELS.index(question.as_)
    if path is not None and not top:
        top = declared[found.id].level
    starts = {}
    for row in own:
        level = max(top, declared[row["id"]].level if question.as_ is None else 0)
        if level >= level_of(SENSITIVE[0].value):
            starts[row["id"]] = level
    if not starts:
        raise QuestionError(
            f"{found.asset.spelling} isn't declared {', '.join(SENSITIVE[:-1])} or {SENSITIVE[-1]}, nor is a field of "
            "it: declare its sensitivity, or assume a sensitivity in the question.",
            field="as",
        )
    return starts, found.asset.key, notice(tx, found.asset)


class _Details:
    """Lookup of names for the items of a page, all at once."""

    def __init__(
        self,
        tx: Transaction,
        graph: StoredPrivacyGraph,
        found: PrivacySpread,
        shown: Sequence[WorstVisit],
        sources: Sequence[int],
    ) -> None:
        self._graph = graph
        self._paths = {one.visit.node: [step for step in found.walk.path(one.visit) if step.facts] for one in shown}
        steps = [step for path in self._paths.values() for step in path]
        nodes = {visit.node for step in steps for visit in (step.source, step.target)}
        self._first = {one.visit.node: found.walk.path(one.visit)[0].source.node for one in shown}
        nodes |= {*self._first, *self._first.values(), *sources}
        self._assets = {row["node"]: row for row in tx.one("impact/assets", nodes=sorted(nodes))["assets"]}
        edges = tx.one("impact/hops", edges=sorted({step.edge for step in steps}))["hops"]
        self._edges = {row["edge"]: row for row in edges}
        self._jobs = _jobs(tx, {SpreadStep(*step.facts).job for step in steps})

    def asset(self, node: int) -> Asset:
        """Dataset or column of a node."""
        return dataset_or_column(self._assets[node]["dataset"], self._assets[node]["column"])

    def item(self, one: WorstVisit, *, is_lower: bool, today: date) -> PrivacyItem:
        """Build an item of the page."""
        hops = tuple(self._hop(step) for step in self._paths[one.visit.node])
        is_column = _is_column(self._graph, one.visit.node)
        known = self._graph.declared([one.visit.node])[one.visit.node] if is_column else None
        return PrivacyItem(
            asset=self.asset(one.visit.node),
            source=self.asset(self._first[one.visit.node]),
            sensitivity=LEVELS[one.visit.level],
            exposure=one.visit.exposure,
            influence=Influence.INDIRECT if one.visit.indirect else Influence.DIRECT,
            hops=len(hops),
            path=hops,
            declared=LEVELS[known.level] if known is not None and known.level else None,
            classified=known is not None and known.classified,
            lower=is_lower,
            ending=one.ending,
            smallest_group=None if known is None else known.smallest_group,
            approval=self._approval(one, today) if is_column else None,
            possible=any(hop.possible for hop in hops),
            former=any(hop.former for hop in hops),
            gone=bool(self._assets[one.visit.node]["gone"]),
        )

    def _hop(self, step: WalkStep[PrivacyVisit]) -> PrivacyHop:
        row, carried = self._edges[step.edge], SpreadStep(*step.facts)
        return PrivacyHop(
            self.asset(step.target.node),
            self._jobs[carried.job],
            carried.operation,
            transformation(row, whole=row["whole"]),
            carried.possible,
            carried.former,
        )

    def _approval(self, one: WorstVisit, today: date) -> Approved | None:
        given = self._graph.approval(one.visit.node)
        if not given:
            return None
        known = self._graph.declared([one.visit.node])[one.visit.node]
        # If the approval lowered the sensitivity, the values have the approved sensitivity now.
        holds = known.approves(one.visit.level, today) or (
            one.visit.level == known.approved and known.approves(known.covers, today)
        )
        return Approved(
            LEVELS[known.covers],
            LEVELS[known.approved],
            given["approval_by"],
            given["approval_reason"],
            given["approval_until"],
            holds,
        )


class _Surroundings:
    """Exits, drops and unknown uses of the datasets of sensitive columns.

    Args:
        columns: ids of the columns that hold the values, and whether they can be read.
        every: worst visit of each node that the values reach.
    """

    def __init__(
        self,
        tx: Transaction,
        graph: StoredPrivacyGraph,
        columns: Mapping[int, bool],
        every: Mapping[int, WorstVisit],
    ) -> None:
        held = {
            node: is_readable
            for node, is_readable in columns.items()
            if node not in every or (not every[node].visit.indirect and every[node].ending is None)
        }
        facts = graph.facts(held)
        datasets = sorted({facts[node].dataset for node in held})
        feeds = [feed for feed in graph.feeds(datasets) if feed[0] != feed[1]]
        unseen = graph.unseen({(job, target) for _, target, _, job in feeds})
        passing = {(facts[source].dataset, target, job) for source, target, job in graph.passed if source in facts}
        unknown, drops = [], []
        for source, target, _, job in sorted(set(feeds), key=lambda feed: feed[:2] + feed[3:]):
            if (job, target) in unseen:
                unknown.append((source, target, job))
            elif (source, target, job) not in passing:
                drops.append((source, target, job))
        keys = {node: each.key for node, each in graph.facts(datasets).items()}
        readable: dict[int, int] = {}
        for node, is_readable in held.items():
            if is_readable and facts[node].dataset != node:
                readable[facts[node].dataset] = readable.get(facts[node].dataset, 0) + 1
        members = {node: Identities.of(tx).members(keys[node]) for node in readable}
        keys_of_all = sorted({key for each in members.values() for key in each})
        uses = {row["key"]: row for row in tx.one("privacy/readers", keys=keys_of_all)["datasets"]}
        leaving: dict[int, list[str]] = {}
        for node, names in members.items():
            rows = [uses[name] for name in names if name in uses]
            ending = sorted({job for row in rows for job in row["ending"]})
            if ending or not any(row["used"] or row["dropped"] for row in rows):
                leaving[node] = ending
        assets = _names(tx, {*leaving, *(node for each in (*unknown, *drops) for node in each[:2])})
        jobs = _jobs(
            tx, {job for each in (*unknown, *drops) for job in each[2:]} | {j for js in leaving.values() for j in js}
        )
        self.exits = tuple(
            sorted(
                (
                    PrivacyExit(assets[node], tuple(jobs[job] for job in ending), readable[node])
                    for node, ending in leaving.items()
                ),
                key=lambda each: each.dataset.key,
            )
        )
        self.drops = tuple(sorted((DroppedBy(assets[r], assets[w], jobs[j]) for r, w, j in drops), key=_keys))
        self.unknown = tuple(sorted((UnknownUse(assets[r], assets[w], jobs[j]) for r, w, j in unknown), key=_keys))


def _keys(each: DroppedBy | UnknownUse) -> str:
    return each.read.key + each.written.key + each.job.key


def _names(tx: Transaction, nodes: Iterable[int]) -> dict[int, Asset]:
    rows = tx.one("impact/assets", nodes=sorted(nodes))["assets"]
    return {row["node"]: dataset_asset(row["dataset"]) for row in rows}


def _jobs(tx: Transaction, keys: Iterable[str]) -> dict[str, Asset]:
    rows = tx.one("impact/jobs", keys=sorted(keys))["jobs"]
    return {row["properties"]["key"]: job_asset(row["properties"]) for row in rows}
