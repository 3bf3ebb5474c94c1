"""A rule, and what its statement gives."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from headwater_analysis.assets import Asset, dataset_asset
from headwater_analysis.reader import Transaction, statement


@dataclass(frozen=True, slots=True)
class CheckRule:
    """A rule. Its statement in `analysis/cypher/checks.cypher`, named as it is with _ for -, gives what breaks it.

    Attributes:
        name: of it, in exemptions, metrics and reports.
        title: what it requires, as a sentence.
        fix: what to do about its findings, as a sentence.
        message: what a row of `found` means, as a sentence. Beside `found` the statement gives `total` and `exempted`.
        given: what its statement needs to know besides, by name, of the graph, of today, and of datasets with several
            names; None: nothing.
        unknown: what isn't known and may break it as well, as a clause, and the exempted keys that it would have named;
            None: its statement sees all there is.
    """

    name: str
    title: str
    fix: str
    message: Callable[[Mapping[str, Any]], str]
    given: Callable[[Transaction, date, Mapping[str, list[str]]], Mapping[str, Any]] | None = None
    unknown: Callable[[Transaction, Collection[str]], tuple[str | None, set[str]]] | None = None

    @property
    def statement(self) -> str:
        """The name of its statement."""
        return f"checks/{self.name.replace('-', '_')}"

    @property
    def follows_names(self) -> bool:
        """True when its statement needs the datasets with several names."""
        return "$given.names" in statement(self.statement)


def of_dataset(row: Mapping[str, Any], field: str = "dataset") -> str:
    """The dataset that a row names besides its subject, with what a catalog calls it."""
    return named(dataset_asset(row[field]))


def named(dataset: Asset) -> str:
    """A dataset in a sentence, with what a catalog calls it: `s3://lake/orders (db.orders)`."""
    return dataset.spelling if dataset.table is None else f"{dataset.spelling} ({dataset.table})"


def query_text(row: Mapping[str, Any]) -> str:
    """A streaming query: by its name, where it has one, else by the beginning of its id."""
    return str(row["query_name"] or row["query_id"][:8])
