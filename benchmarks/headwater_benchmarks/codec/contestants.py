"""Who encodes and decodes: Headwater's codec, fastavro alone, and JSON as OpenLineage's client writes it."""

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
    """What is put to everybody.

    Attributes:
        group: a kind of events, or `MIXED`.
        direction: which way.
    """

    group: str
    direction: Literal["encode", "decode"]


@dataclass(frozen=True, slots=True)
class Codec:
    """One way to write events.

    Attributes:
        name: for the report.
        prepare: an event to what `encode` takes, as its users have it in their hands.
        encode: that to bytes.
        decode: bytes to what its users get.
    """

    name: str
    prepare: Callable[[LineageEvent], Any]
    encode: Callable[[Any], bytes]
    decode: Callable[[bytes], Any]


def codecs() -> list[Codec]:
    """All of them.

    Headwater's checks every field both ways, and gives typed events. fastavro takes and gives dicts, unchecked but for
    what it can't write. OpenLineage's Python client writes with `json.dumps`, keys sorted.
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
    """What one codec works on, by group.

    Attributes:
        prepared: what it encodes.
        values: what it decodes.
    """

    prepared: Mapping[str, Sequence[Any]]
    values: Mapping[str, Sequence[bytes]]

    def bytes_per_event(self, group: str) -> float:
        """The mean of a group."""
        return sum(map(len, self.values[group])) / len(self.values[group])


def groups(events: Sequence[LineageEvent]) -> dict[str, list[LineageEvent]]:
    """The events, all and by kind."""
    kinds = sorted(Counter(event.kind for event in events))
    return {MIXED: list(events), **{kind: [event for event in events if event.kind == kind] for kind in kinds}}


def material(codec: Codec, grouped: Mapping[str, Sequence[LineageEvent]]) -> Material:
    """Everything that isn't measured, done before."""
    prepared = {group: [codec.prepare(event) for event in events] for group, events in grouped.items()}
    values = {group: [codec.encode(each) for each in ready] for group, ready in prepared.items()}
    return Material(prepared, values)


def contestant(codec: Codec, works_on: Material) -> Contestant[Question]:
    """One that answers by encoding or decoding a whole group; finds as many as there are."""

    def answer(question: Question) -> int:
        if question.direction == "encode":
            for each in works_on.prepared[question.group]:
                codec.encode(each)
        else:
            for value in works_on.values[question.group]:
                codec.decode(value)
        return len(works_on.prepared[question.group])

    return Contestant(codec.name, answer)
