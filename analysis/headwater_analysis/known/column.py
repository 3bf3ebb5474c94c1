"""Details of one column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from headwater_analysis.assets import Asset, AssetKind
from headwater_analysis.declared import declared_together
from headwater_analysis.errors import NotFoundError
from headwater_analysis.identity import Identities
from headwater_analysis.known.dataset import KnownColumn, known_column
from headwater_analysis.known.tags_and_uses import AssetTag, tags_of
from headwater_analysis.lineage import Lineage, LineageDirection, LineageQuestion
from headwater_analysis.lineage.find_lineage import lineage_in
from headwater_analysis.owners import OwnerName, owners_of
from headwater_analysis.reader import Reader, Transaction
from headwater_analysis.resolve import resolve_asset, resolve_dataset
from headwater_analysis.schemas import KnownType, types_of
from headwater_graph.keys import column_key, dataset_key

MOST_HOPS = 20
MOST_TYPES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnDetails:
    """Details of one column.

    Attributes:
        column: the column.
        dataset: dataset of the column.
        details: type, description and tags of the column, and when schemas had it.
        types: types that schemas stated, the last reported first; at most 20.
        owners: owners of the dataset, declared ones before those that events report.
        tags: tags of the whole dataset, which hold for each of its columns.
        classification, criticality: classification and criticality of the dataset, as its events report them.
        declared: declared properties of the column, by name of the property.
        known_as: other names of the dataset.
        gone: whether the dataset was dropped.
        origins: columns, and datasets as a whole, from which the column is derived in one step; at most 20 on the page.
        uses: columns, and datasets as a whole, that are derived from the column in one step; at most 20 on the page.
    """

    column: Asset
    dataset: Asset
    details: KnownColumn
    types: tuple[KnownType, ...]
    owners: tuple[OwnerName, ...]
    tags: tuple[AssetTag, ...]
    classification: str | None
    criticality: str | None
    declared: dict[str, Any]
    known_as: tuple[str, ...]
    gone: bool
    origins: Lineage
    uses: Lineage


def column_details(reader: Reader, text: str) -> ColumnDetails:
    """Return the details of the column that `text` names: `dataset#field.path`, or its key.

    Raises:
        NotFoundError: no column has this name; with the nearest names.
        AmbiguousError: several datasets have this name.
    """
    return reader.read(lambda tx: details_of(tx, resolved(tx, text)))


def resolved(tx: Transaction, text: str) -> Asset:
    """Return the column that `text` names.

    Raises:
        NotFoundError: no column has this name, or it is the name of a dataset; with the nearest names.
        AmbiguousError: several datasets have this name.
    """
    asset = resolve_asset(tx, text).asset
    if asset.kind is not AssetKind.COLUMN:
        raise NotFoundError(f"{text!r} is a dataset: name a column of it as dataset#field.path.")
    return asset


def details_of(tx: Transaction, asset: Asset) -> ColumnDetails:
    """Return the details of a resolved column."""
    named = resolve_dataset(tx, dataset_key(tx.tenant, asset.namespace, asset.name)).asset
    identities = Identities.of(tx)
    members = identities.members(named.key)
    own = tx.one("known/dataset", key=named.key, keys=members)["properties"]
    tags, path = tags_of(own), asset.column or ""
    row = tx.one("known/column", keys=[column_key(tx.tenant, member, path) for member in members])
    declared = declared_together(tx, members)
    origins, uses = (
        lineage_in(tx, LineageQuestion(asset.key, direction, edges=False, limit=MOST_HOPS))
        for direction in LineageDirection
    )
    return ColumnDetails(
        column=asset,
        dataset=named,
        details=known_column(row["column"], row["link"], tags),
        types=types_of(tx, members, path, most=MOST_TYPES),
        owners=owners_of({} if declared is None else declared.values) or owners_of(own),
        tags=tuple(tag for tag in tags if tag.column is None),
        classification=own.get("classification") or None,
        criticality=own.get("criticality") or None,
        declared={} if declared is None else declared.columns.get(path, {}),
        known_as=identities.known_as(named.key),
        gone=bool(own.get("dropped")),
        origins=origins,
        uses=uses,
    )
