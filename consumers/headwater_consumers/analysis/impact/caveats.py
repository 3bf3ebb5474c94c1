"""What an impact says besides, so that none of it reads as if there were nothing where something was seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater_consumers.analysis.assets import dataset_asset, job_asset
from headwater_consumers.analysis.impact.wording import called, short

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from headwater_consumers.analysis.impact.graph import StoredGraph
    from headwater_consumers.analysis.impact.spread import Spread
    from headwater_consumers.analysis.impact.start import Beginning
    from headwater_consumers.analysis.reader import Transaction

_MOST_NAMED = 3


def caveats(tx: Transaction, graph: StoredGraph, beginning: Beginning, hit: Spread) -> Iterator[str]:
    """Sentences on a change of a column.

    - Jobs that used it by plans that hold no more, and use it no more.
    - Where it hits nothing: which datasets are made of its dataset all the same.

    Args:
        tx: to look names up in.
        graph: that was asked where the change goes.
        beginning: what changes.
        hit: what was hit.
    """
    start = beginning.start
    if beginning.changed.column is None:
        return
    ended: dict[str, str] = {}
    for key in {key for node in (*start.nodes, *start.wholes) for key in graph.ended.get(node, ())}:
        plan = graph.plan(key)
        if plan.job not in hit.jobs and plan.last_seen is not None:
            ended[plan.job] = max(ended.get(plan.job, ""), plan.last_seen.isoformat(timespec="seconds"))
    if ended:
        rows = tx.one("impact/jobs", keys=sorted(ended))["jobs"]
        jobs = [job_asset(row["properties"]) for row in rows]
        named = _listed(f"{short(job.name)} until {ended[job.key]}" for job in jobs)
        yield f"It was used by {named}; later complete runs of {_it(len(jobs))} are without that."
    if hit.worst or start.within is not None or beginning.asset.column is None:
        return
    targets = sorted({target for _, target, *_ in graph.feeds([start.dataset])} - {start.dataset})
    if targets:
        found = tx.one("impact/assets", nodes=targets[:1_000])["assets"]
        names = _listed(sorted(called(dataset_asset(row["dataset"])) for row in found))
        into = "1 dataset" if len(targets) == 1 else f"{len(targets):,} datasets"
        yield f"Its dataset goes into {into}, {names}; by the column lineage that is known, this column doesn't."


def _listed(texts: Iterable[str]) -> str:
    words = list(texts)
    more = f" and {len(words) - _MOST_NAMED:,} more" if len(words) > _MOST_NAMED else ""
    return ", ".join(words[:_MOST_NAMED]) + more


def _it(count: int) -> str:
    return "it" if count == 1 else "them"
