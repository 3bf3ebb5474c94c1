"""The question answered."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from headwater_consumers.analysis import cursor as cursors
from headwater_consumers.analysis.impact.answer import Impact, SeverityTotal
from headwater_consumers.analysis.impact.caveats import caveats
from headwater_consumers.analysis.impact.details import Details
from headwater_consumers.analysis.impact.graph import StoredGraph
from headwater_consumers.analysis.impact.place import is_indirect, rank_of
from headwater_consumers.analysis.impact.policy_file import default_policy
from headwater_consumers.analysis.impact.severity import SEVERITIES, Severity
from headwater_consumers.analysis.impact.spread import spread
from headwater_consumers.analysis.impact.start import begin, named
from headwater_consumers.analysis.impact.summary import summary_of
from headwater_consumers.analysis.paging import check_depth, check_limit

if TYPE_CHECKING:
    from headwater_consumers.analysis.impact.change import Change
    from headwater_consumers.analysis.impact.policy import Policy
    from headwater_consumers.analysis.impact.spread import Spread
    from headwater_consumers.analysis.reader import Reader, Transaction


@dataclass(frozen=True, slots=True)
class Page:
    """Which part of the answer.

    Attributes:
        depth: most hops from what changes; None: all.
        limit: most items.
        cursor: `next_cursor` of the page before; None asks for the first.
    """

    depth: int | None = None
    limit: int = 100
    cursor: str | None = None

    def check(self) -> None:
        """Refuse what makes no sense.

        Raises:
            QuestionError: naming the field.
        """
        check_depth(self.depth)
        check_limit(self.limit)


def analyze(reader: Reader, change: Change, policy: Policy | None = None, page: Page = Page()) -> Impact:
    """What a change does downstream.

    Args:
        reader: of the graph.
        change: what changes.
        policy: how bad that is; None: the one that comes with Headwater.
        page: which part of the answer.

    Raises:
        QuestionError: a field of the question makes no sense, or the cursor is another question's.
        NotFoundError: no such dataset or column; with the nearest names.
        AmbiguousError: several datasets are called that.
        TimeLimitError, GraphUnreachableError, GraphRefusedError: as `Reader.read` says.
    """
    page.check()
    if "#" not in change.dataset:  # What that may name only the graph knows.
        change.check()
    return reader.read(lambda tx: _answer(tx, named(tx, change), policy or default_policy(), page))


def _answer(tx: Transaction, change: Change, policy: Policy, page: Page) -> Impact:
    change.check()
    beginning = begin(tx, change)
    type_ = beginning.type
    graph = StoredGraph(tx)
    hit = spread(graph, beginning.start, type_, change.schema, policy, depth=page.depth)

    def order(node: int) -> tuple[int, int, int, str]:
        place = hit.worst[node]
        return rank_of(place), int(is_indirect(place)), hit.walk.found[place].hops, hit.facts[node].key

    nodes = sorted(hit.worst, key=order)
    first = 0
    same = (tx.tenant, beginning.asset.key, replace(change, dataset=""), policy, replace(page, limit=1, cursor=None))
    if page.cursor is not None:
        after = cursors.decode(page.cursor, question=same, kinds=(int, int, int, str))
        first = bisect_right(nodes, after, key=order)
    shown = nodes[first : first + page.limit]
    more = first + page.limit < len(nodes)
    details = Details(tx, hit, shown, policy, beginning)
    worst = min((rank_of(place) for place in hit.worst.values()), default=None)
    nothing = Severity.NONE if type_.of_schema else Severity.INFO
    impact = Impact(
        change=change,
        type=type_,
        start=beginning.asset,
        severity=nothing if worst is None else SEVERITIES[worst],
        items=details.items(),
        totals=_totals(hit),
        total=len(nodes),
        direct=sum(not is_indirect(place) for place in hit.worst.values()),
        indirect=sum(is_indirect(place) for place in hit.worst.values()),
        columns=sum(hit.facts[node].dataset != node for node in nodes),
        datasets=len({hit.facts[node].dataset for node in nodes}),
        jobs=details.jobs(change.schema, late=policy.binds_late(beginning.start.type)),
        jobs_total=len(hit.jobs),
        max_hops=max((hit.walk.found[place].hops for place in hit.worst.values()), default=0),
        truncated=hit.walk.truncated,
        notes=(*beginning.notes, *caveats(tx, graph, beginning, hit)),
        next_cursor=cursors.encode(order(shown[-1]), question=same) if more else None,
        summary="",
    )
    return replace(impact, summary=summary_of(impact))


def _totals(hit: Spread) -> tuple[SeverityTotal, ...]:
    counts = Counter(rank_of(place) for place in hit.worst.values())
    return tuple(SeverityTotal(SEVERITIES[rank], counts[rank]) for rank in sorted(counts))
