"""Result of reconciling, on a terminal and as a document."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.table import Table

from headwater.console import shortened
from headwater.reconciling.knowledge import Knowledge
from headwater.reconciling.reconcile import Reconciled
from headwater_schemas.ranges import range_text
from headwater_schemas.redaction import redact


def document(found: Reconciled, known: Knowledge) -> dict[str, Any]:
    """One checkpoint of `reconcile --json`."""
    return {
        "checkpoint": redact(found.location),
        "query_id": found.query_id,
        "job": {"namespace": known.job.namespace, "name": known.job.name},
        "batches": _bounds(found.batches),
        "not_emitted": None if found.not_emitted is None else list(found.not_emitted),
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
            f"{bounds['count']:,}: {range_text(bounds['first'], bounds['last'] + 1)}" if bounds["count"] else "none",
            "not asked" if each["not_emitted"] is None else f"{len(each['not_emitted']):,}",
            ", ".join(map(str, each["uncommitted"])) or "none",
            gaps_text(each["gaps"]),
        )
    return out


def tables(documents: Sequence[dict[str, Any]]) -> Table:
    """A row for each open run of each table."""
    out = Table(box=None, pad_edge=False)
    for heading in ("table", "run", "job", "became", "version", "because"):
        out.add_column(heading, overflow="fold")
    for each in documents:
        for run in each["runs"]:
            out.add_row(
                shortened(each["table"]),
                shortened(run["run_id"]),
                shortened(run["job"]["name"]),
                run["became"],
                shortened(run["version"] or ""),
                shortened(run["reason"] or "", 200),
            )
        if not each["runs"]:
            out.add_row(shortened(each["table"]), "no open write")
    return out


def gaps_text(gaps: Iterable[dict[str, int]] | None) -> str:
    """`0..12, 14`; none where there is none."""
    if gaps is None:
        return "not asked"
    return ", ".join(range_text(each["first"], each["last"] + 1) for each in gaps) or "none"


def _bounds(batches: Sequence[int]) -> dict[str, int | None]:
    return {
        "count": len(batches),
        "first": batches[0] if batches else None,
        "last": batches[-1] if batches else None,
    }
