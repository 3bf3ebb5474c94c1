"""Schemas of datasets, with their first and last reports, and the changes from one schema to the next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import pairwise
from typing import Any

from headwater_analysis.moments import moment
from headwater_analysis.reader import Transaction
from headwater_graph.keys import schema_key

MOST_CHANGES = 100
"""Maximum number of a schema's changes to show."""

_NULLABLE = {"true": True, "false": False, "": None}


class DiffChange(StrEnum):
    """Change from before to after."""

    ADDED = "ADDED"
    REMOVED = "REMOVED"
    CHANGED = "CHANGED"


@dataclass(frozen=True, slots=True)
class FieldType:
    """Type and nullability of a column in a schema.

    Attributes:
        type: data type, where known.
        nullable: whether it may hold nulls, where known.
    """

    type: str | None
    nullable: bool | None

    def differs(self, other: FieldType) -> bool:
        """Return whether both are known to differ: an unknown value counts as equal."""
        types = None not in (self.type, other.type) and self.type != other.type
        return types or (None not in (self.nullable, other.nullable) and self.nullable != other.nullable)


@dataclass(frozen=True, slots=True)
class DifferentColumn:
    """A column that differs between two schemas of a dataset.

    Attributes:
        change: ADDED, REMOVED or CHANGED (another type or nullability).
        column: field path.
        before, after: type and nullability in the schema before and after; None if the column isn't in that schema.
    """

    change: DiffChange
    column: str
    before: FieldType | None
    after: FieldType | None


@dataclass(frozen=True, slots=True)
class KnownType(FieldType):
    """Type and nullability that schemas stated for a column.

    Attributes:
        first_seen, last_seen: first and last report of such a schema.
    """

    first_seen: datetime | None
    last_seen: datetime | None


@dataclass(frozen=True, slots=True)
class KnownSchema:
    """A current or former schema of a dataset.

    Attributes:
        digest: digest of the paths, types and nullability of its fields, 32 hex digits.
        first_seen, last_seen: first and last report of the schema.
        columns_total: number of its fields.
        changes: changes from the schema whose first report comes just before this schema's first report; at most 100.
            None: no earlier schema was read.
        changes_total: number of all these changes.
    """

    digest: str
    first_seen: datetime | None
    last_seen: datetime | None
    columns_total: int
    changes: tuple[DifferentColumn, ...] | None
    changes_total: int


@dataclass(frozen=True, slots=True)
class SchemaAt:
    """Schema of a dataset at a time, or as a run used it.

    Attributes:
        dataset: properties of the dataset's node, from which `column_asset` builds assets.
        since, until: first and last report of the schema.
        fields: fields by path, in order.
    """

    dataset: Mapping[str, Any]
    since: datetime | None
    until: datetime | None
    fields: Mapping[str, FieldType]


def schemas_of(tx: Transaction, keys: Sequence[str], *, most: int) -> tuple[tuple[KnownSchema, ...], int]:
    """Return the latest schemas of a dataset, the last reported first, and their number.

    Args:
        keys: keys of the dataset under all its names.
        most: maximum number of schemas to return.
    """
    rows = tx.rows("schemas/latest", keys=keys, most=most + 1)
    if not rows:
        return (), 0
    found = [row["schema"] for row in rows]
    in_time = sorted(found, key=lambda schema: (moment(schema["first_seen"]), moment(schema["last_seen"])))
    before = {later["digest"]: earlier for earlier, later in pairwise(in_time)}
    return tuple(_known(schema, before.get(schema["digest"])) for schema in found[:most]), rows[0]["total"]


def schemas_at(tx: Transaction, keys: Iterable[str], time: datetime | None) -> dict[str, SchemaAt]:
    """Return, for each dataset key, the latest schema that had been reported at a time.

    If several schemas were reported both before and after the time, the schema with the latest first report is
    returned.

    Args:
        keys: keys of datasets.
        time: time of the schemas; None: now.
    """
    return {row["dataset"]["key"]: _schema(row) for row in tx.rows("schemas/at", keys=sorted(keys), time=time)}


def schemas_by_digest(tx: Transaction, schemas: Iterable[tuple[str, str]]) -> dict[tuple[str, str], SchemaAt]:
    """Schemas by the dataset's key and the schema's digest; unreported schemas are left out."""
    asked = {schema_key(tx.tenant, *each): each for each in schemas}
    if not asked:
        return {}
    return {asked[row["key"]]: _schema(row) for row in tx.rows("schemas/by_key", keys=sorted(asked))}


def first_reports(tx: Transaction, schemas: Iterable[tuple[str, str]]) -> dict[tuple[str, str], datetime | None]:
    """First report of each schema, by the dataset's key and the schema's digest; unreported schemas are left out."""
    asked = {schema_key(tx.tenant, *each): each for each in schemas}
    if not asked:
        return {}
    return {asked[row["key"]]: moment(row["first_seen"]) for row in tx.rows("schemas/reported", keys=sorted(asked))}


def types_of(tx: Transaction, keys: Sequence[str], column: str, *, most: int) -> tuple[KnownType, ...]:
    """Types and nullability that schemas stated for a column, the last reported first."""
    return tuple(
        KnownType(row["type"] or None, _NULLABLE[row["nullable"]], moment(row["first_seen"]), moment(row["last_seen"]))
        for row in tx.rows("schemas/of_column", keys=keys, column=column, most=most)
    )


def changes(before: Mapping[str, FieldType], after: Mapping[str, FieldType]) -> Iterator[DifferentColumn]:
    """Changes between two schemas: removed fields in the order of `before`, then others in the order of `after`."""
    for path, was in before.items():
        if path not in after:
            yield DifferentColumn(DiffChange.REMOVED, path, was, None)
    for path, now in after.items():
        if (earlier := before.get(path)) is None:
            yield DifferentColumn(DiffChange.ADDED, path, None, now)
        elif earlier.differs(now):
            yield DifferentColumn(DiffChange.CHANGED, path, earlier, now)


def _known(schema: Mapping[str, Any], before: Mapping[str, Any] | None) -> KnownSchema:
    found = None if before is None else tuple(changes(_fields(before), _fields(schema)))
    return KnownSchema(
        digest=schema["digest"],
        first_seen=moment(schema["first_seen"]),
        last_seen=moment(schema["last_seen"]),
        columns_total=len(schema["columns"]),
        changes=None if found is None else found[:MOST_CHANGES],
        changes_total=len(found or ()),
    )


def _schema(row: Mapping[str, Any]) -> SchemaAt:
    schema = row["schema"]
    return SchemaAt(row["dataset"], moment(schema["first_seen"]), moment(schema["last_seen"]), _fields(schema))


def _fields(schema: Mapping[str, Any]) -> dict[str, FieldType]:
    lists = zip(schema["columns"], schema["data_types"], schema["nullable"], strict=True)
    return {path: FieldType(type_ or None, _NULLABLE[nullable]) for path, type_, nullable in lists}
