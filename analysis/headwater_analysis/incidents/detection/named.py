"""Names of datasets, jobs and queries in faults."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from headwater_analysis.assets import Asset, dataset_asset
from headwater_analysis.errors import AmbiguousError, NotFoundError
from headwater_analysis.identity import Identities
from headwater_analysis.incidents.actions import with_digest
from headwater_analysis.reader import Transaction
from headwater_analysis.resolve import resolve_column
from headwater_graph.keys import dataset_key
from headwater_schemas.events import DatasetRef
from headwater_schemas.incident_rules import MOST_OF_A_CAUSE
from headwater_schemas.naming import spelling

_UNNAMED: Final = "an unknown job"


def cause_text(text: str) -> str:
    """Shorten a cause to at most `MOST_OF_A_CAUSE` characters; a digest replaces the text beyond."""
    return text if len(text) <= MOST_OF_A_CAUSE else with_digest(text, text)


def job_text(namespace: str | None, name: str | None) -> str:
    """Name of a job for a sentence."""
    return _UNNAMED if namespace is None or name is None else spelling(namespace, name)


@dataclass(frozen=True, slots=True)
class FaultyQuery:
    """A streaming query with a fault.

    Attributes:
        query_id: id of the query.
        text: name of the query, else the beginning of its id.
        job: name of the query's job.
    """

    query_id: str
    text: str
    job: str


def faulty_queries(tx: Transaction, keys: Iterable[str]) -> dict[str, FaultyQuery]:
    """Look up streaming queries. The keys of the result are keys of the queries."""
    rows = tx.rows("faults/queries", queries=sorted(set(keys)))
    return {
        row["query"]: FaultyQuery(
            row["query_id"], row["query_name"] or row["query_id"][:8], job_text(row["namespace"], row["name"])
        )
        for row in rows
    }


class ShownDatasets:
    """Datasets of a statement's rows, under the names that answers show."""

    def __init__(self, tx: Transaction, rows: Iterable[Mapping[str, Any]]) -> None:
        self._tx = tx
        self._identities = Identities.of(tx)
        found = {row["key"]: dataset_asset(row) for row in rows}
        self._identities.look_at(found)
        self._shown = {key: self._named(asset) for key, asset in found.items()}

    def _named(self, asset: Asset) -> Asset:
        node = self._identities.named(self._identities.shown(asset.key))
        return asset if node is None else node.asset

    def of(self, key: str) -> Asset:
        """Shown dataset, by the key of a dataset in the rows."""
        return self._shown[key]

    def key_of(self, namespace: str, name: str) -> str:
        """Key of the shown dataset for a name of a dataset."""
        return self._identities.shown(dataset_key(self._tx.tenant, namespace, name))

    def column(self, asset: Asset, name: str | None) -> str | None:
        """Path of a dataset's column as in the graph; None: the dataset has no column of this name."""
        if name is None:
            return None
        try:
            return resolve_column(self._tx, asset.key, name).asset.column
        except (NotFoundError, AmbiguousError):
            return None

    def names(self, asset: Asset) -> tuple[str, ...]:
        """All names of a dataset, the shown one first."""
        return asset.spelling, *self._identities.known_as(asset.key)


def dataset_ref(asset: Asset) -> DatasetRef:
    """Reference of a dataset for a part of a scope."""
    return DatasetRef(asset.namespace, asset.name)
