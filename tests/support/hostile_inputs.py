"""Hostile inputs of each kind, made by a seed: what has stopped, slowed or filled a process once, in other sizes."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any, TypeAlias

from headwater_schemas.codec import encode
from support.materializer import events
from support.openlineage import run_event

Make: TypeAlias = Callable[[Random, int], bytes]
"""A generator and the number of the input ⇒ its bytes."""


def _wide_event(random: Random, number: int) -> bytes:
    """A run with up to 1,500 inputs and outputs that names no pairs."""
    return encode(events.wide_run(number, random.randint(300, 1_500), random.randint(300, 1_500)))


def _wide_micro_batches(random: Random, number: int) -> bytes:
    value = encode(events.wide_interval(random.randint(5, 40), random.randint(100, 400), random.randint(1, 20)))
    return value if len(value) < 1_000_000 else _wide_event(random, number)


def _changed(random: Random, number: int) -> bytes:
    """A good event of which some bytes are others, or missing."""
    value = bytearray(events.good(10_000 + number))
    for _ in range(random.randint(1, 8)):
        value[random.randrange(len(value))] = random.randrange(256)
    return bytes(value[: random.randint(len(value) // 2, len(value))])


def _noise(random: Random, _: int) -> bytes:
    return random.randbytes(random.randint(0, 5_000))


RECORDS: dict[str, Make] = {
    "a run of many inputs and outputs": _wide_event,
    "micro-batches of many inputs and outputs": _wide_micro_batches,
    "an event with other bytes": _changed,
    "noise": _noise,
}
"""Values of records of the events topic."""


def _wide_document(random: Random, number: int) -> bytes:
    many = {
        side: [{"namespace": f"ns{number}", "name": f"{side} {each}"} for each in range(random.randint(300, 1_500))]
        for side in ("inputs", "outputs")
    }
    return json.dumps(run_event(20_000 + number, **many)).encode()


def _wide_columns(random: Random, number: int) -> bytes:
    """Every column of an output is made from every column of an input."""
    count = random.randint(50, 150)
    sources = [{"namespace": "n", "name": "in", "field": f"c{each}"} for each in range(count)]
    fields = {f"c{each}": {"inputFields": sources} for each in range(count)}
    outputs = [{"namespace": "n", "name": f"out {number}", "facets": {"columnLineage": {"fields": fields}}}]
    return json.dumps(run_event(30_000 + number, outputs=outputs)).encode()


def _deep_document(random: Random, _: int) -> bytes:
    depth = random.randint(100, 100_000)
    return b'{"a":' * depth + b"1" + b"}" * depth


def _odd_document(random: Random, number: int) -> bytes:
    """A document of which a member is of another type, or as long as the limit allows."""
    document = run_event(40_000 + number)
    odd: list[Any] = [None, -1, 2**70, 1e308, [], {}, "\ud7ff", "x" * random.randint(1, 3_000_000), [[[[[]]]]]]
    document[random.choice(sorted(document))] = random.choice(odd)
    return json.dumps(document).encode()


DOCUMENTS: dict[str, Make] = {
    "an OpenLineage event of many inputs and outputs": _wide_document,
    "an OpenLineage event of many pairs of columns": _wide_columns,
    "brackets": _deep_document,
    "an OpenLineage event with an odd member": _odd_document,
}
"""Bodies of POST /api/v1/lineage, and files of `headwater emit openlineage`."""


def _unfolding(random: Random, _: int) -> bytes:
    """An Avro schema whose named references unfold to 2^n fields."""
    levels = random.randint(10, 40)
    schema: Any = {"type": "record", "name": "r0", "fields": [{"name": "x", "type": "long"}]}
    for level in range(1, levels):
        first = {"name": "a", "type": schema}
        second = {"name": "b", "type": f"r{level - 1}"}
        schema = {"type": "record", "name": f"r{level}", "fields": [first, second]}
    return json.dumps({"dataset": "d", "new": json.dumps(schema)}).encode()


def _long_ddl(random: Random, _: int) -> bytes:
    columns = ", ".join(f"c{number} INT" for number in range(random.randint(1_000, 60_000)))
    return json.dumps({"dataset": "d", "new": f"CREATE TABLE t ({columns})"}).encode()


def _nested_ddl(random: Random, _: int) -> bytes:
    depth = random.randint(50, 20_000)
    return json.dumps({"dataset": "d", "new": "c " + "ARRAY<" * depth + "INT" + ">" * depth}).encode()


REVIEWS: dict[str, Make] = {
    "an Avro schema that unfolds": _unfolding,
    "a table of many columns": _long_ddl,
    "a type of many levels": _nested_ddl,
}
"""Bodies of POST /api/v1/review."""


def _mistakes(random: Random, _: int) -> bytes:
    line = random.choice([b"- a\n", b"datasets: [1]\n", b"? x\n", b"jobs:\n  - {name: 1, inputs: 2}\n", b"x: &a 1\n"])
    return line * random.randint(1_000, 200_000)


def _laughs(random: Random, _: int) -> bytes:
    """Aliases of aliases, which unfold to 10^n."""
    lines = ["a0: &a0 [x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, random.randint(5, 30))]
    return "\n".join(lines).encode()


def _brackets(random: Random, _: int) -> bytes:
    return random.choice([b"[", b"{", b"- ", b"{a: "]) * random.randint(1_000, 500_000)


DECLARATIONS: dict[str, Make] = {"mistakes": _mistakes, "aliases of aliases": _laughs, "open brackets": _brackets}
"""Files of `headwater declare`, and bodies of POST /api/v1/declarations."""
EACH = 10
"""Inputs of each kind."""


def inputs(kinds: dict[str, Make], seed: int) -> list[tuple[str, bytes]]:
    """So many of each kind, always the same for a seed: kind and bytes."""
    random = Random(seed)
    return [(kind, make(random, number)) for kind, make in kinds.items() for number in range(EACH)]
