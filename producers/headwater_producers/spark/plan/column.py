"""Column lineage algebra: sources and influences of one value.

A `ValueLineage` is the lineage of one expression at one point of a plan. Rules combine them bottom-up, so each node of
a plan is read once. All values are frozen and all functions pure.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from headwater_producers.spark.plan.lattice import compose
from headwater_schemas.events import DatasetRef
from headwater_schemas.events import TransformationKind as Kind

Path = tuple[str, ...]
DataType = Any
"""Data type as in Spark's schema JSON: a name, or an object with `type`."""

ELEMENT = "[]"
VALUE = "{}"
KEY = "\1"
"""Step to the keys of a map built in the query; paths never contain it."""
LENGTH = "\2"
"""Step to the length of an array or map; no path names it."""
PRESENCE = "\3"
"""Step to the nullness of a struct that was built; no path names it."""
UNNAMED = frozenset({KEY, LENGTH, PRESENCE})
"""Parts that no path names."""
REST = "\0"
"""Key of all members of an array or a map that aren't known individually."""
_MEMBER = "\0"
"""Separator between `[]` or `{}` and a member's index or key; never part of a field's name."""
MAX_TEXT = 1_000
MAX_INLINE = 300
"""Length above which a column's text is replaced by a digest in other columns' texts."""


@dataclass(frozen=True, slots=True)
class FieldRef:
    """Field of a dataset; with `path` None the whole dataset (its rows)."""

    dataset: DatasetRef
    path: Path | None = None


@dataclass(frozen=True, slots=True)
class Variable:
    """Variable: placeholder for a part of the value of a lambda's parameter, or of a common expression."""

    id: int
    path: Path = ()


@dataclass(frozen=True, slots=True)
class DirectSource:
    """Direct source: the value comes from `field`.

    Attributes:
        field: the field; None for a value from no field (a constant, a black box without arguments).
        masking: True if the field's value can't be read back.
        whole: True if the value has the field's own structure, so that each part comes from the field's part of the
            same name.
    """

    field: FieldRef | Variable | None
    kind: Kind = Kind.COPY
    masking: bool = False
    whole: bool = False

    def then(self, kind: Kind, *, masking: bool = False, whole: bool = False) -> DirectSource:
        """Return the same source after one more step."""
        masked = self.field is not None and (self.masking or masking)
        return DirectSource(self.field, compose(self.kind, kind), masked, self.whole and whole)


@dataclass(frozen=True, slots=True)
class Indirect:
    """Indirect source: `field` influences the value through `text`, a condition, a key or an order."""

    field: FieldRef | Variable
    kind: Kind
    masking: bool = False
    text: str | None = None


CONSTANT = frozenset({DirectSource(None, Kind.CONSTANT)})


def member_step(container: str, key: str) -> str:
    """Return the step to one member of an array (`[]`) by its index, or of a map (`{}`) by its key."""
    return f"{container}{_MEMBER}{key}"


def container_step(step: str) -> str | None:
    """Return the step to all members for a step to one member; None for any other step."""
    container, mark, _ = step.partition(_MEMBER)
    return container if mark else None


def member_key(step: str) -> str:
    """Return the index or key of a member's step; `REST` of the step to all other members."""
    return step.partition(_MEMBER)[2]


@dataclass(frozen=True, slots=True)
class ValueLineage:
    """Lineage of one value.

    Attributes:
        indirect: influences on only this value (influences on all rows are in `Relation.influences`).
        text: the expression in terms of input fields, free of anything that changes from run to run.
        parts: lineage of known parts: struct fields by name, `[]` the elements of an array, `{}` the values of a map;
            for a value that was built in the query also its members by `member_step`, a map's keys by `KEY`, its length
            by `LENGTH`, and a struct's nullness by `PRESENCE`.
        encoded: the encoded value, if this value is an encoding (JSON, Avro, CSV), e.g. by `to_json`, or a topic's
            payload.
        type: data type, as far as known.
        constants: all possible values, if known: the literal, or the literals of a CASE.
        parameters: ids of a lambda's variables.
    """

    direct: frozenset[DirectSource] = frozenset()
    indirect: frozenset[Indirect] = frozenset()
    text: str = ""
    parts: Mapping[str, ValueLineage] = field(default_factory=dict)
    encoded: ValueLineage | None = None
    type: DataType = None
    constants: frozenset[str] | None = None
    parameters: tuple[int, ...] = ()

    @property
    def sources(self) -> Iterable[DirectSource]:
        """Direct sources that are fields."""
        return (d for d in self.direct if d.field is not None)


def combine(
    columns: Iterable[ValueLineage],
    kind: Kind,
    text: str,
    *,
    masking: bool = False,
    whole: bool = False,
) -> ValueLineage:
    """Combine columns into a value computed from them in one step of `kind`."""
    direct: set[DirectSource] = set()
    indirect: set[Indirect] = set()
    for column in columns:
        direct.update(d.then(kind, masking=masking, whole=whole) for d in column.direct)
        indirect |= column.indirect
    if any(d.field is not None for d in direct):
        direct -= CONSTANT
    return ValueLineage(frozenset(direct), frozenset(indirect), clip(text))


def influences(columns: Iterable[ValueLineage], kind: Kind, text: str | None = None) -> frozenset[Indirect]:
    """Return the direct sources of `columns` as influences of `kind`, and the influences that `columns` already have.

    The new influences have `text`; None: their column's own text. Existing influences keep their kind: a filter on a
    window function's result also depends on the partition keys, but it is the window that used the keys.
    """
    found: set[Indirect] = set()
    for column in columns:
        shown = clip(text or column.text) or None
        found |= column.indirect
        found.update(Indirect(d.field, kind, d.masking, shown) for d in column.direct if d.field is not None)
    return frozenset(found)


def inline(column: ValueLineage) -> str:
    """Return the column's text for use in another text; a long text becomes a digest, so texts stay distinct."""
    return column.text if len(column.text) <= MAX_INLINE else f"…{_digest(column.text)}"


def clip(text: str) -> str:
    """Cut a text to `MAX_TEXT` characters; a longer text ends in a digest of the whole, so texts stay distinct."""
    return text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT - 20]}… {_digest(text)}"


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
