"""Arrays and maps of known members: which member a key means, and when nobody can say."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from headwater_producers.spark.plan.column import CONSTANT, VALUE, DirectSource, FieldRef, ValueLineage, member_step
from headwater_producers.spark.plan.members import array_items, array_members, constant_key, map_members, united_maps
from headwater_producers.spark.plan.structure import array_of, merge, part
from headwater_schemas.events import DatasetRef

if TYPE_CHECKING:
    import pytest

T = DatasetRef("file", "/t")


def literal(value: str, data_type: str, text: str | None = None) -> ValueLineage:
    return ValueLineage(CONSTANT, text=text or f"'{value}'", type=data_type, constants=frozenset({value}))


def field(name: str) -> ValueLineage:
    return ValueLineage(frozenset({DirectSource(FieldRef(T, (name,)), whole=True)}), text=name)


def sources(column: ValueLineage) -> set[str]:
    return {".".join(d.field.path or ()) for d in column.sources if isinstance(d.field, FieldRef)}


KEYS: list[tuple[ValueLineage, str | None]] = [
    (literal("a", "string"), "a"),
    (literal("3", "integer"), "3"),
    (literal("3.0", "long"), "3"),
    (literal("3.5", "integer"), None),
    (literal("many", "integer"), None),
    # As '01', or in another way: only the cast knows.
    (literal("1", "string", "cast(01 as string)"), None),
    # Equal to another by a collation.
    (literal("a", "string collate UTF8_LCASE"), None),
    (literal("1.0", "double"), None),
    (replace(literal("a", "string"), constants=frozenset({"a", "b"})), None),
    (field("x"), None),
]


def test_a_key_is_known_where_it_can_be_compared(subtests: pytest.Subtests) -> None:
    for column, key in KEYS:
        with subtests.test(column=column):
            assert constant_key(column) == key


def array(*names: str) -> ValueLineage:
    items = [field(name) for name in names]
    return array_of(merge(items, "array"), ValueLineage(), array_members(items))


def test_which_of_two_arrays_it_is_leaves_their_lengths_open() -> None:
    assert [sources(item) for item in array_items(array("a", "b")) or []] == [{"a"}, {"b"}]
    either = merge([array("a", "b"), array("c")], "either")
    assert sources(part(either, member_step("[]", "0"))) == {"a", "c"}
    assert sources(part(either, member_step("[]", "-1"))) == {"b", "c"}
    assert array_items(either) is None


def map_of(**names: str) -> ValueLineage:
    keys, values = [literal(key, "string") for key in names], [field(name) for name in names.values()]
    return ValueLineage(parts={VALUE: merge(values, "map"), **map_members(keys, values)})


def test_of_two_maps_the_last_that_has_the_key_gives_the_value() -> None:
    unknown = replace(field("m"), type={"type": "map", "valueType": "string"})

    def value(key: str, *maps: ValueLineage) -> set[str]:
        united = ValueLineage(parts=united_maps(maps))
        return sources(part(united, member_step(VALUE, key)))

    assert value("k", map_of(k="a"), map_of(k="b", l="c")) == {"b"}
    assert value("k", map_of(k="a"), map_of(l="c")) == {"a"}
    assert value("k", map_of(k="a"), unknown) == {"a", "m.{}"}
    assert value("k", unknown, map_of(k="a")) == {"a"}
    assert value("z", map_of(k="a"), map_of(l="c")) == set()
    assert value("z", unknown, map_of(k="a")) == {"m.{}"}


def test_a_map_with_a_key_that_is_not_known_has_no_members() -> None:
    assert map_members([literal("a", "string"), field("k")], [field("x"), field("y")]) == {}
