"""Values with parts: what is chosen as a whole, and how many elements there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater_producers.spark.plan.column import (
    CONSTANT,
    LENGTH,
    DirectSource,
    FieldRef,
    ValueLineage,
    combine,
    influences,
)
from headwater_producers.spark.plan.structure import (
    MAX_INFLUENCES,
    aligned,
    array_of,
    as_one,
    length_of,
    merge,
    part,
    recast,
    stepped,
)
from headwater_schemas.events import DatasetRef
from headwater_schemas.events import TransformationKind as Kind

if TYPE_CHECKING:
    import pytest

T = DatasetRef("file", "/t")
TEXTS = {"type": "array", "elementType": "string"}


def field(name: str) -> ValueLineage:
    return ValueLineage(frozenset({DirectSource(FieldRef(T, (name,)), whole=True)}), text=name, type="string")


def struct(*names: str) -> ValueLineage:
    fields = {name: field(name) for name in names}
    types = [{"name": name, "type": "string"} for name in names]
    return ValueLineage(
        combine(fields.values(), Kind.DERIVE, "struct").direct,
        parts=fields,
        type={"type": "struct", "fields": types},
    )


def influencing(column: ValueLineage) -> set[str | None]:
    return {i.field.path[-1] if i.field.path else None for i in column.indirect if isinstance(i.field, FieldRef)}


def chosen(value: ValueLineage) -> ValueLineage:
    return as_one(value, influences([value], Kind.CONDITIONAL, "max"))


def test_what_is_chosen_as_a_whole_influences_each_part() -> None:
    greatest = chosen(struct("a", "b"))
    assert influencing(part(greatest, "a")) == {"a", "b"}
    assert influencing(greatest) == set()


def test_parts_that_only_the_type_names_are_influenced_too() -> None:
    whole = ValueLineage(frozenset({DirectSource(FieldRef(T, ("tags",)), whole=True)}), text="tags", type=TEXTS)
    assert influencing(part(chosen(whole), "[]")) == {"tags"}


def test_of_many_fields_the_dataset_is_named_so_that_edges_are_as_many_as_fields() -> None:
    names = [f"f{number}" for number in range(MAX_INFLUENCES + 1)]
    greatest = chosen(struct(*names))
    assert {frozenset(influencing(part(greatest, name))) for name in names} == {frozenset({None})}


SAME_NUMBER: list[object] = [
    lambda array: stepped(array, Kind.AGGREGATE),
    lambda array: recast(array, {"type": "array", "elementType": "binary"}, "cast"),
    lambda array: aligned(array, {"type": "array", "elementType": "binary"}),
    lambda array: merge([array, array], "union"),
]


def test_how_many_there_are_lives_through_what_changes_no_number(subtests: pytest.Subtests) -> None:
    for kept in SAME_NUMBER:
        with subtests.test(kept=kept):
            two = array_of(field("a"), combine([field("a")], Kind.DERIVE, "array(a, 1)"), length=ValueLineage(CONSTANT))
            assert callable(kept)
            assert part(kept(two), LENGTH).direct == CONSTANT


def test_how_many_there_are_comes_from_the_array_where_nobody_says() -> None:
    tags = ValueLineage(frozenset({DirectSource(FieldRef(T, ("tags",)), whole=True)}), text="tags", type=TEXTS)
    assert length_of([tags]).direct == {DirectSource(FieldRef(T, ("tags",)), Kind.DERIVE)}
