"""What an answer says besides, so that no part of it reads as if there were nothing where something was seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater_consumers.analysis.identity import Identities
from headwater_consumers.analysis.lineage.plans import Written
from headwater_consumers.analysis.lineage.question import Direction

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from headwater_consumers.analysis.lineage.plans import Plans
    from headwater_consumers.analysis.lineage.scope import Scope
    from headwater_consumers.analysis.reader import Transaction

MOST_LOOKED_AT = 1_000
"""Jobs and hops next to what is asked of, those seen last."""
_MOST_NAMED = 3


@dataclass(frozen=True, slots=True)
class Caveats:
    """What else to know of an answer.

    Attributes:
        incomplete: sentences on column lineage that is incomplete or unknown, so that there may be more.
        others: other sentences.
    """

    incomplete: tuple[str, ...]
    others: tuple[str, ...]


def caveats(tx: Transaction, scope: Scope, plans: Plans, dataset: str, *, of_columns: bool, nothing: bool) -> Caveats:
    """Caveats of an answer.

    - Upstream: the column lineage of jobs that write the dataset is incomplete, so that it may come of more.
    - Downstream of a column: the same of jobs that read its dataset.
    - Of a column that nothing is listed of: datasets next to its own were seen all the same.

    Args:
        tx: to look up in.
        scope: of the question.
        plans: as of its time.
        dataset: key of the one asked of, or that has the column asked of.
        of_columns: whether a column is asked of.
        nothing: whether nothing is listed.
    """
    datasets = Identities.of(tx).members(dataset)
    bounds = {"datasets": datasets, "jobs": scope.jobs, "as_of": scope.as_of, "since": scope.since}
    upstream = scope.direction is Direction.UPSTREAM
    feeds = []
    if of_columns:
        name = "lineage/fed_by" if upstream else "lineage/feeding"
        feeds = tx.one(name, **bounds, limit=MOST_LOOKED_AT)["feeds"]
    if upstream:
        writers = tx.one("lineage/writers", **bounds, limit=MOST_LOOKED_AT)["jobs"]
        asked = {Written(job, written): name for job, name, written in writers}
    else:
        asked = {Written(job, target): name for _, _, job, name, target in feeds}
    reasons = plans.incomplete(asked)
    unseen = plans.unseen(asked) if of_columns else set(reasons)
    incomplete = sorted({(asked[written], reasons.get(written)) for written in unseen}, key=str)
    return Caveats(tuple(_incomplete(incomplete)), tuple(_seen(feeds, upstream=upstream)) if nothing else ())


def _incomplete(jobs: Sequence[tuple[str, str | None]]) -> Iterator[str]:
    for name, reason in jobs[:_MOST_NAMED]:
        what = "isn't known" if reason is None else f"is incomplete ({reason})"
        yield f"Column lineage of {name} {what}: there may be more."
    if len(jobs) > _MOST_NAMED:
        yield f"So it is with {len(jobs) - _MOST_NAMED:,} more."


def _seen(feeds: Sequence[Sequence[str]], *, upstream: bool) -> Iterator[str]:
    if feeds:
        others = dict.fromkeys(title for _, title, *_ in feeds)
        seen = "was seen to be made of" if upstream else "was seen to go into"
        yield f"Its dataset {seen} {_listed(others)}; no plan that holds says so of this column."


def _listed(texts: Iterable[str]) -> str:
    words = list(texts)
    more = f" and {len(words) - _MOST_NAMED:,} more" if len(words) > _MOST_NAMED else ""
    return ", ".join(words[:_MOST_NAMED]) + more
