"""Conversion of input facets, output facets and run-specific dataset facets to a DatasetUse."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final, TypeAlias

import msgspec

from headwater_openlineage.described import DescribedDataset, Facets
from headwater_openlineage.facets import kept
from headwater_openlineage.reading import Json, integer, read_facets, rows, text
from headwater_openlineage.subset import position_of_subset
from headwater_schemas.events import Certainty, DatasetUse, Position, TableSnapshot

Fields: TypeAlias = dict[str, Any]
LIFECYCLE: Final = "lifecycleStateChange"
_REPORTS: Final = ("icebergScanReport", "icebergCommitReport")


def use_of(dataset: DescribedDataset, entry: Json, at: str, inner: str, unread: Collection[str] = ()) -> DatasetUse:
    """Read the use of a dataset by a run.

    Args:
        entry: the member of `inputs` or `outputs`.
        at: JSON pointer of the use.
        inner: `inputFacets` or `outputFacets`.
        unread: pointers of facets that aren't read.

    Raises:
        Refused: a facet's shape differs from the specification.
    """
    given, left = read_facets(entry, inner, at, unread)
    fields: Fields = {}
    for name in ("inputStatistics", "outputStatistics"):
        if name in given:
            fields |= _statistics(*given[name])
    position = _position(dataset, given)
    if position is not None:
        fields |= {"position": position, "certainty": Certainty.EXACT}
    others = {name: kept(facet) for name, (facet, _) in given.items()}
    others |= {name: kept(facet) for name, facet in left.items()}
    if inner == "outputFacets" and LIFECYCLE in dataset.facets:
        # Each write has its own value; the dataset has only the value of the last write.
        others.setdefault(LIFECYCLE, kept(dataset.facets[LIFECYCLE][0]))
    plain = dataset.plain_use
    return msgspec.structs.replace(plain, facets=others, **fields) if others or fields else plain


def _statistics(facet: Json, at: str) -> Fields:
    counts = {
        "rows": integer(facet, "rowCount", at),
        "bytes": integer(facet, "size", at),
        "files": integer(facet, "fileCount", at),
    }
    return {name: count for name, count in counts.items() if count is not None}


def _position(dataset: DescribedDataset, given: Facets) -> Position | None:
    """Read the used part or version: from the table format's report, else the subset, else the dataset's version."""
    for name in _REPORTS:
        if name in given:
            facet, at = given[name]
            snapshot = integer(facet, "snapshotId", at)
            if snapshot is not None:
                operation = text(facet, "operation", at)
                return Position(
                    table_snapshot=TableSnapshot(format="iceberg", snapshot_id=str(snapshot), operation=operation)
                )
    if "subset" in given and (found := position_of_subset(dataset.ref, *given["subset"])) is not None:
        return found
    return dataset.version


def entries(document: Json, name: str) -> list[tuple[Json, str]]:
    """List the members of `inputs` or `outputs`, each with its pointer.

    Raises:
        Refused: the member isn't an array of objects.
    """
    return list(rows(document, name, ""))
