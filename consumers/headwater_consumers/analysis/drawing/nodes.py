"""What is looked up of the datasets of a drawing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater_consumers.analysis.assets import dataset_asset
from headwater_consumers.analysis.drawing.answer import DrawnColumn, DrawnNode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater_consumers.analysis.reader import Transaction

_MOST_COLUMNS = 1_000


def drawn_nodes(tx: Transaction, hops: Mapping[int, int], *, columns: bool) -> dict[int, DrawnNode]:
    """Ids and signed hops ⇒ nodes, in that order."""
    ids = list(hops)
    rows = {row["node"]: row for row in tx.rows("drawing/datasets", nodes=ids)}
    schemas = _schemas(tx, ids) if columns else {}
    return {
        node: DrawnNode(
            dataset_asset(row["properties"]),
            hops[node],
            row["gone"],
            tuple(row["owners"]),
            tuple(
                f"{tag}={value}" if value else tag for tag, value in zip(row["tags"], row["tag_values"], strict=True)
            ),
            row["criticality"] or None,
            row["classification"] or None,
            tuple(row["owners_of_jobs"]),
            row["more_upstream"],
            row["more_downstream"],
            *schemas.get(node, ((), 0 if columns else None)),
        )
        for node, row in ((node, rows[node]) for node in ids)
    }


def _tag(key: str, value: str) -> str:
    return f"{key}={value}" if value else key


def _schemas(tx: Transaction, nodes: list[int]) -> dict[int, tuple[tuple[DrawnColumn, ...], int]]:
    return {
        row["node"]: (
            tuple(DrawnColumn(column["key"], column["name"], column["type"] or None) for column in row["columns"]),
            row["total"],
        )
        for row in tx.rows("drawing/columns", nodes=nodes, most=_MOST_COLUMNS)
    }
