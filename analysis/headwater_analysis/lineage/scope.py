"""Lineage question, and its bounds as parameters of statements."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from headwater_analysis.errors import QuestionError
from headwater_analysis.paging import check_depth, check_limit
from headwater_analysis.reader import Transaction
from headwater_analysis.resolve import resolve_job

ALL_HOPS = None
"""Depth without limit."""

_MOST_VALUES = 100


class LineageDirection(StrEnum):
    """Direction of a search: UPSTREAM against the flow of data, DOWNSTREAM along it."""

    UPSTREAM = "UPSTREAM"
    DOWNSTREAM = "DOWNSTREAM"


class Influence(StrEnum):
    """Influence of a column on another. DIRECT: its value goes into the other; INDIRECT: it decides values or rows."""

    DIRECT = "DIRECT"
    INDIRECT = "INDIRECT"


@dataclass(frozen=True, slots=True)
class Filters:
    """Filters of a lineage question. An empty filter matches everything, any other if one of its values matches.

    Attributes:
        namespaces: list only datasets in one of these namespaces, and the columns of such datasets.
        types: list only datasets of one of these types (`TOPIC`, `FILE`, `TABLE`, as events name them); `topic` is
            `TOPIC`.
        tags: list only assets with one of these tags, each written `key` or `key=value`. A dataset also has the tags of
            its fields; a column also has the tags of the whole dataset.
        jobs: follow only hops of these jobs, each named as `resolve_job` understands.

    The search also passes through assets that the first three filters leave out: `types=("TABLE",)` finds the tables
    behind topics.
    """

    namespaces: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    jobs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LineageQuestion:
    """Question for the lineage upstream or downstream of a dataset, or of one of its columns.

    Attributes:
        asset: name or key of a dataset, or of a column: `orders#price`.
        direction: upstream or downstream.
        column: field path of a column; None: the question is about `asset` itself.
        depth: maximum number of hops; `ALL_HOPS`: all.
        influence: for columns: DIRECT follows only DIRECT edges; INDIRECT lists assets that are reached only through
            INDIRECT edges.
        columns: for datasets: whether to include column mappings along each hop.
        edges: whether to include every hop between the page's assets; False: only the hop that found each item.
        quality: whether to include results of the latest checks of the datasets on the page.
        as_of: time of the graph: only observations up to then are used.
        since: only hops seen at this time or later; together with `as_of`, hops current in between.
        limit: maximum number of items on a page.
        cursor: `next_cursor` of the page before; None: the first page.
    """

    asset: str
    direction: LineageDirection
    column: str | None = None
    depth: int | None = 1
    influence: Influence | None = None
    columns: bool = False
    edges: bool = True
    quality: bool = False
    filters: Filters = Filters()
    as_of: datetime | None = None
    since: datetime | None = None
    limit: int = 100
    cursor: str | None = None

    def check(self) -> None:
        """Check the fields.

        Raises:
            QuestionError: a field is invalid; the error names it.
        """
        check_depth(self.depth)
        check_limit(self.limit)
        for field in ("as_of", "since"):
            time: datetime | None = getattr(self, field)
            if time is not None and time.tzinfo is None:
                raise QuestionError(f"`{field}` needs a time zone.", field=field)
        if self.as_of is not None and self.since is not None and self.since > self.as_of:
            raise QuestionError("`since` is after `as_of`.", field="since")
        for field in ("namespaces", "types", "tags", "jobs"):
            if len(getattr(self.filters, field)) > _MOST_VALUES:
                raise QuestionError(f"At most {_MOST_VALUES} values.", field=field)

    def check_of(self, *, columns: bool) -> None:
        """Check the fields that are only for datasets, or only for columns.

        Raises:
            QuestionError: a field is invalid; the error names it.
        """
        if self.influence is not None and not columns:
            raise QuestionError("`influence` is only for columns: name a column.", field="influence")
        if self.columns and columns:
            raise QuestionError("`columns` is only for the lineage of a dataset.", field="columns")


@dataclass(frozen=True, slots=True)
class LineageBounds:
    """Bounds of a question as parameters of statements; None: no bound.

    Attributes:
        jobs: keys of jobs.
        types: types of datasets, in capitals.
    """

    direction: LineageDirection
    as_of: datetime | None
    since: datetime | None = None
    jobs: list[str] | None = None
    namespaces: list[str] | None = None
    types: list[str] | None = None
    tags: list[str] | None = None

    @property
    def filters_nodes(self) -> bool:
        """True if some assets that are reached aren't listed."""
        return not (self.namespaces is None and self.types is None and self.tags is None)


def scope_of(tx: Transaction, question: LineageQuestion) -> LineageBounds:
    """Return the scope of a question.

    Raises:
        NotFoundError, AmbiguousError: no job has a given name, or several have.
    """
    filters = question.filters
    return LineageBounds(
        question.direction,
        question.as_of,
        question.since,
        [resolve_job(tx, job).asset.key for job in filters.jobs] or None,
        list(filters.namespaces) or None,
        [type_.upper() for type_ in filters.types] or None,
        list(filters.tags) or None,
    )
