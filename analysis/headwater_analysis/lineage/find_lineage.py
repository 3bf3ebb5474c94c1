"""Lineage question: the page of the search, every hop between its assets, and caveats."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from headwater_analysis import paging
from headwater_analysis.amounts import MOST_NAMED, first_of
from headwater_analysis.assets import Asset, AssetKind, job_asset
from headwater_analysis.declared import ReadingConsumer, consumers_of
from headwater_analysis.identity import Identities, known_as
from headwater_analysis.lineage.details import (
    ColumnPageDetails,
    DatasetPageDetails,
    PageDetails,
    latest_first,
)
from headwater_analysis.lineage.hops import Lineage, LineageEdge
from headwater_analysis.lineage.plans import Plans, WrittenDataset
from headwater_analysis.lineage.scope import Influence, LineageBounds, LineageDirection, LineageQuestion, scope_of
from headwater_analysis.lineage.search import LineageVisit, Reached, Steps, search
from headwater_analysis.lineage.steps import ColumnSteps, DatasetSteps
from headwater_analysis.moments import moment
from headwater_analysis.quality import quality_of
from headwater_analysis.reader import Reader, Transaction
from headwater_analysis.resolve import resolve_asset, resolve_column
from headwater_graph.keys import dataset_key


@dataclass(frozen=True, slots=True)
class VisitPage:
    """Page of an answer, as visits of the search.

    Attributes:
        visits: visits of the page's items, in order.
        through: visits between the start and the items.
    """

    visits: list[LineageVisit]
    through: list[LineageVisit]
    next_cursor: str | None


def page_of(
    reached: Reached, listed: list[LineageVisit], start: Asset, question: LineageQuestion, *, tenant: str
) -> VisitPage:
    """Return the question's page. It begins after the cursor's item, even if this item is gone.

    Raises:
        QuestionError: the cursor belongs to another question.
    """
    # The key of the start replaces its name, so that all spellings of the name give the same question.
    same = (
        tenant,
        start.key,
        replace(question, asset="", column=None, edges=False, quality=False, limit=1, cursor=None),
    )

    begin = 0
    if question.cursor is not None:
        after = paging.decode(question.cursor, question=same, kinds=(int, int, str))
        begin = bisect_right(listed, after, key=reached.order)
    visits = listed[begin : begin + question.limit]
    more = begin + question.limit < len(listed)
    next_cursor = paging.encode(reached.order(visits[-1]), question=same) if more else None
    return VisitPage(visits, reached.between(visits), next_cursor)


def edges_between(
    reached: Reached,
    visits: Iterable[LineageVisit],
    details: PageDetails,
    direction: LineageDirection,
    as_of: datetime | None,
) -> tuple[LineageEdge, ...]:
    """Hops between any two of these visits and the start, one for each pair of assets.

    The search has found all of these hops; looking up their jobs takes one round trip.
    """
    nodes = list(dict.fromkeys([reached.start, *(visit.node for visit in visits)]))
    on_page = set(nodes)
    # Edges are deduplicated: the search may visit a node twice, with and without an INDIRECT step on the path.
    hops: dict[tuple[int, int], dict[int, None]] = {}
    for met in reached.leaving:
        for source, target, edge in zip(met.sources, met.targets, met.edges, strict=True):
            if target in on_page and source in on_page:
                ends = (source, target) if direction is LineageDirection.DOWNSTREAM else (target, source)
                hops.setdefault(ends, {})[edge] = None
    vias = details.vias([list(edges) for edges in hops.values()]) if hops else []
    edges = (
        LineageEdge(reached.facts[source].key, reached.facts[target].key, latest_first(via, as_of), len(via))
        for (source, target), via in zip(hops, vias, strict=True)
    )
    return tuple(sorted(edges, key=lambda edge: (edge.source, edge.target)))


def loops_of(
    reached: Reached, visits: Iterable[LineageVisit], details: PageDetails, as_of: datetime | None
) -> tuple[LineageEdge, ...]:
    """Hops from the start to itself, and from each of these nodes to itself, in that order."""
    nodes = dict.fromkeys([reached.start, *(visit.node for visit in visits)])
    # A node that is visited twice has each loop edge twice.
    loops = {node: list(dict.fromkeys(reached.loops[node])) for node in nodes if node in reached.loops}
    if not loops:
        return ()
    keys = [reached.facts[node].key for node in loops]
    vias = details.vias(list(loops.values()))
    return tuple(LineageEdge(key, key, latest_first(via, as_of), len(via)) for key, via in zip(keys, vias, strict=True))


MOST_LOOKED_AT = 1_000
"""Maximum number of datasets (the nearest) whose jobs are examined, and of these jobs (the latest seen)."""


@dataclass(frozen=True, slots=True)
class Caveats:
    """Caveats of an answer.

    Attributes:
        incomplete: sentences on column lineage that is incomplete or unknown: there may be more results.
    """

    incomplete: tuple[str, ...]
    others: tuple[str, ...]


def caveats(
    tx: Transaction,
    scope: LineageBounds,
    plans: Plans,
    dataset: str,
    reached: Reached,
    *,
    depth: int | None,
    of_columns: bool,
) -> Caveats:
    """Caveats of an answer, from the jobs of the dataset and of everything reached within the depth.

    - Upstream: jobs that write one of these datasets have incomplete column lineage, so there may be further inputs.
    - Downstream of a column: jobs that read its dataset have incomplete column lineage.
    - Downstream: jobs that read a dataset and have no known output derived from it.
    - A column without results: its dataset nevertheless has observed neighbours.

    Args:
        plans: plans as of the question's time.
        dataset: key of the requested dataset, or of the requested column's dataset.
        reached: visits that the search reached from the asset of the question.
        depth: maximum number of hops of the question; None: all.
        of_columns: whether the question is about a column.
    """
    own = Identities.of(tx).members(dataset)
    nodes = list(
        dict.fromkeys(visit.node for visit, found in reached.found.items() if depth is None or found.hops < depth)
    )
    datasets = under_all_names(tx, own, nodes[:MOST_LOOKED_AT])
    bounds = {"datasets": datasets, "jobs": scope.jobs, "as_of": scope.as_of, "since": scope.since}
    upstream = scope.direction is LineageDirection.UPSTREAM
    feeds = []
    if of_columns and not (upstream and nodes):
        name = "lineage/fed_by" if upstream else "lineage/feeding"
        feeds = tx.one(name, **bounds, limit=MOST_LOOKED_AT)["feeds"]
    if upstream:
        writers = tx.one("lineage/writers", **bounds, limit=MOST_LOOKED_AT)["jobs"]
        asked = {WrittenDataset(job, written): name for job, name, written in writers}
    else:
        asked = {WrittenDataset(job, target): name for _, _, job, name, target in feeds}
    reasons = plans.incomplete(asked)
    unseen = plans.unseen(asked) if of_columns else set(reasons)
    incomplete = sorted({(asked[written], reasons.get(written)) for written in unseen}, key=str)
    ending = [] if upstream else readers_without_outputs(tx, datasets, scope.jobs, scope.as_of, scope.since)
    sentences = list(_incomplete(incomplete))
    if ending:
        names, what = first_of(job.name for job in ending), "it or data derived from it" if nodes else "it"
        sentences.append(f"{names} read{'s' * (len(ending) == 1)} {what}, but no output is known: there may be more.")
    if (left := len(nodes) - MOST_LOOKED_AT) > 0:
        farthest = f"the {left:,} farthest datasets and columns"
        sentences.append(f"Jobs that use {farthest} weren't checked: there may be more.")
    others = dict.fromkeys(title for key, title, *_ in feeds if key not in own)
    if reached.found or not others:
        return Caveats(tuple(sentences), ())
    seen = f"was observed to {'be derived from' if upstream else 'feed'} {first_of(others)}"
    without_plan = f"The dataset of this column {seen}, but no current plan has lineage for the column."
    return Caveats(tuple(sentences), (without_plan,))


def under_all_names(tx: Transaction, own: Sequence[str], nodes: Sequence[int]) -> list[str]:
    """Keys `own`, and keys of the datasets of these nodes under all their names."""
    if not nodes:
        return list(own)
    identities = Identities.of(tx)
    keys = tx.one("lineage/datasets_of", nodes=nodes)["keys"]
    return list(dict.fromkeys([*own, *(name for key in keys for name in identities.members(key))]))


def _incomplete(jobs: Sequence[tuple[str, str | None]]) -> Iterator[str]:
    for name, reason in jobs[:MOST_NAMED]:
        what = "isn't known" if reason is None else f"is incomplete ({reason})"
        yield f"Column lineage of {name} {what}: there may be more."
    if len(jobs) > MOST_NAMED:
        yield f"Column lineage of {len(jobs) - MOST_NAMED:,} more jobs isn't known, or is incomplete."


def readers_without_outputs(
    tx: Transaction,
    datasets: Sequence[str],
    jobs: Sequence[str] | None = None,
    as_of: datetime | None = None,
    since: datetime | None = None,
) -> list[Asset]:
    """Jobs that read one of these datasets and have no known output derived from it; at most 1,000.

    Args:
        datasets: keys of a dataset under each of its names.
        jobs: keys of the jobs to include; None: all.
        as_of: leave out reads that were first seen after this time.
        since: leave out reads that were last seen before this time.
    """
    bounds = {"datasets": datasets, "jobs": jobs, "as_of": as_of, "since": since}
    return [job_asset(row) for row in tx.one("lineage/ending", **bounds, limit=MOST_LOOKED_AT)["jobs"]]


def lineage(reader: Reader, question: LineageQuestion) -> Lineage:
    """Return the lineage upstream or downstream of a dataset or a column.

    Raises:
        QuestionError: a field of the question makes no sense, or the cursor belongs to another question.
        NotFoundError: no such dataset, column or job; with the nearest names.
        AmbiguousError: several have this name.
        TimeLimitError, GraphUnreachableError, GraphRefusedError: as `Reader.read`.
    """
    question.check()
    return reader.read(lambda tx: lineage_in(tx, question))


def lineage_in(tx: Transaction, question: LineageQuestion) -> Lineage:
    """Answer a checked question within a transaction."""
    Identities.of(tx).as_of = question.as_of
    scope = scope_of(tx, question)
    steps: Steps
    details: PageDetails
    asked = question.asset, question.column
    start = resolve_asset(tx, asked[0]) if asked[1] is None else resolve_column(tx, asked[0], asked[1])
    of_columns = start.asset.kind is AssetKind.COLUMN
    question.check_of(columns=of_columns)
    plans = Plans(tx, as_of=question.as_of, since=question.since)
    if not of_columns:
        steps = DatasetSteps(tx, scope, edges=question.edges)
        details = DatasetPageDetails(tx, scope, plans if question.columns else None)
    else:
        steps = ColumnSteps(tx, scope, plans, direct_only=question.influence is Influence.DIRECT)
        details = ColumnPageDetails(tx, plans)
    asset = start.asset
    dataset = dataset_key(tx.tenant, asset.namespace, asset.name) if of_columns else asset.key
    reached = search(start.id, start.asset.key, steps, depth=question.depth)
    listed = reached.listed()
    if question.influence is not None:
        listed = [visit for visit in listed if (question.influence is Influence.INDIRECT) == visit.indirect]
    page = page_of(reached, listed, start.asset, question, tenant=tx.tenant)
    shown = [*page.visits, *page.through]
    items = details.items(reached, shown)
    edges = edges_between(reached, shown, details, question.direction, question.as_of) if question.edges else ()
    loops = loops_of(reached, page.visits, details, question.as_of)
    more = caveats(tx, scope, plans, dataset, reached, depth=question.depth, of_columns=of_columns)
    vias = [via for item in items for via in item.via] + [via for edge in (*edges, *loops) for via in edge.via]
    assets = [asset, *(item.asset for item in items[: len(page.visits)])]
    indirect = sum(visit.indirect for visit in listed)
    return Lineage(
        start=start.asset,
        direction=question.direction,
        depth=question.depth,
        as_of=question.as_of,
        unknown_until=None if listed else _unknown_until(tx, start.id, question.as_of),
        since=question.since,
        items=tuple(items[: len(page.visits)]),
        through=tuple(items[len(page.visits) :]),
        total=len(listed),
        direct=len(listed) - indirect if of_columns else None,
        indirect=indirect if of_columns else None,
        complete=not more.incomplete and all(via.incomplete is None for via in vias),
        truncated=reached.truncated,
        max_hops=max((reached.found[visit].hops for visit in listed), default=0),
        next_cursor=page.next_cursor,
        edges=edges,
        loops=loops,
        gone=_gone(tx, start.id),
        known_as=known_as(tx, start.asset),
        notes=(*more.incomplete, *more.others, *_on_names(tx, start.asset, steps)),
        quality=tuple(quality_of(tx, assets, as_of=question.as_of)) if question.quality else (),
        consumers=_consumers(tx, question, [start.id, *(visit.node for visit in page.visits)]),
    )


def _consumers(tx: Transaction, question: LineageQuestion, nodes: Iterable[int]) -> tuple[ReadingConsumer, ...]:
    # The graph doesn't keep past declarations.
    if question.direction is LineageDirection.UPSTREAM or question.as_of is not None:
        return ()
    return consumers_of(tx, set(nodes))


def _on_names(tx: Transaction, start: Asset, steps: Steps) -> Iterator[str]:
    """Notes on columns that had other names, or that have the name of a dropped column."""
    identities = Identities.of(tx)
    notes = dict.fromkeys(identities.column_notes(start))
    if isinstance(steps, ColumnSteps) and steps.former:
        notes |= dict.fromkeys(identities.former_notes(steps.former))
    yield from list(notes)[:MOST_NAMED]
    if len(notes) > MOST_NAMED:
        yield f"There are such notes on {len(notes) - MOST_NAMED:,} more columns."


def _gone(tx: Transaction, node: int) -> bool:
    """Return whether a node is gone under each of its names."""
    identities = Identities.of(tx)
    identities.learn([node])
    return all(row["gone"] for row in tx.rows("lineage/columns", nodes=identities.expanded([node])))


def _unknown_until(tx: Transaction, node: int, as_of: datetime | None) -> datetime | None:
    """First observation of a node, if it was after a time."""
    if as_of is None:
        return None
    first = moment(tx.one("lineage/known_since", node=node)["first"])
    return first if first is not None and first > as_of else None
