"""The codecs that are compared: Headwater's, fastavro alone, and JSON as OpenLineage's client writes it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from io import BytesIO
from typing import Any, Literal

import msgspec
from fastavro import schemaless_reader, schemaless_writer

from headwater_benchmarks.codec.openlineage import openlineage
from headwater_benchmarks.rounds import Contestant
from headwater_schemas.avro_schema import current_schema
from headwater_schemas.codec import Decoder, encode
from headwater_schemas.events import LineageEvent

HEADWATER, FASTAVRO, OPENLINEAGE = "headwater", "fastavro alone", "OpenLineage JSON"
MIXED = "MIXED"
"""All kinds, in their proportions."""


@dataclass(frozen=True, slots=True)
class Question:
    """One task for every codec.

    Attributes:
        group: a kind of events, or `MIXED`.
        direction: whether to encode or to decode them.
    """

    group: str
    direction: Literal["encode", "decode"]


@dataclass(frozen=True, slots=True)
class Codec:
    """One way to write events.

    Attributes:
        name: for the report.
        prepare: converts an event to the argument of `encode`, the form in which users of the codec have it.
        encode: converts that to bytes.
        decode: converts bytes to the form that users of the codec get.
    """

    name: str
    prepare: Callable[[LineageEvent], Any]
    encode: Callable[[Any], bytes]
    decode: Callable[[bytes], Any]


def codecs() -> list[Codec]:
    """The three codecs.

    Headwater's codec checks every field in both directions, and returns typed events. fastavro takes and returns dicts,
    and checks only whether it can write them. OpenLineage's Python client uses `json.dumps` with sorted keys.
    """
    schema = current_schema().parsed
    decoder = Decoder()

    def write(datum: Any) -> bytes:
        out = BytesIO()
        schemaless_writer(out, schema, datum, disable_tuple_notation=True)
        return out.getvalue()

    return [
        Codec(HEADWATER, lambda event: event, encode, decoder.decode),
        Codec(
            FASTAVRO,
            lambda event: msgspec.to_builtins(event, builtin_types=(datetime,)),
            write,
            lambda value: schemaless_reader(BytesIO(value), schema, None),
        ),
        Codec(OPENLINEAGE, openlineage, lambda document: json.dumps(document, sort_keys=True).encode(), json.loads),
    ]


@dataclass(frozen=True, slots=True)
class Material:
    """The input of one codec, by group.

    Attributes:
        prepared: arguments of its `encode`.
        values: arguments of its `decode`.
    """

    prepared: Mapping[str, Sequence[Any]]
    values: Mapping[str, Sequence[bytes]]

    def bytes_per_event(self, group: str) -> float:
        """The mean size of a group's events."""
        return sum(map(len, self.values[group])) / len(self.values[group])


def groups(events: Sequence[LineageEvent]) -> dict[str, list[LineageEvent]]:
    """All events as `MIXED`, and the events of each kind."""
    kinds = sorted(Counter(event.kind for event in events))
    return {MIXED: list(events), **{kind: [event for event in events if event.kind == kind] for kind in kinds}}


def material(codec: Codec, grouped: Mapping[str, Sequence[LineageEvent]]) -> Material:
    """Prepare and encode all events; this isn't measured."""
    prepared = {group: [codec.prepare(event) for event in events] for group, events in grouped.items()}
    values = {group: [codec.encode(each) for each in ready] for group, ready in prepared.items()}
    return Material(prepared, values)


def contestant(codec: Codec, works_on: Material) -> Contestant[Question]:
    """A contestant that encodes or decodes a whole group, and returns the number of events."""

    def answer(question: Question) -> int:
        if question.direction == "encode":
            for each in works_on.prepared[question.group]:
                codec.encode(each)
        else:
            for value in works_on.values[question.group]:
                codec.decode(value)
        return len(works_on.prepared[question.group])

    return Contestant(codec.name, answer)
