"""A question's bounds, as statements take them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from headwater_consumers.analysis.lineage.question import Direction
from headwater_consumers.analysis.resolve import resolve_job

if TYPE_CHECKING:
    from headwater_consumers.analysis.lineage.question import LineageQuestion
    from headwater_consumers.analysis.reader import Transaction


@dataclass(frozen=True, slots=True)
class Scope:
    """Parameters of the statements. None is no bound.

    Attributes:
        jobs: keys.
        types: in capitals.
    """

    direction: Direction
    as_of: datetime | None
    since: datetime | None
    jobs: list[str] | None
    namespaces: list[str] | None
    types: list[str] | None
    tags: list[str] | None

    @property
    def filters_nodes(self) -> bool:
        """Whether some of what is reached isn't listed."""
        return not (self.namespaces is None and self.types is None and self.tags is None)


def scope_of(tx: Transaction, question: LineageQuestion) -> Scope:
    """The scope of a question.

    Raises:
        NotFoundError, AmbiguousError: a job's name.
    """
    filters = question.filters
    return Scope(
        question.direction,
        question.as_of,
        question.since,
        [resolve_job(tx, job).asset.key for job in filters.jobs] or None,
        list(filters.namespaces) or None,
        [type_.upper() for type_ in filters.types] or None,
        list(filters.tags) or None,
    )
