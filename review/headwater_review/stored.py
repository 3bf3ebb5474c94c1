"""Schema of a dataset in the graph."""

from __future__ import annotations

from headwater_analysis.assets import Asset
from headwater_analysis.data_types import parse_type, type_text
from headwater_analysis.errors import QuestionError
from headwater_analysis.identity import Identities
from headwater_analysis.reader import Transaction
from headwater_review.schema import (
    DESCRIPTION,
    NULLABLE,
    Schema,
    SchemaColumn,
    Steps,
    parts_within,
    shape_of,
    steps_of,
)

SOURCE = "the graph"
_MOST = 200_000


def stored_schema(tx: Transaction, dataset: Asset, at: Steps) -> tuple[Schema, tuple[str, ...]]:
    """Return the schema of the part of the dataset below `at`, and notes on this schema.

    Raises:
        QuestionError: the graph has no column at this path.
    """
    rows = tx.rows("known/columns", keys=Identities.of(tx).members(dataset.key), most=_MOST)
    current = [row["column"] for row in rows if row["link"].get("current")]
    notes: tuple[str, ...] = ()
    if not current:
        current = [row["column"] for row in rows if row["link"].get("last_seen") is None]
        notes = ("No schema of the dataset was reported: the columns in the graph are those that jobs name.",)
    columns: dict[Steps, SchemaColumn] = {}
    for column in current:
        steps = steps_of(column["name"])
        if steps[: len(at)] == at and len(steps) > len(at):
            text = column.get("data_type") or None
            type_ = None if text is None else parse_type(text)
            columns[steps] = SchemaColumn(
                steps,
                None if type_ is None else type_text(type_),
                None if type_ is None else shape_of(type_),
                column.get("nullable"),
                description=column.get("description") or None,
            )
    if not columns:
        within = f" below {'.'.join(at)!r}" if at else ""
        raise QuestionError(
            f"The graph has no schema of {dataset.spelling}{within} to compare with: give the old one.", field="old"
        )
    # Some producers report a struct without its fields.
    parents = {steps[:-1] for steps in columns}
    for steps, column in list(columns.items()):
        if column.type is not None and steps not in parents:
            for inner in parts_within(parse_type(column.type), steps):
                columns.setdefault(inner.steps, inner)
    states = {NULLABLE} | ({DESCRIPTION} if any(each.description for each in columns.values()) else set())
    return Schema(SOURCE, columns, frozenset(states)), notes
