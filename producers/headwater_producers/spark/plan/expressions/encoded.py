"""Encodings: JSON, Avro, CSV, XML, protobuf. A decoded field has the lineage of the encoded field.

The payload of a topic has fields that aren't in Spark's schema of the topic. `from_json(cast(value as string), …)` on a
topic reads fields such as `value.dep_delay`; `to_json(struct(carrier)) AS value` writes the field `value.carrier`. A
column of text elsewhere has no such fields: a value parsed from it is derived from the column.
"""

from __future__ import annotations

import re
from dataclasses import replace

from headwater_producers.spark.plan.column import (
    ELEMENT,
    REST,
    VALUE,
    DataType,
    ValueLineage,
    combine,
    container_step,
    member_step,
)
from headwater_producers.spark.plan.expressions.call import Call, Rule, rules
from headwater_producers.spark.plan.expressions.generators import as_parts
from headwater_producers.spark.plan.members import NOTHING
from headwater_producers.spark.plan.schema import type_parts
from headwater_producers.spark.plan.structure import aligned, influenced, is_struct, merge, one_of_all, part, stepped
from headwater_schemas.events import TransformationKind as Kind

# The steps of a JSON path: .name, ['name'], [0], [*].
_JSON_STEP = re.compile(r"\.(?P<name>[^.\[]+)|\['(?P<quoted>[^']+)'\]|\[(?P<index>\d+|\*)\]")


def decode(call: Call) -> ValueLineage:
    """Read `from_json` and similar functions: the encoded value, if known."""
    encoded = call.arguments[0]
    data_type = call.node.get("schema") or call.node.get("dataType")
    if encoded.encoded is None:
        return replace(call.step(Kind.DERIVE, [encoded]), type=data_type)
    # JSON, Avro and XML fields are matched by name, CSV fields by position.
    value = encoded.encoded
    value = aligned(value, data_type) if call.node.name == "CsvToStructs" else _by_name(value, data_type)
    return replace(influenced(value, encoded.indirect), type=data_type or value.type)


def _by_name(value: ValueLineage, data_type: DataType) -> ValueLineage:
    """Return an encoded value under its decoded type: a struct may be read as a map, a map as a struct.

    An encoding without known fields (a topic's payload) has every requested field.
    """
    own, target = type_parts(value.type), type_parts(data_type)
    if not own or not target:
        return value
    if own[0][0] == VALUE and is_struct(data_type):
        return replace(value, parts={n: _by_name(part(value, member_step(VALUE, n)), inner) for n, inner, _ in target})
    if target[0][0] == VALUE and is_struct(value.type):
        fields = {name: _by_name(part(value, name), target[0][1]) for name, _, _ in own}
        known = {member_step(VALUE, name): field for name, field in fields.items()}
        return replace(
            value, parts={VALUE: merge(fields.values(), value.text), **known, member_step(VALUE, REST): NOTHING}
        )
    types = {step: inner for step, inner, _ in target}
    parts = {name: _by_name(item, types.get(container_step(name) or name)) for name, item in value.parts.items()}
    if is_struct(value.type) and is_struct(data_type):
        names = {name.lower() for name, _, _ in own}
        parts |= {name: NOTHING for name in types if name.lower() not in names}
    return replace(value, parts=parts)


def encode(call: Call) -> ValueLineage:
    """Read `to_json` and similar functions: text derived from all fields; decoding gives back each field."""
    value = call.arguments[0]
    return replace(call.step(Kind.DERIVE, [value]), encoded=stepped(value, Kind.CAST))


def json_path(call: Call) -> ValueLineage:
    """Read `get_json_object(text, '$.a.b')`: the field of the payload, if the path is a constant."""
    text, *path = call.arguments
    found = step_into(text, next(iter(path[0].constants), "") if path and path[0].constants else "")
    return replace(found, text=call.text) if found else call.step(Kind.DERIVE)


def variant_path(call: Call) -> ValueLineage:
    """Read `variant_get(variant, '$.a.b', type)`: the part at the path, cast."""
    variant, path = call.arguments[:2]
    found = step_into(replace(variant, encoded=variant), next(iter(path.constants or ()), ""))
    return combine([found], Kind.CAST, call.text) if found else call.step(Kind.DERIVE)


def step_into(text: ValueLineage, path: str) -> ValueLineage | None:
    """Return the part of an encoded value at a JSON path; None if the value or the path is unknown."""
    if text.encoded is None or not path.startswith("$"):
        return None
    value, position = text.encoded, 1
    while position < len(path):
        found = _JSON_STEP.match(path, position)
        if found is None:
            return None
        name = found["name"] or found["quoted"]
        value = part(value, name) if name else one_of_all(value, ELEMENT)
        position = found.end()
    return value


def json_tuple(call: Call) -> ValueLineage:
    """Read `json_tuple(text, 'a', 'b')`, a generator (see `generators.py`)."""
    text, *names = call.arguments
    found = []
    for name in names:
        constant = next(iter(name.constants), None) if name.constants else None
        known = part(text.encoded, constant) if text.encoded and constant is not None else None
        found.append(known or call.step(Kind.DERIVE, [text]))
    return as_parts(call, found)


ENCODED: dict[str, Rule] = {
    "GetJsonObject": json_path,
    "JsonTuple": json_tuple,
    "VariantGet": variant_path,
    "ToVariantObject": lambda call: stepped(call.arguments[0], Kind.CAST, call.text),
    **rules(
        decode, "JsonToStructs CsvToStructs XmlToStructs AvroDataToCatalyst FromAvro ProtobufDataToCatalyst ParseJson"
    ),
    **rules(encode, "StructsToJson StructsToCsv StructsToXml CatalystDataToAvro ToAvro CatalystDataToProtobuf"),
}
