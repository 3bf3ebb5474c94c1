"""Answers of differences."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from headwater_consumers.analysis.assets import Asset
from headwater_consumers.analysis.change import DiffChange
from headwater_consumers.analysis.lineage.answer import Transformation
from headwater_consumers.analysis.runs.answer import Role
from headwater_consumers.analysis.schemas import FieldType


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two that are compared.

    Attributes:
        time: the time asked of, or when the run or code version was last seen; None: now.
        run_id: the run that was asked of.
        code_version: the code version that was asked of.
        plans: digests of the plans that were active by then.
        incomplete: whether one of them is incomplete, so that what is missing here may be there in truth.
    """

    time: datetime | None
    run_id: str | None
    code_version: str | None
    plans: tuple[str, ...]
    incomplete: bool


@dataclass(frozen=True, slots=True)
class EdgeChange:
    """Lineage of a column that differs.

    Attributes:
        change: ADDED, REMOVED; CHANGED: it comes from there in another way.
        job: whose lineage.
        source: the column, or the dataset as a whole, it comes from; None: from no input, as a constant does.
        target: the column, or the dataset as a whole, that is made.
        before, after: what the job does on either side.
    """

    change: DiffChange
    job: Asset
    source: Asset | None
    target: Asset
    before: tuple[Transformation, ...]
    after: tuple[Transformation, ...]


@dataclass(frozen=True, slots=True)
class DatasetChange:
    """A dataset that a job reads or writes on one side alone.

    Attributes:
        change: ADDED or REMOVED.
        job: which job.
        role: READ or WROTE.
        dataset: which dataset.
    """

    change: DiffChange
    job: Asset
    role: Role
    dataset: Asset


@dataclass(frozen=True, slots=True)
class ColumnChange:
    """A column that was in its dataset's schema on one side alone, or has another type or nullability there.

    Attributes:
        change: ADDED, REMOVED or CHANGED.
        column: which.
        time: of the first schema that has it, where it was added; of the last, where it was removed; where it was
            changed, of the first report of the schema that has it as it is after.
        before, after: its type and nullability, where it was changed; else None.
        roles: of two runs or code versions, whether it is otherwise in the schema that the dataset was READ with, in
            the one that it was written with (WROTE), or both; empty: by the schemas that the dataset had at the sides'
            times.
    """

    change: DiffChange
    column: Asset
    time: datetime | None
    before: FieldType | None = None
    after: FieldType | None = None
    roles: tuple[Role, ...] = ()


@dataclass(frozen=True, slots=True)
class Diff:
    """What is different after from before.

    Attributes:
        before, after: what is compared.
        jobs: whose lineage is compared.
        datasets: that are read or written on one side alone; at most 1,000.
        columns: that are in a schema on one side alone, or of another type, of the datasets that these jobs read or
            write on either side; at most 1,000. Of runs and code versions by the schemas that their uses name; where
            these name none, by the schemas at the sides' times.
        unknown_schemas: datasets that were used with a schema of which the graph has the digest alone, so that its
            columns can't be compared; at most 1,000.
        edges: of this page, by target and source.
        datasets_total, columns_total, edges_total: how many there are.
        truncated: whether there were more jobs, edges or columns than are looked at, so that more may differ.
        next_cursor: where the next page of edges begins; None on the last.
    """

    before: Side
    after: Side
    jobs: tuple[Asset, ...]
    datasets: tuple[DatasetChange, ...]
    columns: tuple[ColumnChange, ...]
    unknown_schemas: tuple[Asset, ...]
    edges: tuple[EdgeChange, ...]
    datasets_total: int
    columns_total: int
    edges_total: int
    truncated: bool
    next_cursor: str | None
