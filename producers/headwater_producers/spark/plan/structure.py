"""Structured values: structs, arrays and maps; their parts, their construction and their casts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from headwater_producers.spark.plan.column import (
    CONSTANT,
    ELEMENT,
    KEY,
    LENGTH,
    PRESENCE,
    REST,
    UNNAMED,
    VALUE,
    DataType,
    DirectSource,
    FieldRef,
    Indirect,
    ValueLineage,
    clip,
    combine,
    container_step,
    influences,
    inline,
    member_step,
)
from headwater_producers.spark.plan.names import shown_name
from headwater_producers.spark.plan.schema import type_parts, type_text
from headwater_schemas.events import TransformationKind as Kind

MAX_INFLUENCES = 32
"""Maximum number of influences that are listed for each part of a value that is chosen as a whole."""


def part(column: ValueLineage, step: str) -> ValueLineage:
    """Return a part of a structured value: its known lineage, else the value's sources (or their parts if `whole`)."""
    known = column.parts.get(step)
    if known is not None:
        return known
    if step == KEY:
        return key_of(column)
    if step == LENGTH:
        return combine([column], Kind.DERIVE, f"size({inline(column)})")
    if step == PRESENCE:
        return combine([column], Kind.DERIVE, inline(column))
    container = container_step(step)
    if container is not None:
        rest = column.parts.get(member_step(container, REST))
        return one_of_all(column, container) if rest is None else rest
    direct = frozenset(_part_of(d, step) for d in column.direct)
    return ValueLineage(
        direct, column.indirect, clip(f"{inline(column)}.{shown_name(step)}"), type=part_type(column.type, step)
    )


def one_of_all(container: ValueLineage, step: str) -> ValueLineage:
    """Return an element of an array (`[]`), or a value of a map (`{}`), at an unknown index or under an unknown key.

    A map's data keys decide which value is under a key. The length of an array or map decides whether the element
    exists. The length is left out if it adds no source: `transform(a, x -> 1)[0]` is null if `a` is empty, and
    `transform(a, x -> x + 1)[0]` comes from `a` in any case.
    """
    value = part(container, step)
    if step not in container.parts or members(container, step):
        return value
    if KEY in container.parts:
        value = influenced(value, influences([key_of(container)], Kind.CONDITIONAL))
    return _influenced_by_length(value, part(container, LENGTH), f"size({inline(container)})")


def _influenced_by_length(value: ValueLineage, length: ValueLineage, text: str) -> ValueLineage:
    # Part by part: in `arrays_zip(a, b)` one array may be longer, and its length then affects both fields.
    known = value.direct | value.indirect
    new = frozenset(d for d in length.direct if not has_part_of(known, d))
    by = influences([replace(length, direct=new)], Kind.CONDITIONAL, text)
    parts = {name: _influenced_by_length(item, length, text) for name, item in value.parts.items()}
    return replace(value, indirect=value.indirect | by, parts=parts)


def _part_of(direct: DirectSource, step: str) -> DirectSource:
    source = direct.field
    if source is None or (isinstance(source, FieldRef) and source.path is None):
        return direct
    if not direct.whole:
        return direct.then(Kind.DERIVE)
    return replace(direct, field=replace(source, path=(*(source.path or ()), step)))


def part_type(data_type: DataType, step: str) -> DataType:
    """Return the type of a part; None if it isn't known."""
    if not isinstance(data_type, dict):
        return None
    if step == ELEMENT:
        return data_type.get("elementType")
    if step == VALUE:
        return data_type.get("valueType")
    for item in data_type.get("fields", ()):
        if item.get("name") == step:
            return item.get("type")
    return None


def stepped(value: ValueLineage, kind: Kind, text: str | None = None) -> ValueLineage:
    """Return the value and each of its parts after one step of `kind`; structure and encoding are kept."""
    return replace(
        combine([value], kind, value.text if text is None else text, whole=True),
        parts={name: stepped(item, kind) for name, item in value.parts.items()},
        encoded=stepped(value.encoded, kind) if value.encoded else None,
        type=value.type,
    )


def influenced(column: ValueLineage, by: frozenset[Indirect]) -> ValueLineage:
    """Add influences to the value and each of its known parts."""
    if not by:
        return column
    parts = {name: influenced(item, by) for name, item in column.parts.items()}
    return replace(column, indirect=column.indirect | by, parts=parts)


def as_one(column: ValueLineage, by: frozenset[Indirect]) -> ValueLineage:
    """Spread the influences of a value chosen as a whole (the greatest struct) to each of its parts."""
    names = {name for name, _, _ in type_parts(column.type)} | column.parts.keys()
    few = by if len(by) <= MAX_INFLUENCES else _on_whole_datasets(by)
    return replace(column, parts={name: influenced(part(column, name), few) for name in sorted(names)})


def _on_whole_datasets(by: Iterable[Indirect]) -> frozenset[Indirect]:
    """Replace fields by their datasets as a whole: otherwise each of a hundred fields has a hundred influences."""
    return frozenset(replace(i, field=FieldRef(i.field.dataset)) if isinstance(i.field, FieldRef) else i for i in by)


def aligned(column: ValueLineage, data_type: DataType) -> ValueLineage:
    """Rename a value's fields as in `data_type`: Spark matches by position (UNION, CAST), not by name.

    A type of another shape, or an unknown type, changes nothing.
    """
    own, target = type_parts(column.type), type_parts(data_type)
    if len(own) != len(target) or type_text(column.type) == type_text(data_type):
        return column
    pairs = zip(own, target, strict=True)
    parts = {step: item for step, item in column.parts.items() if step in UNNAMED}
    for (step, _, _), (name, inner, _) in pairs:
        parts[name] = aligned(part(column, step), inner)
        parts |= {each: aligned(item, inner) for each, item in members(column, step).items()}
    return replace(column, parts=parts, type=data_type)


def recast(column: ValueLineage, data_type: DataType, text: str) -> ValueLineage:
    """Cast the value to `data_type`: each part by position; parts of unchanged type are copies."""
    own, target = type_parts(column.type), type_parts(data_type)
    result = replace(combine([column], Kind.CAST, text), type=data_type)
    if len(own) != len(target):
        return result
    parts = {step: column.parts[step] for step in (LENGTH, PRESENCE) if step in column.parts}
    for (step, old, _), (name, new, _) in zip(own, target, strict=True):
        parts[name] = _retyped(part(column, step), old, new)
        parts |= {each: _retyped(item, old, new) for each, item in members(column, step).items()}
    return replace(result, parts=parts)


def _retyped(item: ValueLineage, old: DataType, new: DataType) -> ValueLineage:
    new_type = type_text(new)
    return item if type_text(old) == new_type else recast(item, new, f"cast({inline(item)} as {new_type})")


def members(column: ValueLineage, step: str) -> dict[str, ValueLineage]:
    """Return the individually known members of an array (`[]`) or a map (`{}`), by step."""
    return {name: item for name, item in column.parts.items() if container_step(name) == step}


def merge(columns: Iterable[ValueLineage], text: str) -> ValueLineage:
    """Merge alternative values (a UNION's column): all their sources, unchanged.

    Fields of structs are matched by position, and have the names of the first.
    """
    items = list(columns)
    if len(items) == 1:
        return items[0]
    data_type = items[0].type
    items = [aligned(item, data_type) for item in items]
    base = combine(items, Kind.COPY, text, whole=True)
    names = {name for item in items for name in item.parts}
    parts = {name: merge((part(item, name) for item in items), f"{text}.{name}") for name in sorted(names)}
    encoded = [item.encoded for item in items if item.encoded]
    constants = [item.constants for item in items]
    return replace(
        base,
        parts=parts,
        encoded=merge(encoded, text) if len(encoded) == len(items) else None,
        type=data_type,
        constants=frozenset().union(*(c for c in constants if c)) if None not in constants else None,
    )


def same_sources(one: ValueLineage, other: ValueLineage) -> bool:
    """Return True if both columns have equal sources and influences, part by part; texts don't matter."""
    return (
        one.direct == other.direct
        and {(i.field, i.kind, i.masking) for i in one.indirect}
        == {(i.field, i.kind, i.masking) for i in other.indirect}
        and all(same_sources(part(one, name), part(other, name)) for name in one.parts.keys() | other.parts.keys())
    )


def key_of(container: ValueLineage) -> ValueLineage:
    """Return a map's keys, which no path names: for a map built in the query its keys' sources, else the map."""
    if KEY in container.parts:
        return container.parts[KEY]
    key_type = container.type.get("keyType") if isinstance(container.type, dict) else None
    return replace(combine([container], Kind.DERIVE, f"key of {inline(container)}"), type=key_type)


def map_of(
    value: ValueLineage,
    base: ValueLineage,
    key: ValueLineage | None = None,
    known: Mapping[str, ValueLineage] | None = None,
    length: ValueLineage | None = None,
) -> ValueLineage:
    """Complete `base`, a map, with its values, known keys and members, and its size."""
    parts = {**({KEY: key} if key else {}), **(known or {}), **({LENGTH: length} if length else {})}
    data_type = {"type": "map", "keyType": key.type if key else None, "valueType": value.type}
    return replace(base, parts={VALUE: value, **parts}, type=data_type)


def array_of(
    element: ValueLineage,
    base: ValueLineage,
    known: Mapping[str, ValueLineage] | None = None,
    length: ValueLineage | None = None,
) -> ValueLineage:
    """Complete `base`, an array, with its elements, known members, and its length."""
    parts = {ELEMENT: element, **(known or {}), **({LENGTH: length} if length else {})}
    return replace(base, parts=parts, type={"type": "array", "elementType": element.type})


def length_of(containers: Iterable[ValueLineage]) -> ValueLineage:
    """Return a column for the total number of elements in these containers."""
    return combine([part(each, LENGTH) for each in containers], Kind.DERIVE, "size")


def as_many_as(length: ValueLineage, column: ValueLineage) -> ValueLineage:
    """Add the length's sources to a value computed from all elements, if the value has no source in the array."""
    direct = column.direct | {d for d in length.direct if not has_part_of(column.direct, d)}
    if any(d.field is not None for d in direct):
        direct -= CONSTANT
    parts = {name: as_many_as(length, item) for name, item in column.parts.items()}
    return replace(column, direct=direct, indirect=column.indirect | length.indirect, parts=parts)


def has_part_of(found: Iterable[DirectSource | Indirect], whole: DirectSource) -> bool:
    """Return True if one of `found` has the field of `whole`, or a part of that field."""
    if whole.field is None:
        return True
    path = whole.field.path or ()
    own = replace(whole.field, path=path)
    return any(d.field and replace(d.field, path=(d.field.path or ())[: len(path)]) == own for d in found)


def field_names(struct: ValueLineage) -> list[str]:
    """List a struct's fields in order; without a type, only the known fields."""
    return [name for name, _, _ in type_parts(struct.type)] or [name for name in struct.parts if name not in UNNAMED]


def is_struct(data_type: DataType) -> bool:
    """Return True if this is a struct's type."""
    return isinstance(data_type, dict) and data_type.get("type") == "struct"


def is_map(column: ValueLineage) -> bool:
    """Return True if the value is known to be a map."""
    return VALUE in column.parts or (isinstance(column.type, dict) and column.type.get("type") == "map")
