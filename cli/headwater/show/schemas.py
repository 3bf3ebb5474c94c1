"""Views of the schemas that a dataset had, and of the types that a column had."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from headwater.console import plain_table, shortened
from headwater.show.names import span_text
from headwater_analysis.schemas import DiffChange, DifferentColumn, FieldType, KnownSchema, KnownType

_MOST_CHANGES = 8
_STYLES = {DiffChange.ADDED: "green", DiffChange.REMOVED: "red", DiffChange.CHANGED: "yellow"}


def schemas_table(schemas: Sequence[KnownSchema]) -> Table:
    """Table with a row for each schema and its changes, the last reported first."""
    out = plain_table("seen", "columns", "changes", "digest")
    for schema in schemas:
        seen = span_text(schema.first_seen, schema.last_seen)
        out.add_row(seen, f"{schema.columns_total:,}", _changes(schema), shortened(schema.digest))
    return out


def types_table(types: Sequence[KnownType]) -> Table:
    """Table with a row for each type that a column had in schemas, the last reported first."""
    out = plain_table("type", "seen")
    for each in types:
        out.add_row(type_text(each), span_text(each.first_seen, each.last_seen))
    return out


def type_text(of: FieldType | KnownType) -> str:
    """Format a type: `bigint`, `string not null`, `?` if unknown."""
    words = (of.type, "not null" if of.nullable is False else None)
    return " ".join(shortened(word) for word in words if word) or "?"


def retyped_text(before: FieldType, after: FieldType) -> str:
    """Format a change of type, `int → bigint`; for equal types, the nullability."""
    one, other = type_text(before), type_text(after)
    if before.type == after.type and before.nullable is False:
        other += " (nullable)"
    return f"{one} → {other}"


def _changes(schema: KnownSchema) -> Text:
    if schema.changes is None:
        return Text("the first known schema", "dim")
    lines = [Text(_change(each), _STYLES[each.change]) for each in schema.changes[:_MOST_CHANGES]]
    if (more := schema.changes_total - len(lines)) > 0:
        lines.append(Text(f"and {more:,} more", "dim"))
    return Text("\n").join(lines) if lines else Text("no known change; the order of columns may differ", "dim")


def _change(change: DifferentColumn) -> str:
    name = shortened(change.column)
    match change.before, change.after:
        case None, FieldType() as after:
            return f"+ {name} {type_text(after)}"
        case FieldType() as before, FieldType() as after:
            return f"~ {name} {retyped_text(before, after)}"
        case _:
            return f"- {name}"
