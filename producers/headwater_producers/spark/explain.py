"""`explain_lineage(df)`: the column lineage of any DataFrame, with no Kafka and nothing attached."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headwater_producers.spark.execution.describe import describe_plan
from headwater_producers.spark.explain_table import html_table, text_table
from headwater_producers.spark.jvm.scala import class_name
from headwater_producers.spark.jvm.transposing import before_transposing
from headwater_producers.spark.plan.column import Column, Direct, Field, Indirect
from headwater_producers.spark.plan.edges import edge_kind, edge_sources, unfold
from headwater_producers.spark.plan.lattice import subtype
from headwater_producers.spark.plan.names import reporting
from headwater_producers.spark.plan.output_schema import output_fields
from headwater_producers.spark.plan.schema import path_text, schema_definition
from headwater_producers.spark.plan.transposed import transposed
from headwater_schemas.events import DatasetRef, TransformationKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pyspark.sql import DataFrame

    from headwater_producers.spark.plan.column import DataType
    from headwater_producers.spark.plan.relation import Relation
    from headwater_producers.spark.plan.settings import PlanSettings
    from headwater_schemas.events import ColumnLineage


@dataclass(frozen=True, slots=True, kw_only=True)
class LineageSource:
    """An input field that an output comes from or is influenced by.

    Attributes:
        namespace, name: of the dataset; None where there is none (a constant) or it isn't known.
        path: of the field, `legs.[].origin`; None: the dataset as a whole (`count(*)`).
        type: DIRECT or INDIRECT.
        subtype: OpenLineage's: IDENTITY, TRANSFORMATION, AGGREGATION, JOIN, GROUP_BY, FILTER, SORT, WINDOW,
            CONDITIONAL; None where it has no word.
        kind: finer: COPY, RENAME, CAST, …
        masking: the field's value can't be read back.
        expression: what was computed, or the condition; None for a plain copy.
    """

    namespace: str | None
    name: str | None
    path: str | None
    type: str
    subtype: str | None
    kind: str
    masking: bool = False
    expression: str | None = None

    def __str__(self) -> str:
        """E.g. `flights.departed value.dep_delay (AGGREGATE)`."""
        where = " ".join(part for part in (self.name, self.path) if part) or "nothing"
        masked = ", masked" if self.masking else ""
        return f"{where} ({self.kind}{masked})"


@dataclass(frozen=True, slots=True, kw_only=True)
class LineageOutput:
    """One field of the DataFrame: a column, or a part of one right after it.

    Attributes:
        path: `delay`, `window.start`.
        sources: DIRECT and INDIRECT ones, sorted; what holds for all outputs isn't repeated here.
    """

    path: str
    sources: tuple[LineageSource, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LineageExplanation:
    """The column lineage of a DataFrame.

    Attributes:
        outputs: in the DataFrame's column order; two may share a name.
        influences: INDIRECT sources that hold for every output: filters, join and group keys, orders.
        complete: False where something in the plan wasn't understood, so that a missing source proves nothing.
        incomplete_reason: what that was.
    """

    outputs: tuple[LineageOutput, ...]
    influences: tuple[LineageSource, ...] = ()
    complete: bool = True
    incomplete_reason: str | None = None

    def to_table(self) -> str:
        """The lineage as aligned text, one line for each source; `*` stands for all outputs."""
        return text_table(self)

    def _repr_html_(self) -> str:
        return html_table(self)


def explain_lineage(df: DataFrame, *, settings: PlanSettings | None = None) -> LineageExplanation:
    """Which input fields each column of `df` comes from, and which influence it.

    Nothing is run, written or sent; streaming frames that aren't started work as well. Never raises for a plan: what
    isn't understood makes the explanation incomplete, with a reason.

    Args:
        df: a DataFrame of a classic session (Spark Connect has no plan to look at).
        settings: see `PlanSettings`.

    Raises:
        TypeError: `df` is of a Spark Connect session, or no DataFrame.
    """
    jdf: Any = getattr(df, "_jdf", None)
    if jdf is None:
        raise TypeError(
            f"explain_lineage needs a DataFrame of a classic Spark session, not {type(df).__module__}."
            f"{type(df).__name__}{_hint(df)}"
        )
    execution = jdf.queryExecution()
    schema = json.loads(df.schema.json())
    asked = execution.logical()
    if class_name(asked) == "CompoundBody":
        return _unknown(schema, (), "Spark hands over the rows of a script's last statement, and not what they are of")
    turned = before_transposing(asked)
    plan = execution.analyzed() if turned is None else turned.plan
    description = describe_plan(plan, session=df.sparkSession, settings=settings)
    problems = description.lineage
    if description.upstream is None:
        sources = [Field(each.dataset) for each in description.inputs]
        return _unknown(schema, sources, problems.incomplete_reason)
    relation = description.upstream.relation
    if schema["fields"] and not relation.output:
        return _unknown(schema, (), f"{class_name(plan)} is a command: its rows are of no dataset")
    if turned is not None:
        relation = transposed(relation, turned.index, schema)
    with reporting(description.names):
        return _explained(relation, schema, problems)


def _explained(relation: Relation, schema: DataType, problems: ColumnLineage) -> LineageExplanation:
    return LineageExplanation(
        outputs=tuple(
            LineageOutput(path=path_text(path), sources=_sources(column, path[-1]))
            for field in output_fields(relation, schema)
            for path, column in unfold(field)
        ),
        influences=_sorted(_indirect(influence) for influence in relation.influences),
        complete=problems.complete,
        incomplete_reason=problems.incomplete_reason,
    )


def _unknown(schema: object, sources: Sequence[Field], reason: str | None) -> LineageExplanation:
    """Each output may come from each of these, or from who knows what."""
    fields: Sequence[Field | None] = sources or [None]
    anything = tuple(_direct(Direct(field, TransformationKind.UNKNOWN), "", None) for field in fields)
    outputs = tuple(LineageOutput(path=field.path, sources=anything) for field in schema_definition(schema).fields)
    return LineageExplanation(outputs=outputs, complete=False, incomplete_reason=reason)


def _hint(df: object) -> str:
    if type(df).__module__.startswith("pyspark.sql.connect"):
        return ": a Spark Connect client has no plan to look at; ask where the Spark driver runs"
    if type(df).__module__.startswith("pyspark.pandas"):
        return ": give it what to_spark() returns"
    return ""


def _sources(column: Column, name: str) -> tuple[LineageSource, ...]:
    direct = [_direct(source, name, column.text) for source in edge_sources(column)]
    return _sorted([*direct, *(_indirect(source) for source in column.indirect)])


def _direct(source: Direct, name: str, text: str | None) -> LineageSource:
    kind = edge_kind(source, name)
    plain = kind in (TransformationKind.COPY, TransformationKind.RENAME)
    dataset, path = _place(source.field)
    return LineageSource(
        namespace=dataset.namespace if dataset else None,
        name=dataset.name if dataset else None,
        path=path,
        type="DIRECT",
        subtype=subtype(kind),
        kind=kind.value,
        masking=source.masking,
        expression=None if plain else text,
    )


def _indirect(source: Indirect) -> LineageSource:
    dataset, path = _place(source.field)
    return LineageSource(
        namespace=dataset.namespace if dataset else None,
        name=dataset.name if dataset else None,
        path=path,
        type="INDIRECT",
        subtype=subtype(source.kind),
        kind=source.kind.value,
        masking=source.masking,
        expression=source.text,
    )


def _place(field: object) -> tuple[DatasetRef | None, str | None]:
    if not isinstance(field, Field):
        return None, None
    return field.dataset, path_text(field.path) if field.path else None


def _sorted(sources: Iterable[LineageSource]) -> tuple[LineageSource, ...]:
    def order(source: LineageSource) -> tuple[object, ...]:
        return (
            source.type,
            source.namespace or "",
            source.name or "",
            source.path or "",
            source.kind,
            source.masking,
            source.expression or "",
        )

    return tuple(sorted(dict.fromkeys(sources), key=order))
