"""Blocks: the slots of up to 64 micro-batches as bytes.

An open block grows at its end: a micro-batch that follows is appended without reading the others.

    head    MessagePack [[structure, texts], …]: each structure with the texts of its first slot
    tail    frames, each a length (4 bytes, little-endian) and MessagePack
            [place, number of the structure, differences, {place of a text: text that isn't the head's}]
    last    MessagePack [number of the structure, numbers, where its frame begins] of the last slot

A closed block is smaller: the same, by column, compressed.

    zlib of MessagePack [structures and texts, places, numbers of structures, texts,
                         differences by structure: 8-byte integers by column, then by byte]

Differences are those of `slots.Predictor`, from the slot before where it has the same structure.
"""

from __future__ import annotations

import sys
import zlib
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Any

import msgspec

from headwater_consumers.graph.segments.slots import Shapes, Slot, VariantShape, predictor

DAMAGE = (zlib.error, msgspec.MsgspecError, ValueError, TypeError, LookupError, AttributeError)
"""What reading bytes raises that no block is made of."""

_LENGTH = 4
_encoder = msgspec.msgpack.Encoder()
_decode = msgspec.msgpack.decode


@dataclass(frozen=True, slots=True)
class OpenBlock:
    """A block that grows, as its three properties."""

    head: bytes
    tail: bytes
    last: bytes


def open_block(slots: Mapping[int, Slot]) -> OpenBlock:
    """A block of these slots.

    Args:
        slots: by place, from 0; at least one.
    """
    frames = _Frames()
    for place in sorted(slots):
        frames.add(place, slots[place])
    return frames.block()


def append(block: OpenBlock, slots: Mapping[int, Slot]) -> OpenBlock:
    """The block with more slots, all at places behind its last."""
    frames = _Frames(block)
    for place in sorted(slots):
        frames.add(place, slots[place])
    return frames.block()


def read_open(block: OpenBlock) -> dict[int, Slot]:
    """The slots of an open block by place."""
    return dict(_slots(_read_head(block.head), _read_tail(block.tail)))


def last_of(block: OpenBlock) -> tuple[int, Slot]:
    """The last slot of an open block, with its place."""
    _, numbers, at = _decode(block.last)
    place, number, _, changed = _decode(block.tail[at + _LENGTH :])
    shapes, base = _read_head(block.head)[number]
    return place, Slot(shapes, numbers, [changed.get(n, text) for n, text in enumerate(base)])


def close(block: OpenBlock) -> bytes:
    """The block, compressed."""
    head = _decode(block.head)
    frames = list(_read_tail(block.tail))
    columns: list[list[list[int]]] = [[] for _ in head]
    for _, number, differences, _ in frames:
        columns[number].append(differences)
    return closed(
        head,
        [place for place, *_ in frames],
        [number for _, number, *_ in frames],
        [texts for *_, texts in frames],
        [_by_column(rows) for rows in columns],
    )


def closed(
    head: Sequence[Any],
    places: Sequence[int],
    numbers: Sequence[int],
    texts: Sequence[Mapping[int, str]],
    columns: Sequence[bytes],
) -> bytes:
    """A closed block of its parts.

    Args:
        head: each structure with the texts of its first slot.
        places: of the slots, ascending.
        numbers: of each slot, that of its structure.
        texts: of each slot, those that aren't the head's, by their place in it.
        columns: of each structure, its slots' differences: by column, and in that the lowest bytes of all first.
    """
    return zlib.compress(_encoder.encode([head, places, numbers, texts, columns]), 6)


def read_closed(block: bytes) -> dict[int, Slot]:
    """The slots of a closed block by place."""
    head, places, numbers, texts, columns = _decode(zlib.decompress(block))
    structures = _structures(head)
    counts = [numbers.count(number) for number in range(len(structures))]
    rows = [iter(_by_row(data, count)) for data, count in zip(columns, counts, strict=True)]
    frames = [
        (place, number, next(rows[number]), changed)
        for place, number, changed in zip(places, numbers, texts, strict=True)
    ]
    return dict(_slots(structures, frames))


class _Frames:
    """The frames of a block that is being made."""

    def __init__(self, block: OpenBlock | None = None) -> None:
        self._head: list[tuple[Shapes, list[str]]] = []
        self._raw_head = b""
        self._tail = bytearray()
        self._structure: int | None = None
        self._numbers: list[int] | None = None
        self._at = 0
        if block is not None:
            self._head, self._raw_head = list(_read_head(block.head)), block.head
            self._tail += block.tail
            self._structure, self._numbers, self._at = _decode(block.last)

    def add(self, place: int, slot: Slot) -> None:
        structure = self._of(slot)
        base = self._head[structure][1]
        before = self._numbers if structure == self._structure else None
        differences = predictor(slot.shapes).differences(before, slot.numbers)
        changed = (
            {}
            if slot.texts == base
            else {at: text for at, (text, known) in enumerate(zip(slot.texts, base, strict=True)) if text != known}
        )
        frame = _encoder.encode((place, structure, differences, changed))
        self._at = len(self._tail)
        self._tail += len(frame).to_bytes(_LENGTH, "little")
        self._tail += frame
        self._structure, self._numbers = structure, slot.numbers

    def block(self) -> OpenBlock:
        head = self._raw_head or _encoder.encode(self._head)
        return OpenBlock(head, bytes(self._tail), _encoder.encode((self._structure, self._numbers, self._at)))

    def _of(self, slot: Slot) -> int:
        """The number of the slot's structure."""
        if self._structure is not None and self._head[self._structure][0] == slot.shapes:
            return self._structure
        for number, (shapes, _) in enumerate(self._head):
            if shapes == slot.shapes:
                return number
        self._head = [*self._head, (slot.shapes, slot.texts)]
        self._raw_head = b""
        return len(self._head) - 1


def _slots(
    structures: list[tuple[Shapes, list[str]]], frames: Iterable[tuple[int, int, Sequence[int], Mapping[int, str]]]
) -> Iterator[tuple[int, Slot]]:
    for number, group in groupby(frames, key=itemgetter(1)):
        alike = list(group)
        shapes, base = structures[number]
        rows = predictor(shapes).rows([differences for _, _, differences, _ in alike])
        for (place, _, _, changed), numbers in zip(alike, rows, strict=True):
            texts = base
            if changed:
                texts = base[:]
                for at, text in changed.items():
                    texts[at] = text
            yield place, Slot(shapes, numbers, texts)


@lru_cache(1 << 10)
def _read_head(head: bytes) -> list[tuple[Shapes, list[str]]]:
    # A block's head is the same each time that the block grows.
    return _structures(_decode(head))


def _structures(head: list[Any]) -> list[tuple[Shapes, list[str]]]:
    return [(tuple(VariantShape(*map(_tuples, variant)) for variant in shapes), texts) for shapes, texts in head]


def _tuples(value: Any) -> Any:
    """Lists as tuples: MessagePack has one of the two."""
    return tuple([_tuples(item) for item in value]) if isinstance(value, list) else value


def _read_tail(tail: bytes) -> Iterator[tuple[int, int, list[int], dict[int, str]]]:
    at = 0
    while at < len(tail):
        end = at + _LENGTH + int.from_bytes(tail[at : at + _LENGTH], "little")
        place, number, differences, changed = _decode(tail[at + _LENGTH : end])
        yield place, number, differences, changed
        at = end


def _by_column(rows: list[list[int]]) -> bytes:
    """64-bit integers: the columns one after the other, of each the lowest bytes first."""
    out = []
    for column in zip(*rows, strict=True):
        values = array("q", column)
        if sys.byteorder == "big":
            values.byteswap()
        data = values.tobytes()
        out += [data[byte::8] for byte in range(8)]
    return b"".join(out)


def _by_row(data: bytes, count: int) -> Iterable[tuple[int, ...]]:
    """The inverse of `_by_column`.

    Args:
        data: what it made.
        count: how many rows there are.
    """
    if not data:
        return [()] * count
    # The lowest bytes of all columns at once, then the next: a step for each column takes eight times as long.
    raw = bytearray(len(data))
    for byte in range(8):
        raw[byte::8] = b"".join(
            [data[at : at + count] for at in range(byte * count, len(data), 8 * count)],
        )
    values = array("q", bytes(raw))
    if sys.byteorder == "big":
        values.byteswap()
    return zip(*(values[at : at + count] for at in range(0, len(values), count)), strict=True)
