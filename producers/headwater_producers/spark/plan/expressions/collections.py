"""Functions of whole arrays and maps: lineage of each element and value of their result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from headwater_producers.spark.plan.column import (
    CONSTANT,
    ELEMENT,
    KEY,
    PRESENCE,
    VALUE,
    Indirect,
    ValueLineage,
    combine,
    influences,
)
from headwater_producers.spark.plan.expressions.call import Call, Rule, rules
from headwater_producers.spark.plan.members import array_items, array_members, map_members, united_maps
from headwater_producers.spark.plan.structure import (
    array_of,
    as_one,
    field_names,
    influenced,
    key_of,
    length_of,
    map_of,
    merge,
    part,
    part_type,
)
from headwater_schemas.events import TransformationKind as Kind


def concatenated(call: Call) -> ValueLineage:
    """Read `concat`, `array_union`: elements of any of the arrays; texts have no elements."""
    arrays = [a for a in call.arguments if part_type(a.type, ELEMENT) is not None or ELEMENT in a.parts]
    if not arrays:
        return call.step(Kind.DERIVE)
    elements = [part(array, ELEMENT) for array in arrays]
    if call.node.name == "ArrayUnion":
        return _array(call, elements, whole=Kind.CONDITIONAL)
    known = [array_items(array) for array in arrays]
    items = None if None in known else [item for each in known for item in each or ()]
    return _array(call, elements, items=items, length=length_of(arrays))


def selected(call: Call) -> ValueLineage:
    """Read `slice`, `reverse`: some or all of the first array's elements, chosen by the other arguments."""
    array, *others = call.arguments
    if part_type(array.type, ELEMENT) is None and ELEMENT not in array.parts:
        return call.step(Kind.DERIVE)  # reverse('text')
    if call.node.name == "ArrayCompact":
        nulls = influences([part(array, ELEMENT)], Kind.CONDITIONAL, call.text)
        length = influenced(combine([array], Kind.DERIVE, "size"), nulls)
    else:
        length = combine([length_of([array]), *others], Kind.DERIVE, "size")
    return _array(call, [part(array, ELEMENT)], by=others, length=length)


def compared(call: Call) -> ValueLineage:
    """Read `array_distinct`, `array_except`: some elements, which are compared as a whole."""
    array, *others = call.arguments
    return _array(call, [part(array, ELEMENT)], by=others, whole=Kind.CONDITIONAL)


def in_order(call: Call) -> ValueLineage:
    """Read `sort_array(array)`: the same elements, ordered by whole elements."""
    array = call.arguments[0]
    return _array(call, [part(array, ELEMENT)], whole=Kind.SORT_DEPENDENCY, length=length_of([array]))


def with_item(call: Call) -> ValueLineage:
    """Read `array_append(array, item)`, `array_prepend`; `array_insert(array, position, item)`."""
    array, *position, item = call.arguments
    length = combine([length_of([array]), *position], Kind.DERIVE, "size")
    return _array(call, [part(array, ELEMENT), item], by=position, length=length)


def repeated(call: Call) -> ValueLineage:
    """Read `array_repeat(item, count)`."""
    item, count = call.arguments
    return _array(call, [item], by=[count], length=count)


def flattened(call: Call) -> ValueLineage:
    """Read `flatten(array of arrays)`."""
    return _array(call, [part(part(call.arguments[0], ELEMENT), ELEMENT)])


def zipped(call: Call) -> ValueLineage:
    """Read `arrays_zip(a, b)`: an array of structs, a field for each array."""
    names = [str(tree[0].get("value")) for tree in call.node.trees("names")]
    if len(names) != len(call.arguments):
        return call.step(Kind.DERIVE)
    fields = {name: part(array, ELEMENT) for name, array in zip(names, call.arguments, strict=True)}
    return _array(call, [_struct(fields)], length=length_of(call.arguments))


def size(call: Call) -> ValueLineage:
    """Read `size(array)`, `size(map)`."""
    return replace(combine([length_of(call.arguments)], Kind.DERIVE, call.text), type=call.node.get("dataType"))


def map_values(call: Call) -> ValueLineage:
    """Read `map_values(m)`."""
    return _array(call, [part(call.arguments[0], VALUE)], length=length_of(call.arguments))


def map_keys(call: Call) -> ValueLineage:
    """Read `map_keys(m)`."""
    return _array(call, [key_of(call.arguments[0])], length=length_of(call.arguments))


def map_entries(call: Call) -> ValueLineage:
    """Read `map_entries(m)`: an array of structs of key and value."""
    source = call.arguments[0]
    entry = _struct({"key": key_of(source), "value": part(source, VALUE)})
    return _array(call, [entry], length=length_of(call.arguments))


def from_entries(call: Call) -> ValueLineage:
    """Read `map_from_entries(array of structs)`: the second field of each is a value."""
    entry = part(call.arguments[0], ELEMENT)
    names = field_names(entry)
    if len(names) != 2:
        return call.step(Kind.DERIVE)
    key, value = names
    items = array_items(call.arguments[0]) or []
    known = map_members([part(item, key) for item in items], [part(item, value) for item in items]) if items else {}
    keys = part(entry, key)
    return map_of(part(entry, value), call.step(Kind.DERIVE), keys, known, length_of(call.arguments))


def from_arrays(call: Call) -> ValueLineage:
    """Read `map_from_arrays(keys, values)`."""
    keys, values = call.arguments
    known_keys, known_values = array_items(keys), array_items(values)
    known = map_members(known_keys, known_values) if known_keys and known_values else {}
    return map_of(part(values, ELEMENT), call.step(Kind.DERIVE), part(keys, ELEMENT), known, length_of([keys]))


def united(call: Call) -> ValueLineage:
    """Read `map_concat(a, b)`: values of any of the maps."""
    maps = call.arguments
    if not maps:
        return call.step(Kind.DERIVE)
    value = merge([part(item, VALUE) for item in maps], call.text)
    key = merge([key_of(item) for item in maps], call.text) if any(KEY in item.parts for item in maps) else None
    length = combine([length_of(maps), *(key_of(item) for item in maps)], Kind.DERIVE, "size")
    return map_of(value, call.step(Kind.DERIVE), key, united_maps(maps), length)


def _array(
    call: Call,
    elements: Iterable[ValueLineage],
    by: Iterable[ValueLineage] = (),
    items: Sequence[ValueLineage] | None = None,
    whole: Kind | None = None,
    length: ValueLineage | None = None,
) -> ValueLineage:
    # `by` picks the elements. If `whole` names a dependency, each element is compared as a whole.
    picked = _picked(by)
    element = influenced(merge(elements, call.text), picked)
    if whole is not None:
        compared_by = influences([element], whole, call.text)
        element = as_one(element, compared_by)
        picked = picked | compared_by if whole is Kind.CONDITIONAL else picked
    if picked:
        # Values computed for each element are selected, too: `transform(array_except(a, b), x -> 1)`.
        length = influenced(length or combine(call.arguments, Kind.DERIVE, "size"), picked)
    return array_of(element, call.step(Kind.DERIVE), None if items is None else array_members(items), length)


def _struct(fields: dict[str, ValueLineage]) -> ValueLineage:
    types = [{"name": name, "type": field.type} for name, field in fields.items()]
    base = combine(fields.values(), Kind.DERIVE, f"struct({', '.join(fields)})")
    return replace(base, parts={**fields, PRESENCE: ValueLineage(CONSTANT)}, type={"type": "struct", "fields": types})


def _picked(by: Iterable[ValueLineage]) -> frozenset[Indirect]:
    return influences([column for column in by if column.direct != CONSTANT], Kind.CONDITIONAL)


COLLECTIONS: dict[str, Rule] = {
    "ArrayRepeat": repeated,
    "Flatten": flattened,
    "ArraysZip": zipped,
    "MapKeys": map_keys,
    "MapValues": map_values,
    "MapEntries": map_entries,
    "MapFromEntries": from_entries,
    "MapFromArrays": from_arrays,
    "MapConcat": united,
    **rules(size, "Size ArraySize"),
    **rules(concatenated, "Concat ArrayUnion"),
    **rules(with_item, "ArrayAppend ArrayPrepend ArrayInsert"),
    **rules(selected, "Slice ArrayCompact Reverse Shuffle"),
    **rules(compared, "ArrayDistinct ArrayIntersect ArrayExcept ArrayRemove"),
    "SortArray": in_order,
}
