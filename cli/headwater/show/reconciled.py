"""What was reconciled, on a terminal and as a document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table

from headwater.console import shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from headwater.reconciling.knowledge import Knowledge
    from headwater.reconciling.reconcile import Reconciled


def document(found: Reconciled, known: Knowledge) -> dict[str, Any]:
    """One checkpoint of `reconcile --json`."""
    return {
        "checkpoint": found.location,
        "query_id": found.query_id,
        "job": {"namespace": known.job.namespace, "name": known.job.name},
        "batches": _bounds(found.batches),
        "untold": None if found.untold is None else list(found.untold),
        "uncommitted": list(found.uncommitted),
        "unreadable": [{"batch_id": batch, "reason": reason} for batch, reason in found.unreadable],
        "purged": found.purged,
        "gaps": None if found.gaps is None else [{"first": first, "last": last} for first, last in found.gaps],
    }


def table(documents: Sequence[dict[str, Any]]) -> Table:
    """A row for each checkpoint."""
    out = Table(box=None, pad_edge=False)
    for heading in ("checkpoint", "job", "batches", "not in the graph", "not committed", "gaps"):
        out.add_column(heading, overflow="fold")
    for each in documents:
        bounds = each["batches"]
        out.add_row(
            shortened(each["checkpoint"]),
            shortened(each["job"]["name"]),
            f"{bounds['count']:,}: {bounds['first']} to {bounds['last']}" if bounds["count"] else "none",
            "not asked" if each["untold"] is None else f"{len(each['untold']):,}",
            ", ".join(map(str, each["uncommitted"])) or "none",
            gaps_text(each["gaps"]),
        )
    return out


def gaps_text(gaps: Iterable[dict[str, int]] | None) -> str:
    """`0 to 11, 14`; none where there is none."""
    if gaps is None:
        return "not asked"
    parts = (
        f"{each['first']} to {each['last']}" if each["last"] > each["first"] else str(each["first"]) for each in gaps
    )
    return ", ".join(parts) or "none"


def _bounds(batches: Sequence[int]) -> dict[str, int | None]:
    return {
        "count": len(batches),
        "first": batches[0] if batches else None,
        "last": batches[-1] if batches else None,
    }
