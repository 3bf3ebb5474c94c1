"""Input and output facets, and those of a dataset that are of one run → DatasetUse."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from headwater_openlineage.datasets import digest_of_schema
from headwater_openlineage.facets import kept
from headwater_openlineage.reading import Json, integer, members, rows, text
from headwater_openlineage.subset import position_of_subset
from headwater_schemas.events import Certainty, DatasetRef, DatasetUse, Position, TableSnapshot

Fields: TypeAlias = dict[str, Any]
LIFECYCLE: Final = "lifecycleStateChange"
_REPORTS: Final = ("icebergScanReport", "icebergCommitReport")


def use_of(dataset: DatasetRef, entry: Json, at: str, facets: Mapping[str, tuple[Json, str]], inner: str) -> DatasetUse:
    """A dataset as a run read or wrote it.

    Args:
        dataset: which.
        entry: the member of `inputs` or `outputs`.
        at: its pointer.
        facets: of the dataset, by name, each with its pointer.
        inner: `inputFacets` or `outputFacets`.

    Raises:
        Refused: a facet of the specification has another shape than it describes.
    """
    given = inner_facets(entry, inner, at)
    fields: Fields = {}
    for name in ("inputStatistics", "outputStatistics"):
        if name in given:
            fields |= _statistics(*given[name])
    position = _position(dataset, facets, given)
    if position is not None:
        fields |= {"position": position, "certainty": Certainty.EXACT}
    others = {name: kept(facet) for name, (facet, _) in given.items()}
    if inner == "outputFacets" and LIFECYCLE in facets:
        # Of one write; the dataset's own is that of the last one alone.
        others.setdefault(LIFECYCLE, kept(facets[LIFECYCLE][0]))
    return DatasetUse(dataset=dataset, facets=others, schema_digest=digest_of_schema(facets), **fields)


def _statistics(facet: Json, at: str) -> Fields:
    counts = {
        "rows": integer(facet, "rowCount", at),
        "bytes": integer(facet, "size", at),
        "files": integer(facet, "fileCount", at),
    }
    return {name: count for name, count in counts.items() if count is not None}


def _position(
    dataset: DatasetRef, facets: Mapping[str, tuple[Json, str]], given: dict[str, tuple[Json, str]]
) -> Position | None:
    """Which part or version: by the table format's own report, the subset, or the version of the dataset."""
    for name in _REPORTS:
        if name in given:
            facet, at = given[name]
            snapshot = integer(facet, "snapshotId", at)
            if snapshot is not None:
                operation = text(facet, "operation", at)
                return Position(
                    table_snapshot=TableSnapshot(format="iceberg", snapshot_id=str(snapshot), operation=operation)
                )
    if "subset" in given and (found := position_of_subset(dataset, *given["subset"])) is not None:
        return found
    if "version" in facets:
        facet, at = facets["version"]
        version = text(facet, "datasetVersion", at)
        if version:
            storage = facets.get("storage")
            format_ = text(storage[0], "storageLayer", storage[1]) if storage is not None else None
            return Position(table_snapshot=TableSnapshot(format=(format_ or "").lower(), snapshot_id=version))
    return None


def inner_facets(entry: Json, inner: str, at: str) -> dict[str, tuple[Json, str]]:
    """The facets of one use, `inputFacets` or `outputFacets`, by name, each with its pointer.

    Raises:
        Refused: it is no object of objects.
    """
    return {name: (facet, where) for name, facet, where in members(entry, inner, at)}


def entries(document: Json, name: str) -> list[tuple[Json, str]]:
    """The members of `inputs` or `outputs`, each with its pointer.

    Raises:
        Refused: it is no array of objects.
    """
    return list(rows(document, name, ""))


def facets_of(source: Json, at: str) -> dict[str, tuple[Json, str]]:
    """The `facets` of a run, job or dataset by name, each with its pointer.

    Raises:
        Refused: it is no object of objects.
    """
    return {name: (facet, where) for name, facet, where in members(source, "facets", at)}
