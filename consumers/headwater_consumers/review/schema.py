"""A schema: columns by path, nested ones too, whatever file it was read from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from headwater_consumers.data_types import ArrayOf, Atom, DataType, Field, MapOf, StructOf, type_text

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
    """A column, or a field within one.

    Attributes:
        steps: of its path, as they are written: `("legs", "[]", "origin")`.
        type: as Spark writes it; None: not known.
        shape: what of the type isn't in columns of their own: `struct`, `array`, `map<string>`, `bigint`; None
            likewise.
        nullable: whether it may be null, where known.
        default: whether there is a value for rows that don't give one.
        enum: the only values that it may have, sorted; None: any.
        unit: of its values.
        meaning: what it is declared to be.
        description: for people.
        line: of the file, from 1; 0: not known.
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
        """As the graph has it: `legs.[].origin`."""
        return ".".join(self.steps)

    @property
    def required(self) -> bool:
        """Whether a row can't be written without it."""
        return self.nullable is False and not self.default


@dataclass(frozen=True, slots=True)
class Schema:
    """A schema.

    Attributes:
        source: the file, or `the graph`.
        columns: by steps, a parent before what it contains.
        states: what the format has a place for, of NULLABLE, ENUM, UNIT, MEANING, DESCRIPTION and PARTITIONING: without
            one, nothing is known, and nothing differs.
        partitioning: columns, or transforms of columns, by which it is partitioned.
    """

    source: str
    columns: dict[Steps, SchemaColumn]
    states: frozenset[str]
    partitioning: tuple[str, ...] = ()

    def within(self, above: Steps) -> Schema:
        """The same as the schema of a column: of a topic's `value`."""
        moved = {(*above, *steps): replace(each, steps=(*above, *steps)) for steps, each in self.columns.items()}
        return replace(self, columns=moved)


def schema_of(
    source: str,
    fields: Iterable[Field],
    states: Iterable[str],
    partitioning: tuple[str, ...] = (),
) -> Schema:
    """The schema of these columns.

    Args:
        source: the file.
        fields: the columns at the top.
        states: see there.
        partitioning: see there.

    Raises:
        ValueError: two columns have one path; its text is the path.
    """
    columns: dict[Steps, SchemaColumn] = {}
    for column in _columns(fields, ()):
        if column.steps in columns:
            raise ValueError(column.path)
        columns[column.steps] = column
    return Schema(source, columns, frozenset(states), partitioning)


def steps_of(path: str) -> Steps:
    """The steps of a path, each as it is written there."""
    return tuple(found[0] for found in _STEP.finditer(path)) or (path,)


def step(name: str) -> str:
    """A name as a step of a path: in backquotes where it would end one, or be an element."""
    if "." in name or "`" in name or name in (ELEMENT, VALUE):
        return f"`{name.replace('`', '``')}`"
    return name


def shape_of(type_: DataType) -> str:
    """See `SchemaColumn.shape`."""
    match type_:
        case Atom(name):
            return name
        case StructOf():
            return "struct"
        case ArrayOf():
            return "array"
        case MapOf(key):
            return f"map<{type_text(key)}>"


def _columns(fields: Iterable[Field], above: Steps, line: int = 0) -> Iterator[SchemaColumn]:
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
    """Columns within one of that type."""
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
