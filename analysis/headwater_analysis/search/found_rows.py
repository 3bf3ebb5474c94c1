"""Rows of the index's statements: assets with the properties that a hit shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from headwater_analysis.assets import Asset, AssetKind, column_asset, dataset_asset, job_asset
from headwater_analysis.reader import Transaction

_STATEMENTS = {
    AssetKind.DATASET: "search/datasets",
    AssetKind.JOB: "search/jobs",
    AssetKind.COLUMN: "search/columns",
}


@dataclass(frozen=True, slots=True)
class Row:
    """A node from the index.

    Attributes:
        id: Neo4j's id.
        score: Lucene's score, comparable within one kind.
        names: names by which the node can be found.
        owners: owners; for a column, its dataset's owners.
        tags: key, value ('' for none) and field ('' for the whole); for a column, its dataset's tags.
        gone: whether the dataset was dropped, or the column isn't in the current schema.
        sensitivity: declared sensitivity (added by `with_declared`).
        type: type of the dataset or job; for a column, type of its dataset.
        labelled: whether its owners or tags have the words of the text.
        uses: number of datasets that it feeds (added by `with_uses`).
    """

    id: int
    asset: Asset
    score: float
    names: tuple[str, ...]
    owners: tuple[str, ...]
    tags: tuple[tuple[str, str, str], ...]
    gone: bool
    sensitivity: str | None = None
    type: str | None = None
    labelled: bool = False
    uses: int = 0


def read_rows(
    tx: Transaction,
    kind: AssetKind,
    query: str,
    *,
    looked_at: int,
    limit: int,
    namespace: str | None = None,
    types: Sequence[str] = (),
    aliases: bool = False,
) -> list[Row]:
    """Read rows of the index for a query.

    Args:
        query: query made by `search.query`.
        looked_at: maximum number of nodes to take from the index.
        limit: maximum number of rows in the namespace to return.
        namespace: namespace of the dataset or job; None: any.
        types: types of the dataset or job, in capitals; empty: any.
        aliases: whether to search datasets by their other names, which are then in the rows' `names`, too.
    """
    name = "search/aliases" if aliases else _STATEMENTS[kind]
    given = {"namespace": namespace, "types": list(types) or None}
    return rows_of(kind, tx.one(name, query=query, looked_at=looked_at, limit=limit, **given))


def rows_of(kind: AssetKind, found: Mapping[str, Any]) -> list[Row]:
    """Build rows from a record of one of the search statements."""
    return [_row(kind, each) for each in found["rows"]]


def with_uses(tx: Transaction, rows: Sequence[Row]) -> list[Row]:
    """Add to each dataset's row the number of datasets that it feeds under its own name."""
    nodes = [row.id for row in rows if row.asset.kind is AssetKind.DATASET]
    if len(nodes) < 2:
        return list(rows)
    answer = tx.one("search/uses", nodes=nodes)
    found = dict(zip(answer["nodes"], answer["uses"], strict=True))
    return [replace(row, uses=found[row.id]) if found.get(row.id) else row for row in rows]


def columns_of(tx: Transaction, datasets: list[str], words: list[str], *, limit: int) -> list[Row]:
    """Columns of datasets (keys) whose names have, for each prefix, a word that begins with it. Their scores are 0."""
    return rows_of(AssetKind.COLUMN, tx.one("search/columns_of", keys=datasets, words=words, limit=limit))


def _row(kind: AssetKind, found: Mapping[str, Any]) -> Row:
    own: Mapping[str, Any] = found["properties"]
    owner: Mapping[str, Any] = found["dataset"] if kind is AssetKind.COLUMN else own
    tags = zip(owner["tags"] or (), owner["tag_values"] or (), owner["tag_fields"] or (), strict=True)
    names: tuple[str, ...]
    if kind is AssetKind.COLUMN:
        asset, names, gone = column_asset(owner, own), (own["name"],), bool(owner["dropped"]) or own["left"]
    elif kind is AssetKind.DATASET:
        names = own["name"], own["title"] or own["name"], *own.get("aliases", ())
        asset, gone = dataset_asset(own), bool(own["dropped"])
    else:
        asset, names, gone = job_asset({**own, "processing_type": own["type"]}), (own["name"],), False
    owners = tuple(owner["owners"] or ())
    return Row(found["id"], asset, found["score"], names, owners, tuple(tags), gone, type=owner["type"])
