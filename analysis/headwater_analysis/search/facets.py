"""Facets of a search: number of hits for each type, namespace, owner, tag, sensitivity and kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from headwater_analysis.assets import AssetKind
from headwater_analysis.counted_values import ValueCount, counted_values
from headwater_analysis.search.found_rows import Row


@dataclass(frozen=True, slots=True)
class SearchFacets:
    """Values of all counted hits, the most frequent first; at most 20 each.

    Attributes:
        types: types of datasets (TOPIC, TABLE …) and of jobs (STREAMING, BATCH); a column has the type of its dataset.
        namespaces: namespaces of datasets and jobs; a column has the namespace of its dataset.
        owners: owners; a column has the owners of its dataset.
        tags: `key`, or `key=value`.
        sensitivities: declared sensitivities.
        kinds: kinds of assets.
    """

    types: tuple[ValueCount, ...]
    namespaces: tuple[ValueCount, ...]
    owners: tuple[ValueCount, ...]
    tags: tuple[ValueCount, ...]
    sensitivities: tuple[ValueCount, ...]
    kinds: tuple[ValueCount, ...]


def facets_of_hits(rows: Sequence[Row]) -> SearchFacets:
    """Count the values of rows with declared owners, tags and sensitivities."""
    return SearchFacets(
        types=counted_values([row.type] if row.type else [] for row in rows),
        namespaces=counted_values([row.asset.namespace] for row in rows),
        owners=counted_values(row.owners for row in rows),
        tags=counted_values(
            # A row of a column has the tags of all columns of its dataset.
            [
                f"{key}={value}" if value else key
                for key, value, column in row.tags
                if row.asset.kind is not AssetKind.COLUMN or column == row.asset.column
            ]
            for row in rows
        ),
        sensitivities=counted_values([row.sensitivity] if row.sensitivity else [] for row in rows),
        kinds=counted_values([row.asset.kind.value] for row in rows),
    )
