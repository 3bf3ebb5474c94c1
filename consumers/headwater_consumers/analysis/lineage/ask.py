"""The question answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater_consumers.analysis.assets import AssetKind
from headwater_consumers.analysis.lineage.answer import Lineage
from headwater_consumers.analysis.lineage.between import edges_between, loops_of
from headwater_consumers.analysis.lineage.columns import ColumnSteps
from headwater_consumers.analysis.lineage.datasets import DatasetSteps
from headwater_consumers.analysis.lineage.details import ColumnDetails, DatasetDetails
from headwater_consumers.analysis.lineage.page import page_of
from headwater_consumers.analysis.lineage.plans import Plans
from headwater_consumers.analysis.lineage.question import Influence
from headwater_consumers.analysis.lineage.scope import scope_of
from headwater_consumers.analysis.lineage.search import search
from headwater_consumers.analysis.resolve import resolve_asset, resolve_column

if TYPE_CHECKING:
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
    if not of_columns:
        plans = Plans(tx, as_of=question.as_of, since=question.since) if question.columns else None
        steps, details = DatasetSteps(tx, scope), DatasetDetails(tx, scope, plans)
    else:
        plans = Plans(tx, as_of=question.as_of, since=question.since)
        steps = ColumnSteps(tx, scope, plans, direct_only=question.influence is Influence.DIRECT)
        details = ColumnDetails(tx, plans)
    reached = search(start.id, start.asset.key, steps, depth=question.depth)
    listed = reached.listed()
    if question.influence is not None:
        listed = [place for place in listed if (question.influence is Influence.INDIRECT) == bool(place & 1)]
    page = page_of(reached, listed, start.asset, question, tenant=tx.tenant)
    shown = [*page.places, *page.through]
    items = details.items(reached, shown)
    edges = edges_between(reached, shown, steps, details, question.direction) if question.edges else ()
    indirect = sum(place & 1 for place in listed)
    return Lineage(
        start=start.asset,
        direction=question.direction,
        depth=question.depth,
        as_of=question.as_of,
        since=question.since,
        items=tuple(items[: len(page.places)]),
        through=tuple(items[len(page.places) :]),
        total=len(listed),
        direct=len(listed) - indirect if of_columns else None,
        indirect=indirect if of_columns else None,
        truncated=reached.truncated,
        max_hops=max((reached.found[place].hops for place in listed), default=0),
        next_cursor=page.next_cursor,
        edges=edges,
        loops=loops_of(reached, page.places, details),
    )
