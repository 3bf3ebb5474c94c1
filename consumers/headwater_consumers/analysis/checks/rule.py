"""A rule, and what its statement gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from headwater_consumers.analysis.assets import dataset_asset
from headwater_consumers.analysis.reader import Transaction


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule. Its statement, `analysis/cypher/checks/<name>.cypher` with _ for -, gives what breaks it.

    Attributes:
        name: of it, in exemptions, metrics and reports.
        title: what it requires, as a sentence.
        fix: what to do about its findings, as a sentence.
        message: what a row of `found` means, as a sentence. Beside `found` the statement gives `total` and `exempted`.
        given: what its statement needs to know besides, by name, of the graph and of today; None: nothing.
    """

    name: str
    title: str
    fix: str
    message: Callable[[Mapping[str, Any]], str]
    given: Callable[[Transaction, date], Mapping[str, Any]] | None = None

    @property
    def statement(self) -> str:
        """The name of its statement."""
        return f"checks/{self.name.replace('-', '_')}"


def of_dataset(row: Mapping[str, Any]) -> str:
    """The dataset that a row names besides its subject."""
    return dataset_asset(row["dataset"]).spelling


def query_text(row: Mapping[str, Any]) -> str:
    """A streaming query: by its name, where it has one, else by the beginning of its id."""
    return str(row["query_name"] or row["query_id"][:8])
