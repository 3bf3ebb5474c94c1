"""PlanEvent: one distinct column lineage of a job, sent once; runs and intervals refer to it by digest."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from headwater_schemas.events.common import DatasetRef, Natural32, Text


class TransformationType(StrEnum):
    """OpenLineage's `type`: DIRECT: the output's value comes from the input; INDIRECT: the input only influences it."""

    UNKNOWN = "UNKNOWN"
    DIRECT = "DIRECT"
    INDIRECT = "INDIRECT"


class TransformationKind(StrEnum):
    """Kind of transformation, finer than OpenLineage's subtypes. EXTERNAL: through a UDF, so only a possible source."""

    UNKNOWN = "UNKNOWN"
    COPY = "COPY"
    RENAME = "RENAME"
    CAST = "CAST"
    HASH = "HASH"
    MASK = "MASK"
    DERIVE = "DERIVE"
    AGGREGATE = "AGGREGATE"
    FILTER_DEPENDENCY = "FILTER_DEPENDENCY"
    JOIN_DEPENDENCY = "JOIN_DEPENDENCY"
    GROUP_DEPENDENCY = "GROUP_DEPENDENCY"
    SORT_DEPENDENCY = "SORT_DEPENDENCY"
    WINDOW_DEPENDENCY = "WINDOW_DEPENDENCY"
    CONDITIONAL = "CONDITIONAL"
    CONSTANT = "CONSTANT"
    EXTERNAL = "EXTERNAL"


class Expression(msgspec.Struct, frozen=True, order=True):
    """Text of an expression, with an id that is stable over restarts (never Spark's expression ids)."""

    id: str
    text: str


class ColumnEdge(msgspec.Struct, frozen=True, kw_only=True, order=True):
    """Column edge: an output field comes from, or is influenced by, an input field.

    Attributes:
        output: index into `ColumnLineage.datasets`.
        output_field: path of the output field; None: this one edge holds for every field of the output.
        input: index into `ColumnLineage.datasets`; None for a CONSTANT or an unknown source.
        input_field: path of the input field; None: the whole input (`count(*)`, an RDD).
        type: DIRECT or INDIRECT.
        subtype: OpenLineage's subtype: IDENTITY, TRANSFORMATION, AGGREGATION; JOIN, GROUP_BY, FILTER, SORT, WINDOW,
            CONDITIONAL.
        kind: kind of transformation, finer than the subtype.
        masking: True if the input's value can't be read back from the output.
        expression: id of an `Expression`.

    A path is the field names joined by `.`; a name that holds `.` or a backquote is written in backquotes, doubled
    inside, as Spark writes it. Elements of an array are `[]` and values of a map `{}` as one more step:
    `legs.[].origin`.
    """

    output: Natural32
    output_field: str | None = None
    input: Natural32 | None = None
    input_field: str | None = None
    type: TransformationType = TransformationType.UNKNOWN
    subtype: str | None = None
    kind: TransformationKind = TransformationKind.UNKNOWN
    masking: bool = False
    expression: str | None = None


class ColumnLineage(msgspec.Struct, frozen=True, kw_only=True):
    """Column lineage of a plan: a table of datasets, and edges that point into it.

    Attributes:
        datasets: each dataset once, sorted.
        edges: sorted, without duplicates.
        expressions: sorted by id.
        complete: False if the plan was too large or partly unreadable, so that a missing edge proves nothing.
        incomplete_reason: reason, if not complete.
    """

    datasets: tuple[DatasetRef, ...] = ()
    edges: tuple[ColumnEdge, ...] = ()
    expressions: tuple[Expression, ...] = ()
    complete: bool = True
    incomplete_reason: str | None = None


class PlanEvent(msgspec.Struct, frozen=True):
    """Column lineage of the event's job; runs and intervals cite its `digest` (`identity.plan_digest(lineage)`)."""

    digest: Text
    lineage: ColumnLineage
