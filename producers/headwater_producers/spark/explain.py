"""`explain_lineage(df)`: the column lineage of any DataFrame, with no Kafka and nothing attached.

Shown as a table: text for a terminal, HTML for a notebook.
"""

from __future__ import annotations

import html
import json
import logging
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from headwater_producers.spark.execution.describe import describe_plan
from headwater_producers.spark.jvm.scala import class_name
from headwater_producers.spark.plan.column import DataType, DirectSource, FieldRef, Indirect, Path, ValueLineage
from headwater_producers.spark.plan.edges import OutputField, edge_kind, edge_sources, unfold, unfold_all
from headwater_producers.spark.plan.lattice import subtype
from headwater_producers.spark.plan.names import reporting
from headwater_producers.spark.plan.output_schema import output_fields
from headwater_producers.spark.plan.relation import Relation
from headwater_producers.spark.plan.schema import path_text, schema_definition
from headwater_producers.spark.plan.settings import PlanSettings
from headwater_producers.spark.plan.transposed import transposed
from headwater_schemas.events import ColumnLineage, TransformationKind
from headwater_schemas.visible import visible

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class LineageSource:
    """Source of an output: an input field that gives its value, or influences it.

    Attributes:
        namespace, name: dataset of the field; None if the value comes from no field (a constant), or the field is
            unknown.
        path: path of the field, `legs.[].origin`; None: the dataset as a whole (`count(*)`).
        type: DIRECT or INDIRECT.
        subtype: OpenLineage's subtype: IDENTITY, TRANSFORMATION, AGGREGATION, JOIN, GROUP_BY, FILTER, SORT, WINDOW,
            CONDITIONAL; None if OpenLineage has no subtype.
        kind: kind of transformation, finer than the subtype: COPY, RENAME, CAST, …
        masking: True if the field's value can't be read back.
        expression: computation or condition; None for a plain copy.
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
        """Render the source: `flights.departed value.dep_delay (AGGREGATE)`."""
        where = " ".join(part for part in (self.name, self.path) if part) or "nothing"
        masked = ", masked" if self.masking else ""
        return f"{where} ({self.kind}{masked})"


@dataclass(frozen=True, slots=True, kw_only=True)
class LineageOutput:
    """Output field of the DataFrame: a column, or a part of a column, listed right after it.

    Attributes:
        path: `delay`, `window.start`.
        sources: DIRECT and INDIRECT sources, sorted; influences on all outputs aren't repeated here.
    """

    path: str
    sources: tuple[LineageSource, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LineageExplanation:
    """Column lineage of a DataFrame.

    Attributes:
        outputs: output fields in the DataFrame's column order; two may share a name.
        influences: INDIRECT sources that hold for every output: filters, join and group keys, orders.
        complete: False if some part of the plan wasn't understood, so that a missing source proves nothing.
        incomplete_reason: the parts that weren't understood.
    """

    outputs: tuple[LineageOutput, ...]
    influences: tuple[LineageSource, ...] = ()
    complete: bool = True
    incomplete_reason: str | None = None

    def to_table(self) -> str:
        """Render the lineage as aligned text, one line for each source; `*` means all outputs."""
        return text_table(self)

    def _repr_html_(self) -> str:
        return html_table(self)


def explain_lineage(
    df: DataFrame, *, settings: PlanSettings | None = None, encoded: bool = False
) -> LineageExplanation:
    """Explain the column lineage of `df`: the input fields that each column comes from, and those that influence it.

    Nothing is run, written or sent; streaming frames that aren't started work as well. Never raises for a plan: parts
    that aren't understood make the explanation incomplete, with a reason.

    Args:
        df: DataFrame of a classic session (Spark Connect has no plan to read).
        encoded: True to output also the members of encoded values, such as JSON, and the members of a map by key.

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
        return _unknown(schema, (), "Spark hands over the rows of a script's last statement, and not their plan")
    turned = _before_transposing(asked)
    plan = execution.analyzed() if turned is None else turned.plan
    description = describe_plan(plan, session=df.sparkSession, settings=settings)
    problems = description.lineage
    if description.upstream is None:
        sources = [FieldRef(each.dataset) for each in description.inputs]
        return _unknown(schema, sources, problems.incomplete_reason)
    relation = description.upstream.relation
    if schema["fields"] and not relation.output:
        return _unknown(schema, (), f"{class_name(plan)} is a command: its rows come from no dataset")
    if turned is not None:
        relation = transposed(relation, turned.index, schema)
    with reporting(description.names):
        return _explained(relation, schema, problems, unfold_all if encoded else unfold)


@dataclass(frozen=True, slots=True)
class _Transposed:
    """Frame before its `transpose()`.

    Spark computes a transposed frame during analysis and keeps only its rows. The logical plan of `transpose()` still
    has the original frame; plans of later operations start from the rows.

    Attributes:
        plan: analyzed plan, in the JVM, of the original frame.
        index: the column whose values name the new columns; empty if it isn't known.
    """

    plan: Any
    index: str


def _before_transposing(asked: Any) -> _Transposed | None:
    """Return the plan and index column of the frame before its transpose; None if the plan is no transpose."""
    if class_name(asked) != "UnresolvedTranspose":
        return None
    # Without an index column, Spark takes the first column.
    index = asked.child().output().head() if asked.indices().isEmpty() else asked.indices().head()
    try:
        return _Transposed(asked.child(), str(index.name()))
    except Exception:
        # The index is an expression without a name, not a column.
        logger.debug("lineage capture: a transpose's index has no name", exc_info=True)
        return _Transposed(asked.child(), "")


def _explained(
    relation: Relation,
    schema: DataType,
    problems: ColumnLineage,
    unfolded: Callable[[OutputField], Iterator[tuple[Path, ValueLineage]]],
) -> LineageExplanation:
    return LineageExplanation(
        outputs=tuple(
            LineageOutput(path=path_text(path), sources=_sources(column, path[-1]))
            for field in output_fields(relation, schema)
            for path, column in unfolded(field)
        ),
        influences=_sorted(_indirect(influence) for influence in relation.influences),
        complete=problems.complete,
        incomplete_reason=problems.incomplete_reason,
    )


def _unknown(schema: object, sources: Sequence[FieldRef], reason: str | None) -> LineageExplanation:
    """Build the fallback explanation: each output may come from each of `sources`; if empty, the source is unknown."""
    fields: Sequence[FieldRef | None] = sources or [None]
    anything = tuple(_direct(DirectSource(field, TransformationKind.UNKNOWN), "", None) for field in fields)
    outputs = tuple(LineageOutput(path=field.path, sources=anything) for field in schema_definition(schema).fields)
    return LineageExplanation(outputs=outputs, complete=False, incomplete_reason=reason)


def _hint(df: object) -> str:
    if type(df).__module__.startswith("pyspark.sql.connect"):
        return ": a Spark Connect client has no plan to look at; ask where the Spark driver runs"
    if type(df).__module__.startswith("pyspark.pandas"):
        return ": give it what to_spark() returns"
    return ""


def _sources(column: ValueLineage, name: str) -> tuple[LineageSource, ...]:
    direct = [_direct(source, name, column.text) for source in edge_sources(column)]
    return _sorted([*direct, *(_indirect(source) for source in column.indirect)])


def _direct(source: DirectSource, name: str, text: str | None) -> LineageSource:
    kind = edge_kind(source, name)
    plain = kind in (TransformationKind.COPY, TransformationKind.RENAME)
    return _source(source, "DIRECT", kind, None if plain else text)


def _indirect(source: Indirect) -> LineageSource:
    return _source(source, "INDIRECT", source.kind, source.text)


def _source(source: DirectSource | Indirect, type_: str, kind: TransformationKind, text: str | None) -> LineageSource:
    field = source.field if isinstance(source.field, FieldRef) else None
    return LineageSource(
        namespace=field.dataset.namespace if field else None,
        name=field.dataset.name if field else None,
        path=path_text(field.path) if field and field.path else None,
        type=type_,
        subtype=subtype(kind),
        kind=kind.value,
        masking=source.masking,
        expression=text,
    )


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


HEAD: Final = ("output", "input", "field", "type", "kind", "expression")
MAX_HTML_ROWS: Final = 500
"""Maximum number of rows in HTML: a notebook stores them, and a browser lays them all out. Text has all rows."""

# The page's own colours, for light and dark themes; a notebook would align text to the right.
_TABLE: Final = "color:inherit;font-size:inherit"
_CELL: Final = "text-align:left;vertical-align:top;white-space:pre-wrap;padding:2px 8px"
_EXPRESSION: Final = f"{_CELL};overflow-wrap:anywhere;min-width:20em"


def text_table(explanation: LineageExplanation) -> str:
    """Render an explanation as aligned text, one line for each source; `*` means all outputs."""
    # A terminal would obey a line break or an escape sequence in a name.
    rows = [HEAD, *(tuple(visible(cell) for cell in row.cells) for row in _rows(explanation))]
    # The width of the last column isn't limited.
    widths = [max(_width(row[column]) for row in rows) for column in range(len(HEAD) - 1)]
    rows.insert(1, (*("-" * width for width in widths), "-" * len(HEAD[-1])))
    lines = [_aligned(row, widths) for row in rows]
    if not explanation.complete:
        lines.append(visible(f"Incomplete: {explanation.incomplete_reason}"))
    return "\n".join(lines)


def html_table(explanation: LineageExplanation) -> str:
    """Render an explanation as HTML: each output named once, the namespace of an input as a tooltip."""
    head = "".join(f'<th style="{_CELL}">{cell}</th>' for cell in HEAD)
    rows = list(_rows(explanation))
    body = "".join(_html_row(row) for row in rows[:MAX_HTML_ROWS])
    notes = []
    if len(rows) > MAX_HTML_ROWS:
        notes.append(f"{len(rows) - MAX_HTML_ROWS:,} more rows: to_table() has all of them.")
    if not explanation.complete:
        notes.append(f"Incomplete: {explanation.incomplete_reason}")
    shown = "".join(f"<p>{html.escape(note)}</p>" for note in notes)
    return f'<table style="{_TABLE}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{shown}'


@dataclass(frozen=True, slots=True)
class _Row:
    """Row of the table: one source of an output.

    Attributes:
        first: True for the output's first row.
    """

    cells: tuple[str, ...]
    namespace: str | None = None
    first: bool = True


def _rows(explanation: LineageExplanation) -> Iterator[_Row]:
    outputs = [(output.path, output.sources) for output in explanation.outputs]
    for path, sources in [*outputs, *([("*", explanation.influences)] if explanation.influences else [])]:
        if not sources:
            yield _Row((path, *("",) * (len(HEAD) - 1)))
        for number, source in enumerate(sources):
            kind = f"{source.kind} (masked)" if source.masking else source.kind
            where = (source.name or "", source.path or "")
            yield _Row((path, *where, source.type, kind, source.expression or ""), source.namespace, first=not number)


def _html_row(row: _Row) -> str:
    output, name, *between, expression = (html.escape(cell) for cell in row.cells)
    where = f' title="{html.escape(row.namespace)}"' if row.namespace else ""
    cells = [
        f'<td style="{_CELL}">{output if row.first else ""}</td>',
        f'<td style="{_CELL}"{where}>{name}</td>',
        *(f'<td style="{_CELL}">{cell}</td>' for cell in between),
        f'<td style="{_EXPRESSION}">{f"<code>{expression}</code>" if expression else ""}</td>',
    ]
    return f"<tr>{''.join(cells)}</tr>"


def _width(cell: str) -> int:
    """Return the width of a cell in a terminal: two columns for each wide character, none for a combining character."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in cell)


def _aligned(row: Sequence[str], widths: Sequence[int]) -> str:
    padded = [cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=False)]
    return "  ".join([*padded, row[-1]]).rstrip()
