"""Answers of differences."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from headwater_analysis.assets import Asset
from headwater_analysis.lineage.hops import Transformation
from headwater_analysis.runs.records import Role
from headwater_analysis.schemas import DiffChange, FieldType


@dataclass(frozen=True, slots=True)
class Side:
    """A side of the comparison.

    Attributes:
        time: time of the question, or when the run or code version was last seen; None: now.
        run_id: requested run.
        code_version: requested code version.
        plans: digests of the plans that were active by the side's time.
        incomplete: whether a plan of this side is incomplete, so that edges may be missing.
    """

    time: datetime | None
    run_id: str | None
    code_version: str | None
    plans: tuple[str, ...]
    incomplete: bool


@dataclass(frozen=True, slots=True)
class EdgeChange:
    """A column's lineage that differs between the sides.

    Attributes:
        change: ADDED; REMOVED; CHANGED: the target is derived from the source by another transformation.
        job: job of the lineage.
        source: input column, or input dataset as a whole; None: no input, as for a constant.
        target: output column, or output dataset as a whole.
        before, after: transformations of the job on each side.
    """

    change: DiffChange
    job: Asset
    source: Asset | None
    target: Asset
    before: tuple[Transformation, ...]
    after: tuple[Transformation, ...]


@dataclass(frozen=True, slots=True)
class DatasetChange:
    """A dataset that a job reads or writes on only one side.

    Attributes:
        change: ADDED or REMOVED.
        job: the job.
        role: READ or WROTE.
        dataset: the dataset.
    """

    change: DiffChange
    job: Asset
    role: Role
    dataset: Asset


@dataclass(frozen=True, slots=True)
class ColumnChange:
    """A column that is in its dataset's schema on only one side, or whose type or nullability differs.

    Attributes:
        change: ADDED, REMOVED or CHANGED.
        column: the column.
        time: for an added column, time of the first schema with it; for a removed column, time of the last schema with
            it; for a changed column, first report of the schema after the change.
        before, after: type and nullability of a changed column; else None.
        roles: for two runs or code versions: READ if the schemas of the reads differ, WROTE if the schemas of the
            writes differ. Empty: the schemas at the sides' times were compared.
    """

    change: DiffChange
    column: Asset
    time: datetime | None
    before: FieldType | None = None
    after: FieldType | None = None
    roles: tuple[Role, ...] = ()


@dataclass(frozen=True, slots=True)
class Diff:
    """Differences of the later side from the earlier one.

    Attributes:
        before, after: the sides.
        jobs: jobs whose lineage is compared.
        datasets: datasets that are read or written on only one side; at most 1,000.
        columns: columns of the datasets that these jobs read or write, if they are in a schema on only one side or
            differ in type; at most 1,000. Runs and code versions are compared by the schemas that their uses name;
            without such schemas, by the schemas at the sides' times.
        unknown_schemas: datasets whose columns can't be compared, because the graph has only the digest of a schema
            that was used; at most 1,000.
        edges: edges of this page, by target and source.
        datasets_total, columns_total, edges_total: total numbers of these differences.
        truncated: whether there were more jobs, edges or columns than the limits, so that more may differ.
        next_cursor: cursor of the next page of edges; None on the last page.
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
