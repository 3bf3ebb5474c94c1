"""Declared owners and tags. The full-text index has only reported ones.

A search by owner or tag finds both: assets from the index, and assets with a declared owner or tag.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from headwater_analysis.assets import AssetKind
from headwater_analysis.declared import Declared, declared, declared_of_datasets
from headwater_analysis.reader import Transaction
from headwater_analysis.search.found_rows import Row, rows_of
from headwater_graph.keys import dataset_key

_STATEMENTS = {
    AssetKind.DATASET: "search/declared_datasets",
    AssetKind.JOB: "search/declared_jobs",
    AssetKind.COLUMN: "search/declared_columns",
}


def declared_rows(
    tx: Transaction,
    kind: AssetKind,
    *,
    is_owner: Callable[[str], bool] | None,
    is_tag: Callable[[str, str], bool] | None,
    namespace: str | None,
    limit: int,
    types: Sequence[str] = (),
    sensitivity: str | None = None,
) -> list[Row]:
    """Assets of a kind with a declared owner, tag or sensitivity that matches, in order of key. Their scores are 0.

    Args:
        kind: kind of asset; columns are found only by tags.
        is_owner: filter of owners; None: any.
        is_tag: filter of tags, by key and value ('' for none); None: any.
        namespace: namespace of the dataset or job; None: any.
        types: types of the dataset or job, in capitals; empty: any.
        sensitivity: sensitivity of the asset, of a column of the dataset, or of the column's dataset; None: find only
            by owners and tags.
    """
    if not tx.declarations:
        return []
    owners = [row["key"] for row in tx.rows("search/declared_owners") if is_owner(row["key"])] if is_owner else []
    tags = [
        [row["key"], row["value"]]
        for row in (tx.rows("search/declared_tags") if is_tag else ())
        if is_tag and is_tag(row["key"], row["value"])
    ]
    if not owners and not tags and sensitivity is None:
        return []
    given: dict[str, Any] = {"tags": tags, "namespace": namespace, "limit": limit, "sensitivity": sensitivity}
    given["types"] = list(types) or None
    if kind is not AssetKind.COLUMN:
        given["owners"] = owners
    return rows_of(kind, tx.one(_STATEMENTS[kind], **given))


def with_declared(tx: Transaction, rows: Sequence[Row]) -> list[Row]:
    """Add declared owners and tags to the rows, after the reported ones, under all names of each asset."""
    if not tx.declarations or not rows:
        return list(rows)
    keys = [_subject(tx, row) for row in rows]
    jobs = {key for row, key in zip(rows, keys, strict=True) if row.asset.kind is AssetKind.JOB}
    found = declared_of_datasets(tx, set(keys) - jobs) | (declared(tx, jobs) if jobs else {})
    return [row if key not in found else _with(row, found[key]) for row, key in zip(rows, keys, strict=True)]


def _subject(tx: Transaction, row: Row) -> str:
    """Key of a row's dataset or job; for a column, key of its dataset."""
    if row.asset.kind is not AssetKind.COLUMN:
        return row.asset.key
    return dataset_key(tx.tenant, row.asset.namespace, row.asset.name)


def _with(row: Row, found: Declared) -> Row:
    owners = dict.fromkeys((*row.owners, *(found.values.get("owners") or ())))
    tags = dict.fromkeys((*row.tags, *((key, value, column or "") for key, value, column in found.tags())))
    sensitivity = found.sensitivity()
    if row.asset.column is not None:
        sensitivity = found.columns.get(row.asset.column, {}).get("sensitivity") or found.values.get("sensitivity")
    return replace(row, owners=tuple(owners), tags=tuple(tags), sensitivity=sensitivity)
