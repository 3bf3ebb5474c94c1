"""Assets as answers show them: datasets, columns, jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import zip_longest
from typing import Any

from headwater_schemas.naming import spelling

_CATALOGS = frozenset({"TABLE", "VIEW"})


class AssetKind(StrEnum):
    """Kind of an asset."""

    DATASET = "DATASET"
    COLUMN = "COLUMN"
    JOB = "JOB"


# Treated as immutable. A frozen dataclass takes five times as long to create, and a page has thousands.
@dataclass(slots=True, unsafe_hash=True)
class Asset:
    """A dataset, a column or a job.

    Attributes:
        kind: DATASET, COLUMN or JOB.
        key: key of the node: 32 hex digits.
        namespace: namespace by OpenLineage's naming; for a column, namespace of its dataset.
        name: name by OpenLineage's naming; for a column, name of its dataset.
        column: field path of a column.
        title: short name, for captions.
        type: a dataset's type, a column's data type, a job's processing type; where known.
        table: name of the table in a catalog, `db.orders`; for a column, of its dataset; None: no catalog has the
            dataset.
    """

    kind: AssetKind
    key: str
    namespace: str
    name: str
    column: str | None = None
    title: str | None = None
    type: str | None = None
    table: str | None = None

    @property
    def spelling(self) -> str:
        """Name that `resolve` understands: `kafka://broker:9092/orders`, `file:/tmp/x`."""
        return spelling(self.namespace, self.name) + (f"#{self.column}" if self.column is not None else "")


def dataset_asset(properties: Mapping[str, Any]) -> Asset:
    """Build the asset of a Dataset node's `key`, `namespace`, `name`, `title`, `type`."""
    return Asset(
        AssetKind.DATASET,
        properties["key"],
        properties["namespace"],
        properties["name"],
        title=properties.get("title"),
        type=properties.get("type"),
        table=_table(properties),
    )


def column_asset(dataset: Mapping[str, Any], column: Mapping[str, Any]) -> Asset:
    """Build the asset of a Column node and its Dataset node."""
    return Asset(
        AssetKind.COLUMN,
        column["key"],
        dataset["namespace"],
        dataset["name"],
        column["name"],
        title=dataset.get("title"),
        type=column.get("data_type"),
        table=_table(dataset),
    )


def dataset_or_column(dataset: Mapping[str, Any], column: Mapping[str, Any] | None) -> Asset:
    """Build the asset of a Column node, or of the Dataset node itself if there is no column."""
    return dataset_asset(dataset) if column is None else column_asset(dataset, column)


def _table(dataset: Mapping[str, Any]) -> str | None:
    return table_of(dataset["name"], dataset.get("symlinks"), dataset.get("symlink_types"))


def table_of(name: str, symlinks: Sequence[str] | None, types: Sequence[str] | None) -> str | None:
    """Name of a dataset in a catalog, from the parallel lists of its latest symlinks and their types.

    The first of several names in alphabetical order; None if there is none, or if the name is the dataset's own.
    """
    if not symlinks:
        return None  # most datasets of a page have no other names
    pairs = zip_longest(symlinks, types or ())
    return min((link for link, type_ in pairs if link and type_ in _CATALOGS and link != name), default=None)


def job_asset(properties: Mapping[str, Any]) -> Asset:
    """Build the asset of a Job node's `key`, `namespace`, `name`, `processing_type`."""
    return Asset(
        AssetKind.JOB,
        properties["key"],
        properties["namespace"],
        properties["name"],
        type=properties.get("processing_type"),
    )
