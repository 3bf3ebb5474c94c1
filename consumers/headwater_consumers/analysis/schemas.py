"""Schemas that datasets had: which there were, when each was reported, and what is different from one to the next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any

from headwater_consumers.analysis.change import DiffChange
from headwater_consumers.analysis.moments import moment
from headwater_consumers.analysis.reader import Transaction
from headwater_consumers.graph.keys import schema_key

MOST_CHANGES = 100
"""Of one schema against the one before."""

_NULLABLE = {"true": True, "false": False, "": None}


@dataclass(frozen=True, slots=True)
class FieldType:
    """What a schema states of a column.

    Attributes:
        type: its data type, where known.
        nullable: whether it may hold nulls, where known.
    """

    type: str | None
    nullable: bool | None

    def differs(self, other: FieldType) -> bool:
        """Whether both are known to be different: what one of them doesn't state is no difference."""
        types = None not in (self.type, other.type) and self.type != other.type
        return types or (None not in (self.nullable, other.nullable) and self.nullable != other.nullable)


@dataclass(frozen=True, slots=True)
class SchemaChange:
    """A column that differs between two schemas of a dataset.

    Attributes:
        change: ADDED, REMOVED; CHANGED: another type or nullability.
        column: its field path.
        before, after: as either schema has it; None where it isn't in that one.
    """

    change: DiffChange
    column: str
    before: FieldType | None
    after: FieldType | None


@dataclass(frozen=True, slots=True)
class KnownType:
    """What schemas stated of a column.

    Attributes:
        type: its data type, where known.
        nullable: whether it may hold nulls, where known.
        first_seen, last_seen: of the first and the last report of such a schema.
    """

    type: str | None
    nullable: bool | None
    first_seen: datetime | None
    last_seen: datetime | None


@dataclass(frozen=True, slots=True)
class KnownSchema:
    """A schema that a dataset has, or had.

    Attributes:
        digest: 32 hex digits, of the paths, types and nullability of its fields.
        first_seen, last_seen: when it was first and last reported.
        columns_total: how many fields it has.
        changes: against the schema of this list that was first reported before it; at most 100. None: it is the first.
        changes_total: how many there are.
    """

    digest: str
    first_seen: datetime | None
    last_seen: datetime | None
    columns_total: int
    changes: tuple[SchemaChange, ...] | None
    changes_total: int


@dataclass(frozen=True, slots=True)
class SchemaAt:
    """A schema of a dataset: the one that it had at a time, or that a run used it with.

    Attributes:
        dataset: properties of its node, for assets.
        since, until: when it was first and last reported.
        fields: by path, in order.
    """

    dataset: Mapping[str, Any]
    since: datetime | None
    until: datetime | None
    fields: Mapping[str, FieldType]


def schemas_of(tx: Transaction, keys: Sequence[str], *, most: int) -> tuple[tuple[KnownSchema, ...], int]:
    """The latest schemas of a dataset, the one reported last first, and how many there are.

    Args:
        tx: to look up in.
        keys: of the dataset under all its names.
        most: how many are returned.
    """
    rows = tx.rows("schemas/latest", keys=keys, most=most + 1)
    if not rows:
        return (), 0
    found = [row["schema"] for row in rows]
    in_time = sorted(found, key=lambda schema: (moment(schema["first_seen"]), moment(schema["last_seen"])))
    before = {later["digest"]: earlier for earlier, later in pairwise(in_time)}
    return tuple(_known(schema, before.get(schema["digest"])) for schema in found[:most]), rows[0]["total"]


def schemas_at(tx: Transaction, keys: Iterable[str], time: datetime | None) -> dict[str, SchemaAt]:
    """The schemas of datasets that were reported last by a time, by the datasets' keys.

    Of several that were reported before and after the time, it is the one that was first reported last.

    Args:
        tx: to look up in.
        keys: of datasets.
        time: by when; None: now.
    """
    return {row["dataset"]["key"]: _schema(row) for row in tx.rows("schemas/at", keys=sorted(keys), time=time)}


def schemas_by_digest(tx: Transaction, schemas: Iterable[tuple[str, str]]) -> dict[tuple[str, str], SchemaAt]:
    """Schemas by the dataset's key and their digest; without those that were never reported."""
    asked = {schema_key(tx.tenant, *each): each for each in schemas}
    if not asked:
        return {}
    return {asked[row["key"]]: _schema(row) for row in tx.rows("schemas/by_key", keys=sorted(asked))}


def first_reports(tx: Transaction, schemas: Iterable[tuple[str, str]]) -> dict[tuple[str, str], datetime | None]:
    """When schemas were first reported, by the dataset's key and the schema's digest; without those that never were."""
    asked = {schema_key(tx.tenant, *each): each for each in schemas}
    if not asked:
        return {}
    return {asked[row["key"]]: moment(row["first_seen"]) for row in tx.rows("schemas/reported", keys=sorted(asked))}


def types_of(tx: Transaction, keys: Sequence[str], column: str, *, most: int) -> tuple[KnownType, ...]:
    """What schemas stated of a column, the one reported last first."""
    return tuple(
        KnownType(row["type"] or None, _NULLABLE[row["nullable"]], moment(row["first_seen"]), moment(row["last_seen"]))
        for row in tx.rows("schemas/of_column", keys=keys, column=column, most=most)
    )


def changes(before: Mapping[str, FieldType], after: Mapping[str, FieldType]) -> Iterator[SchemaChange]:
    """What is different: what was removed, in the order of `before`; then the rest in the order of `after`."""
    for path, was in before.items():
        if path not in after:
            yield SchemaChange(DiffChange.REMOVED, path, was, None)
    for path, now in after.items():
        if (earlier := before.get(path)) is None:
            yield SchemaChange(DiffChange.ADDED, path, None, now)
        elif earlier.differs(now):
            yield SchemaChange(DiffChange.CHANGED, path, earlier, now)


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
