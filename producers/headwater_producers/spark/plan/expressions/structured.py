"""Structs, arrays and maps: built, and taken apart. Functions of whole arrays and maps are in `collections.py`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from headwater_producers.spark.plan.column import (
    CONSTANT,
    ELEMENT,
    PRESENCE,
    VALUE,
    ValueLineage,
    combine,
    influences,
    inline,
    member_step,
)
from headwater_producers.spark.plan.expressions.call import Call, Rule, rules
from headwater_producers.spark.plan.members import array_members, constant_key, index_step, map_members
from headwater_producers.spark.plan.schema import type_parts
from headwater_producers.spark.plan.structure import (
    array_of,
    as_many_as,
    field_names,
    influenced,
    is_map,
    length_of,
    map_of,
    members,
    merge,
    one_of_all,
    part,
)
from headwater_schemas.events import TransformationKind as Kind


def named_struct(call: Call) -> ValueLineage:
    """Read `struct(a, b)`: the arguments are alternating names and values."""
    names = [next(iter(name.constants), "") if name.constants else "" for name in call.arguments[::2]]
    values = call.arguments[1::2]
    if is_time_window(names, values):
        return time_window(call, names)
    text = f"struct({', '.join(names)})"
    fields = [{"name": name, "type": value.type} for name, value in zip(names, values, strict=False)]
    # If two fields have the same name, either may be meant.
    same = {name: [v for n, v in zip(names, values, strict=False) if n == name] for name in names}
    return replace(
        combine(values, Kind.DERIVE, text),
        parts={**{name: merge(of_name, name) for name, of_name in same.items()}, PRESENCE: ValueLineage(CONSTANT)},
        type={"type": "struct", "fields": fields},
    )


def is_time_window(names: list[str], values: Iterable[ValueLineage]) -> bool:
    """Return True if this struct is the one that Spark makes for `window(…)`."""
    return names == ["start", "end"] and all(value.text.startswith("window_bound(") for value in values)


def time_window(call: Call, names: list[str]) -> ValueLineage:
    """Read `window(time, …)`: both bounds are derived from the time; Spark's arithmetic is no condition."""
    bounds = call.arguments[1::2]
    time = bounds[0].text.removeprefix("window_bound(").removesuffix(")")
    parts = {name: replace(bound, text=f"window({time}).{name}") for name, bound in zip(names, bounds, strict=True)}
    fields = [{"name": name, "type": "timestamp"} for name in names]
    whole = replace(combine(bounds, Kind.DERIVE, f"window({time})"), indirect=frozenset())
    return replace(whole, parts=parts, type={"type": "struct", "fields": fields})


def window_bound(call: Call) -> ValueLineage:
    """Read Spark's conversion between times and integers, which time windows use."""
    (value,) = call.arguments
    if call.node.get("toType") == "long":
        return combine([value], Kind.DERIVE, value.text)
    # Back to a time: all the arithmetic between is one step, and its text would fill a page.
    times = sorted({d.field.path[-1] for d in value.direct if d.field is not None and d.field.path})
    return replace(combine([value], Kind.DERIVE, f"window_bound({', '.join(times)})"), indirect=frozenset())


def array(call: Call) -> ValueLineage:
    """Read `array(a, b)`: elements may be any of the arguments."""
    if not call.arguments:
        return call.step(Kind.DERIVE)
    element, known = merge(call.arguments, call.text), array_members(call.arguments)
    return array_of(element, call.step(Kind.DERIVE), known, ValueLineage(CONSTANT))


def create_map(call: Call) -> ValueLineage:
    """Read `map(k, v, …)`: the arguments are alternating keys and values."""
    if not call.arguments:
        return call.step(Kind.DERIVE)
    keys, values = call.arguments[::2], call.arguments[1::2]
    key = merge(keys, f"one of({', '.join(dict.fromkeys(inline(each) for each in keys))})")
    known = map_members(keys, values)
    length = ValueLineage(CONSTANT) if known else combine(keys, Kind.DERIVE, "size")
    return map_of(merge(values, call.text), call.step(Kind.DERIVE), key, known, length)


def element(call: Call) -> ValueLineage:
    """Read `array[i]`, `map[key]`, `element_at`: the element; its index or key influences the value.

    A constant index or key selects the member of an array or a map that was built of known members.
    """
    container, index, *_ = call.arguments
    if is_map(container) or call.node.name == "GetMapValue":
        key = constant_key(index)
        value = one_of_all(container, VALUE) if key is None else part(container, member_step(VALUE, key))
    else:
        step = index_step(call.node.name, index)
        value = one_of_all(container, ELEMENT) if step is None else part(container, step)
    return replace(influenced(value, influences([index], Kind.CONDITIONAL)), text=call.text)


def got(call: Call) -> ValueLineage:
    """Read `get(array, i)`, which is an expression since Spark 4.1; earlier, Spark replaces it by `array[i]`."""
    return element(call) if len(call.arguments) > 1 else call.arguments[0]


def struct_in_array(call: Call) -> ValueLineage:
    """Read `array_of_structs.field`: an array of that field."""
    (structs,) = call.arguments
    name = call.node.get("field")
    name = name.get("name") if isinstance(name, dict) else None
    if name is None:
        return call.step(Kind.DERIVE)
    inner = part(part(structs, ELEMENT), str(name))
    known = {step: part(item, str(name)) for step, item in members(structs, ELEMENT).items()}
    fields = combine([inner], Kind.COPY, f"{inline(structs)}.{name}", whole=True)
    length = length_of([structs])
    return array_of(inner, as_many_as(length, fields), known, length)


def update_fields(call: Call) -> ValueLineage:
    """Read `withField`, `dropFields`: the struct, some fields replaced, added or left out.

    The result is null if the struct is null, so a field put into the struct depends on the struct, too.
    """
    struct, *changes = call.arguments
    presence = part(struct, PRESENCE)
    by = influences([presence], Kind.CONDITIONAL, inline(struct))
    parts = {name: part(struct, name) for name in field_names(struct)}
    types = {name: data_type for name, data_type, _ in type_parts(struct.type)}
    for change in changes:
        for name, value in change.parts.items():
            parts[name], types[name] = influenced(value, by), value.type
        for name in change.constants or ():
            parts.pop(name, None)
            types.pop(name, None)
    fields = [{"name": name, "type": types.get(name)} for name in parts]
    whole = combine(parts.values(), Kind.DERIVE, call.text)
    return replace(whole, parts={**parts, PRESENCE: presence}, type={"type": "struct", "fields": fields})


def with_field(call: Call) -> ValueLineage:
    """Read one change of `update_fields`: a field set."""
    (value,) = call.arguments
    name = str(call.node.get("name"))
    return replace(value, parts={name: value}, constants=None, text=f"{name} = {inline(value)}")


def drop_field(call: Call) -> ValueLineage:
    """Read one change of `update_fields`: a field left out."""
    name = str(call.node.get("name"))
    return ValueLineage(constants=frozenset({name}), text=f"drop {name}")


STRUCTURED: dict[str, Rule] = {
    "CreateNamedStruct": named_struct,
    "PreciseTimestampConversion": window_bound,
    "CreateArray": array,
    "CreateMap": create_map,
    "GetArrayStructFields": struct_in_array,
    "UpdateFields": update_fields,
    "WithField": with_field,
    "DropField": drop_field,
    **rules(element, "GetArrayItem GetMapValue ElementAt"),
    "Get": got,
}
