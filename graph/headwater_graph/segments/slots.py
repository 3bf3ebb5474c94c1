"""Slots: the facts of one micro-batch as a structure, integers and texts, and back.

Consecutive micro-batches of a query have the same registers with other integers: offsets, times, counts. So a slot
consists of

    structure   names of registers, types of their values, lengths of lists of integers: nested tuples
    numbers     all integers and times (microseconds since the epoch), in the structure's order
    texts       all texts, in the structure's order; other values as JSON

and `blocks` stores structures once, texts where they change, and numbers as differences.

Two values aren't stored if they follow from the rest: the source end digest, and the event id in a stamp if the event
had only this micro-batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

import msgspec

from headwater_graph.facts.model import RelType, UseKey
from headwater_graph.facts.nodes import Variant
from headwater_graph.facts.registers import Cell, Props, Registers
from headwater_graph.keys import dataset_key
from headwater_schemas.identity import end_digest, from_micros, identity_id, micros

Shape: TypeAlias = "str | int | tuple[tuple[str, Shape], ...]"
"""Structure of a value: `s` text, `i` integer, `t` time, `j` JSON; a number n: list of n integers; pairs: a group."""

_TEXT, _INTEGER, _TIME, _JSON = "s", "i", "t", "j"
_COMPUTED, _STORED = "c", "s"
"""Codes for a digest or event id: `c` computed from the other values, `s` stored among the texts."""
_INTEGERS = {int}
_OFFSET = 1 << 63


class DatasetName(NamedTuple):
    """Namespace and name of a dataset."""

    namespace: str
    name: str


class OwningQuery(NamedTuple):
    """Query that owns the micro-batches."""

    tenant: str
    query_id: str


class VariantShape(NamedTuple):
    """Structure of a variant.

    Attributes:
        digest: `c` if the source end digest follows from the uses, `s` if it is stored.
        registers: (name, index of its stamp, shape) of each register.
        uses: (type, ordinal, registers) of each use.
        stamps: (certainty, `c` or `s` for the event id) of each stamp.
    """

    digest: str
    registers: tuple[tuple[str, int, Shape], ...]
    uses: tuple[tuple[str, int, tuple[tuple[str, int, Shape], ...]], ...]
    stamps: tuple[tuple[str, str], ...]


Shapes: TypeAlias = tuple[VariantShape, ...]


class Slot(NamedTuple):
    """One micro-batch as structure, numbers and texts."""

    shapes: Shapes
    numbers: Sequence[int]
    texts: list[str]


def take_apart(
    owner: OwningQuery, batch_id: int, variants: Mapping[str, Variant], names: Mapping[str, DatasetName]
) -> Slot:
    """Make the slot of a micro-batch.

    Args:
        variants: reports of the micro-batch, by source end digest.
        names: names of the datasets that it used, by key.
    """
    numbers: list[int] = []
    texts: list[str] = []
    shapes = []
    for digest in sorted(variants):
        variant = variants[digest]
        stamps: dict[str, int] = {}
        registers = _shape_registers(variant.registers, stamps, numbers, texts)
        uses = []
        for use, of_use in variant.uses.items():
            texts += names[use.dataset]
            uses.append((use.type.value, use.ordinal, _shape_registers(of_use, stamps, numbers, texts)))
        computed = digest_of(variant.uses, names)
        if digest != computed:
            texts.append(digest)
        event = _event_id(owner, batch_id, digest)
        kinds = []
        for stamp in stamps:
            numbers.append(int(stamp[1:17], 16) - _OFFSET)
            kinds.append((stamp[0], _COMPUTED if stamp[17:] == event else _STORED))
            if stamp[17:] != event:
                texts.append(stamp[17:])
        shapes.append(VariantShape(_COMPUTED if digest == computed else _STORED, registers, tuple(uses), tuple(kinds)))
    return Slot(tuple(shapes), numbers, texts)


def put_together(owner: OwningQuery, batch_id: int, slot: Slot, known: dict[str, DatasetName]) -> dict[str, Variant]:
    """Inverse of `take_apart`: reports of a micro-batch, by source end digest.

    Args:
        known: receives the names of the datasets that the micro-batch used, by key.
    """
    numbers, texts = iter(slot.numbers), iter(slot.texts)
    variants: dict[str, Variant] = {}
    for shape in slot.shapes:
        registers = [(name, at, _cell(cell_shape, numbers, texts)) for name, at, cell_shape in shape.registers]
        names: dict[str, DatasetName] = {}
        uses = []
        for type_, ordinal, of_use in shape.uses:
            name = DatasetName(next(texts), next(texts))
            use = UseKey(RelType(type_), dataset_key(owner.tenant, *name), ordinal)
            names[use.dataset] = known[use.dataset] = name
            uses.append(
                (use, [(register, at, _cell(cell_shape, numbers, texts)) for register, at, cell_shape in of_use])
            )
        ends = {use: {name: ("", cell) for name, _, cell in cells} for use, cells in uses}
        digest = digest_of(ends, names) if shape.digest == _COMPUTED else next(texts)
        event = _event_id(owner, batch_id, digest)
        stamps = [
            f"{rank}{next(numbers) + _OFFSET:016x}{event if kind == _COMPUTED else next(texts)}"
            for rank, kind in shape.stamps
        ]
        variants[digest] = Variant(
            {name: (stamps[at], cell) for name, at, cell in registers},
            {use: {name: (stamps[at], cell) for name, at, cell in cells} for use, cells in uses},
        )
    return variants


def positions(tenant: str, slot: Slot, of: tuple[RelType, str] | None = None) -> dict[UseKey, Props]:
    """Read only the positions of a micro-batch with one variant. Faster than `put_together`.

    Args:
        of: only uses of this type and dataset key; None: all.
    """
    out: dict[UseKey, Props] = {}
    for type_, ordinal, name, shape, number, text in _position_locations(slot.shapes):
        if of is not None and type_ is not of[0]:
            continue
        use = UseKey(type_, dataset_key(tenant, *slot.texts[name : name + 2]), ordinal)
        if of is None or use.dataset == of[1]:
            out[use] = _cell(shape, iter(slot.numbers[number]), iter(slot.texts[text:]))
    return out


@lru_cache(1 << 12)
def _position_locations(shapes: Shapes) -> list[tuple[RelType, int, int, Shape, slice, int]]:
    """Locate positions of uses. For each: type, ordinal, index of names, shape, slice of numbers, index of texts."""
    (shape,) = shapes
    numbers, texts = map(sum, zip((0, 0), *(_counts(cell_shape) for _, _, cell_shape in shape.registers), strict=True))
    out = []
    for type_, ordinal, registers in shape.uses:
        names = texts
        texts += 2
        for name, _, cell_shape in registers:
            own_numbers, own_texts = _counts(cell_shape)
            if name == "position":
                out.append((RelType(type_), ordinal, names, cell_shape, slice(numbers, numbers + own_numbers), texts))
            numbers, texts = numbers + own_numbers, texts + own_texts
    return out


def _counts(shape: Shape) -> tuple[int, int]:
    """Count the numbers and texts of a value."""
    if isinstance(shape, tuple):
        counts = [_counts(part) for _, part in shape]
        return sum(numbers for numbers, _ in counts), sum(texts for _, texts in counts)
    if isinstance(shape, int):
        return shape, 0
    return (1, 0) if shape in (_INTEGER, _TIME) else (0, 1)


def processing_time_of(slot: Slot) -> datetime | None:
    """Processing time of a micro-batch with one variant; None if it has no time or several variants."""
    index = _time_index(slot.shapes)
    return None if index is None else from_micros(slot.numbers[index])


@lru_cache(1 << 12)
def _time_index(shapes: Shapes) -> int | None:
    index = 0
    for name, _, cell_shape in shapes[0].registers if len(shapes) == 1 else ():
        if name == "processing_time":
            return index if cell_shape == _TIME else None
        index += _counts(cell_shape)[0]
    return None


def _shape_registers(
    registers: Registers, stamps: dict[str, int], numbers: list[int], texts: list[str]
) -> tuple[tuple[str, int, Shape], ...]:
    return tuple(
        [
            (name, stamps.setdefault(stamp, len(stamps)), _shape(cell, numbers, texts))
            for name, (stamp, cell) in registers.items()
        ]
    )


def _shape(cell: Cell, numbers: list[int], texts: list[str]) -> Shape:
    # `type() is` instead of `isinstance`: a bool is an instance of int, and this is the inner loop.
    kind = type(cell)
    if kind is str:
        texts.append(cell)  # type: ignore[arg-type]
        return _TEXT
    if kind is int:
        numbers.append(cell)  # type: ignore[arg-type]
        return _INTEGER
    if isinstance(cell, dict):
        return tuple([(name, _shape(value, numbers, texts)) for name, value in cell.items()])
    if isinstance(cell, datetime):
        numbers.append(micros(cell))
        return _TIME
    if isinstance(cell, list) and set(map(type, cell)) == _INTEGERS:
        numbers += cell  # type: ignore[arg-type]
        return len(cell)
    texts.append(msgspec.json.encode(cell).decode())
    return _JSON


def _cell(shape: Shape, numbers: Iterator[int], texts: Iterator[str]) -> Any:
    if shape == _TEXT:
        return next(texts)
    if shape == _INTEGER:
        return next(numbers)
    if shape == _TIME:
        return from_micros(next(numbers))
    if shape == _JSON:
        return msgspec.json.decode(next(texts))
    if isinstance(shape, int):
        return list(islice(numbers, shape))
    assert isinstance(shape, tuple)  # noqa: S101 - for the type checker
    return {name: _cell(of, numbers, texts) for name, of in shape}


def digest_of(uses: Mapping[UseKey, Registers], names: Mapping[str, DatasetName]) -> str:
    """Return `identity.source_end_digest` of the consumed uses."""
    ends = []
    for use, registers in uses.items():
        if use.type is RelType.CONSUMED:
            cell = registers.get("position")
            ends.append((*names[use.dataset], *end_of(cell[1] if cell is not None else {})))
    return end_digest(ends)


def end_of(position: Cell) -> tuple[str | int | None, ...]:
    """Canonical end of a stored position. An unknown position is an empty dict."""
    assert isinstance(position, dict)  # noqa: S101 - for the type checker
    match kind := position.get("position"):
        case "kafka":
            pairs: Any = zip(position["partitions"], position["to_exclusive"], strict=True)  # type: ignore[arg-type]
            return (str(kind), *(number for pair in pairs for number in pair))
        case str() if kind in _ENDS:
            return (kind, *(_plain(position.get(name)) for name in _ENDS[kind]))
    return (None,)


_ENDS: Mapping[str, tuple[str, ...]] = {
    "table_snapshot": ("snapshot_id",),
    "table_range": ("to_version",),
    "files": ("file_count", "manifest_digest"),
    "cdc": ("to_cdc",),
    "api_cursor": ("to_cursor",),
    "time_range": ("to_time_exclusive",),
    "opaque": ("to_json",),
}


def _plain(value: object) -> Any:
    return micros(value) if isinstance(value, datetime) else value


def _event_id(owner: OwningQuery, batch_id: int, digest: str) -> str:
    """Id of an event with only this micro-batch (`identity.event_id`)."""
    return identity_id((owner.tenant, "INTERVAL", owner.query_id, batch_id, digest))
