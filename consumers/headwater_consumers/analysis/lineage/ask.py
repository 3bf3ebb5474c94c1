"""The question answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater_consumers.analysis.assets import AssetKind
from headwater_consumers.analysis.identity import known_as
from headwater_consumers.analysis.lineage.answer import Lineage
from headwater_consumers.analysis.lineage.between import edges_between, loops_of
from headwater_consumers.analysis.lineage.caveats import caveats
from headwater_consumers.analysis.lineage.columns import ColumnSteps
from headwater_consumers.analysis.lineage.datasets import DatasetSteps
from headwater_consumers.analysis.lineage.details import ColumnDetails, DatasetDetails
from headwater_consumers.analysis.lineage.page import page_of
from headwater_consumers.analysis.lineage.plans import Plans
from headwater_consumers.analysis.lineage.question import Influence
from headwater_consumers.analysis.lineage.scope import scope_of
from headwater_consumers.analysis.lineage.search import search
from headwater_consumers.analysis.moments import moment
from headwater_consumers.analysis.resolve import resolve_asset, resolve_column
from headwater_consumers.graph.keys import dataset_key

if TYPE_CHECKING:
    from datetime import datetime

    from headwater_consumers.analysis.lineage.details import Details
    from headwater_consumers.analysis.lineage.question import LineageQuestion
    from headwater_consumers.analysis.lineage.search import Steps
    from headwater_consumers.analysis.reader import Reader, Transaction


def lineage(reader: Reader, question: LineageQuestion) -> Lineage:
    """What a dataset or a column comes from, or what comes of it.

    Raises:
        QuestionError: a field of the question makes no sense, or the cursor is another question's.
        NotFoundError: no such dataset, column or job; with the nearest names.
        AmbiguousError: several are called that.
        TimeLimitError, GraphUnreachableError, GraphRefusedError: as `Reader.read` says.
    """
    question.check()
    return reader.read(lambda tx: _answer(tx, question))


def _answer(tx: Transaction, question: LineageQuestion) -> Lineage:
    scope = scope_of(tx, question)
    steps: Steps
    details: Details
    if question.column is None:
        start = resolve_asset(tx, question.asset)
    else:
        start = resolve_column(tx, question.asset, question.column)
    of_columns = start.asset.kind is AssetKind.COLUMN
    question.check_of(columns=of_columns)
    plans = Plans(tx, as_of=question.as_of, since=question.since)
    if not of_columns:
        steps, details = DatasetSteps(tx, scope), DatasetDetails(tx, scope, plans if question.columns else None)
    else:
        steps = ColumnSteps(tx, scope, plans, direct_only=question.influence is Influence.DIRECT)
        details = ColumnDetails(tx, plans)
    asset = start.asset
    dataset = dataset_key(tx.tenant, asset.namespace, asset.name) if of_columns else asset.key
    reached = search(start.id, start.asset.key, steps, depth=question.depth)
    listed = reached.listed()
    if question.influence is not None:
        listed = [place for place in listed if (question.influence is Influence.INDIRECT) == bool(place & 1)]
    page = page_of(reached, listed, start.asset, question, tenant=tx.tenant)
    shown = [*page.places, *page.through]
    items = details.items(reached, shown)
    edges = edges_between(reached, shown, details, question.direction, question.as_of) if question.edges else ()
    loops = loops_of(reached, page.places, details, question.as_of)
    more = caveats(tx, scope, plans, dataset, of_columns=of_columns, nothing=not listed)
    vias = [via for item in items for via in item.via] + [via for edge in (*edges, *loops) for via in edge.via]
    indirect = sum(place & 1 for place in listed)
    return Lineage(
        start=start.asset,
        direction=question.direction,
        depth=question.depth,
        as_of=question.as_of,
        unknown_until=None if listed else _unknown_until(tx, start.id, question.as_of),
        since=question.since,
        items=tuple(items[: len(page.places)]),
        through=tuple(items[len(page.places) :]),
        total=len(listed),
        direct=len(listed) - indirect if of_columns else None,
        indirect=indirect if of_columns else None,
        complete=not more.incomplete and all(via.incomplete is None for via in vias),
        truncated=reached.truncated,
        max_hops=max((reached.found[place].hops for place in listed), default=0),
        next_cursor=page.next_cursor,
        edges=edges,
        loops=loops,
        known_as=known_as(tx, start.asset),
        notes=(*more.incomplete, *more.others),
    )


def _unknown_until(tx: Transaction, node: int, as_of: datetime | None) -> datetime | None:
    """When a node was first seen, where that was after a time."""
    if as_of is None:
        return None
    first = moment(tx.one("lineage/known_since", node=node)["first"])
    return first if first is not None and first > as_of else None
