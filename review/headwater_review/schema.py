"""Schema of a dataset, independent of its file format: columns by path, nested ones included."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from headwater_analysis.data_types import ArrayOf, Atom, DataType, MapOf, StructOf, TypedField, type_text

_STEP = re.compile(r"(?:`(?:[^`]|``)*`|[^.`])+")
ELEMENT = "[]"
VALUE = "{}"
NULLABLE, ENUM, UNIT, MEANING, DESCRIPTION, PARTITIONING = (
    "nullable",
    "enum",
    "unit",
    "meaning",
    "description",
    "partitioning",
)
Steps = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SchemaColumn:
    """A column, or a field of a column.

    Attributes:
        steps: steps of the path in their written form: `("legs", "[]", "origin")`.
        type: type as Spark writes it; None: unknown.
        shape: type without parts that are nested columns: `struct`, `array`, `map<string>`, `bigint`; None: unknown.
        nullable: whether the column may be null; None: unknown.
        default: whether rows without a value get a default.
        enum: allowed values, sorted; None: any.
        unit: unit of the values.
        meaning: declared meaning.
        description: description for people.
        line: line in the file, from 1; 0: unknown.
    """

    steps: Steps
    type: str | None
    shape: str | None
    nullable: bool | None = None
    default: bool = False
    enum: tuple[str, ...] | None = None
    unit: str | None = None
    meaning: str | None = None
    description: str | None = None
    line: int = 0

    @property
    def path(self) -> str:
        """Path as the graph has it: `legs.[].origin`."""
        return ".".join(self.steps)

    @property
    def required(self) -> bool:
        """True if a row can't be written without the column."""
        return self.nullable is False and not self.default


@dataclass(frozen=True, slots=True)
class Schema:
    """Schema of a dataset, with its columns by path.

    Attributes:
        source: the file, or `the graph`.
        columns: columns by steps, a parent before its children.
        states: properties that the format can state, among NULLABLE, ENUM, UNIT, MEANING, DESCRIPTION and PARTITIONING.
            Other properties are unknown, and never differ.
        partitioning: partition columns of the dataset, or transforms of columns.
    """

    source: str
    columns: dict[Steps, SchemaColumn]
    states: frozenset[str]
    partitioning: tuple[str, ...] = ()

    def within(self, above: Steps) -> Schema:
        """Move the schema below a column, such as a topic's `value`."""
        moved = {(*above, *steps): replace(each, steps=(*above, *steps)) for steps, each in self.columns.items()}
        return replace(self, columns=moved)


def schema_of(
    source: str,
    fields: Iterable[TypedField],
    states: Iterable[str],
    partitioning: tuple[str, ...] = (),
) -> Schema:
    """Build the schema of these columns.

    Args:
        source: the file, or `the graph`.
        fields: top-level columns.
        states: see `Schema`.
        partitioning: see `Schema`.

    Raises:
        ValueError: two columns have the same path; the error's text is the path.
    """
    columns: dict[Steps, SchemaColumn] = {}
    for column in _columns(fields, ()):
        if column.steps in columns:
            raise ValueError(column.path)
        columns[column.steps] = column
    return Schema(source, columns, frozenset(states), partitioning)


def steps_of(path: str) -> Steps:
    """Split a path into steps, in their written form."""
    return tuple(found[0] for found in _STEP.finditer(path)) or (path,)


def step(name: str) -> str:
    """Return a name as a step of a path; in backquotes if it has a dot or backquote, or is `[]` or `{}`."""
    if "." in name or "`" in name or name in (ELEMENT, VALUE):
        return f"`{name.replace('`', '``')}`"
    return name


def shape_of(type_: DataType) -> str:
    """Shape of a type: see `SchemaColumn.shape`."""
    match type_:
        case Atom(name):
            return name
        case StructOf():
            return "struct"
        case ArrayOf():
            return "array"
        case MapOf(key):
            return f"map<{type_text(key)}>"


def _columns(fields: Iterable[TypedField], above: Steps, line: int = 0) -> Iterator[SchemaColumn]:
    for each in fields:
        steps = (*above, step(each.name))
        yield SchemaColumn(
            steps,
            type_text(each.type),
            shape_of(each.type),
            each.nullable,
            each.default,
            each.enum,
            each.unit,
            each.meaning,
            each.description,
            each.line or line,
        )
        yield from parts_within(each.type, steps, each.line or line)


def parts_within(type_: DataType, steps: Steps, line: int = 0) -> Iterator[SchemaColumn]:
    """Columns nested in a type."""
    match type_:
        case StructOf(fields):
            yield from _columns(fields, steps, line)
        case ArrayOf(element, nullable):
            yield from _part(element, (*steps, ELEMENT), nullable, line)
        case MapOf(_, value, nullable):
            yield from _part(value, (*steps, VALUE), nullable, line)


def _part(type_: DataType, steps: Steps, nullable: bool | None, line: int) -> Iterator[SchemaColumn]:  # noqa: FBT001
    yield SchemaColumn(steps, type_text(type_), shape_of(type_), nullable, line=line)
    yield from parts_within(type_, steps, line)
