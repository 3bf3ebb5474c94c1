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
        name: name in exemptions, metrics and reports.
        title: requirement, as a sentence.
        fix: remedy for its findings, as a sentence.
        message: returns the meaning of a row of `found`, as a sentence. Beside `found` the statement gives `total` and
            `exempted`.
        given: returns further parameters of its statement, by name, from the graph, the day of today, and the keys of
            datasets with several names; None: there are none.
        unknown: returns a clause on what isn't known and may break it as well, and the exempted keys that the clause
            would have named; None: its statement sees all there is.
    """

    name: str
    title: str
    fix: str
    message: Callable[[Mapping[str, Any]], str]
    given: Callable[[Transaction, date, Mapping[str, list[str]]], Mapping[str, Any]] | None = None
    unknown: Callable[[Transaction, Collection[str]], tuple[str | None, set[str]]] | None = None

    @property
    def statement(self) -> str:
        """Name of its statement."""
        return f"checks/{self.name.replace('-', '_')}"

    @property
    def follows_names(self) -> bool:
        """True when its statement needs the datasets with several names."""
        return "$given.names" in statement(self.statement)


def of_dataset(row: Mapping[str, Any], field: str = "dataset") -> str:
    """Dataset that a row names besides its subject, with its name in a catalog."""
    return named(dataset_asset(row[field]))


def named(dataset: Asset) -> str:
    """A dataset in a sentence, with its name in a catalog: `s3://lake/orders (db.orders)`."""
    return dataset.spelling if dataset.table is None else f"{dataset.spelling} ({dataset.table})"


def query_text(row: Mapping[str, Any]) -> str:
    """A streaming query: by its name, where it has one, else by the beginning of its id."""
    return str(row["query_name"] or row["query_id"][:8])
