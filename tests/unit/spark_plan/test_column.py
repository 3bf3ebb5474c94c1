"""The algebra of columns: parts, merging, binding, texts."""

from __future__ import annotations

from headwater_producers.spark.plan.binding import bind
from headwater_producers.spark.plan.column import (
    CONSTANT,
    MAX_TEXT,
    DirectSource,
    FieldRef,
    Indirect,
    ValueLineage,
    Variable,
    clip,
    combine,
    influences,
    inline,
)
from headwater_producers.spark.plan.structure import merge, part
from headwater_schemas.events import DatasetRef
from headwater_schemas.events import TransformationKind as Kind

T = DatasetRef("file", "/t")


def column(*path: str, kind: Kind = Kind.COPY, whole: bool = True) -> ValueLineage:
    return ValueLineage(frozenset({DirectSource(FieldRef(T, path), kind, whole=whole)}), text=".".join(path))


def fields(one: ValueLineage) -> set[tuple[str, ...] | None]:
    return {d.field.path for d in one.direct if isinstance(d.field, FieldRef)}


def test_a_part_of_a_whole_value_comes_from_the_fields_part() -> None:
    assert fields(part(part(column("a"), "b"), "[]")) == {("a", "b", "[]")}


def test_a_part_of_a_computed_value_comes_from_all_it_was_computed_from() -> None:
    computed = combine([column("a"), column("b")], Kind.DERIVE, "f(a, b)")
    assert fields(part(computed, "x")) == {("a",), ("b",)}


def test_a_known_part_is_taken_as_it_is() -> None:
    built = ValueLineage(parts={"x": column("a"), "y": column("b")})
    assert part(built, "x") == column("a")


def test_a_constant_beside_a_column_says_nothing() -> None:
    assert combine([column("a"), ValueLineage(CONSTANT)], Kind.DERIVE, "a + 1").direct == {
        DirectSource(FieldRef(T, ("a",)), Kind.DERIVE)
    }
    assert combine([ValueLineage(CONSTANT)], Kind.DERIVE, "1 + 1").direct == CONSTANT


def test_merging_keeps_each_kind() -> None:
    merged = merge([column("a"), column("a", kind=Kind.CAST)], "union")
    assert {d.kind for d in merged.direct} == {Kind.COPY, Kind.CAST}


def test_merging_parts_that_only_one_side_knows() -> None:
    merged = merge([ValueLineage(column("s").direct, parts={"x": column("a")}), column("t")], "union")
    assert fields(part(merged, "x")) == {("a",), ("t", "x")}


def test_influences_take_direct_sources_and_keep_what_was_indirect() -> None:
    by = Indirect(FieldRef(T, ("w",)), Kind.WINDOW_DEPENDENCY)
    found = influences([ValueLineage(column("a").direct, frozenset({by}), "a > 1")], Kind.FILTER_DEPENDENCY)
    assert found == {by, Indirect(FieldRef(T, ("a",)), Kind.FILTER_DEPENDENCY, text="a > 1")}


def test_a_variable_is_bound_to_the_part_of_its_value() -> None:
    body = combine([ValueLineage(frozenset({DirectSource(Variable(7, ("x",)), whole=True)}))], Kind.DERIVE, "f(v.x)")
    assert bind(body, {7: column("a", "[]")}).direct == {DirectSource(FieldRef(T, ("a", "[]", "x")), Kind.DERIVE)}


def test_long_texts_are_cut_and_stay_apart() -> None:
    one, other = "x" * 5000 + "1", "x" * 5000 + "2"
    assert len(clip(one)) <= MAX_TEXT
    assert clip(one) != clip(other)
    assert inline(ValueLineage(text=one)) != inline(ValueLineage(text=other))
    assert clip("short") == "short"
