"""Blocks: the slots of up to 64 micro-batches as bytes.

An open block grows at its end: a later micro-batch is appended without reading the others.

    head    MessagePack [[structure, texts], …]: each structure with the texts of its first slot
    tail    frames, each a length (4 bytes, little-endian) and MessagePack [place, number of the structure, differences,
            {place of a text: text, if it differs from the head's}]
    last    MessagePack [number of the structure, numbers, byte offset of its frame] of the last slot

Differences are taken from the numbers of the previous slot, if it has the same structure, else from 0.

A closed block has the same content, compressed: zlib of MessagePack

    [head, places, numbers of structures, differences by structure and column, texts]
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, groupby
from operator import itemgetter, sub
from typing import Any, NamedTuple

import msgspec

from headwater_graph.segments.slots import Shapes, Slot, VariantShape

DAMAGE = (zlib.error, msgspec.MsgspecError, ValueError, TypeError, LookupError, AttributeError)
"""Errors that reading raises for bytes that aren't a block."""

_LENGTH = 4
_LEVEL = 6
_OFFSET = 1 << 63
_SPAN = 1 << 64
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.decode


@dataclass(frozen=True, slots=True)
class OpenBlock:
    """Block that still grows: values of its three properties."""

    head: bytes
    tail: bytes
    last: bytes


class _Frame(NamedTuple):
    """A slot of an open block.

    Attributes:
        place: index of the slot in the block.
        differences: differences between the slot's numbers and the previous slot's.
        texts: texts that differ from the head's, by index.
    """

    place: int
    structure: int
    differences: Sequence[int]
    texts: Mapping[int, str]


def open_block(slots: Mapping[int, Slot]) -> OpenBlock:
    """Build an open block.

    Args:
        slots: slots by place, from 0; at least one.
    """
    frames = _Frames()
    for place in sorted(slots):
        frames.add(place, slots[place])
    return frames.block()


def append(block: OpenBlock, slots: Mapping[int, Slot]) -> OpenBlock:
    """Return the block with further slots. Their places must be after the block's last slot."""
    frames = _Frames(block)
    for place in sorted(slots):
        frames.add(place, slots[place])
    return frames.block()


def read_open(block: OpenBlock) -> dict[int, Slot]:
    """Slots of an open block by place."""
    head = _read_head(block.head)
    slots: dict[int, Slot] = {}
    for number, group in groupby(_read_tail(block.tail), key=itemgetter(1)):
        alike = list(group)
        columns = list(zip(*(frame.differences for frame in alike), strict=True))
        slots |= _slots(head[number], [frame.place for frame in alike], columns, [frame.texts for frame in alike])
    return slots


def last_of(block: OpenBlock) -> tuple[int, Slot]:
    """Place and slot of an open block's last micro-batch."""
    _, numbers, at = _decode(block.last)
    place, number, _, changed = _decode(block.tail[at + _LENGTH :])
    shapes, base = _read_head(block.head)[number]
    return place, Slot(shapes, numbers, [changed.get(n, text) for n, text in enumerate(base)])


def close(block: OpenBlock) -> bytes:
    """Close an open block."""
    head = _decode(block.head)
    frames = list(_read_tail(block.tail))
    columns = [
        list(zip(*(frame.differences for frame in frames if frame.structure == number), strict=True))
        for number in range(len(head))
    ]
    places, structures = [frame.place for frame in frames], [frame.structure for frame in frames]
    return zlib.compress(_encode((head, places, structures, columns, [frame.texts for frame in frames])), _LEVEL)


def read_closed(block: bytes) -> dict[int, Slot]:
    """Slots of a closed block by place."""
    head, places, structures, columns, texts = _decode(zlib.decompress(block))
    read = [0] * len(head)
    slots: dict[int, Slot] = {}
    known = _structures(head)
    for number, group in groupby(zip(places, structures, texts, strict=True), key=itemgetter(1)):
        alike = list(group)
        begin = read[number]
        end = read[number] = begin + len(alike)
        differences = [column[begin:end] for column in columns[number]]
        slots |= _slots(known[number], [place for place, *_ in alike], differences, [changed for *_, changed in alike])
    return slots


class _Frames:
    """Builder of a block from frames."""

    def __init__(self, block: OpenBlock | None = None) -> None:
        self._head: list[tuple[Shapes, list[str]]] = []
        self._raw_head = b""
        self._tail = bytearray()
        self._structure: int | None = None
        self._numbers: Sequence[int] = ()
        self._at = 0
        if block is not None:
            self._head, self._raw_head = _read_head(block.head), block.head
            self._tail += block.tail
            self._structure, self._numbers, self._at = _decode(block.last)

    def add(self, place: int, slot: Slot) -> None:
        structure = self._structure_of(slot)
        base = self._head[structure][1]
        is_same_structure = structure == self._structure
        differences = _in_64_bits(list(map(sub, slot.numbers, self._numbers))) if is_same_structure else slot.numbers
        changed = {n: text for n, (text, known) in enumerate(zip(slot.texts, base, strict=True)) if text != known}
        frame = _encode(_Frame(place, structure, differences, changed))
        self._at = len(self._tail)
        self._tail += len(frame).to_bytes(_LENGTH, "little")
        self._tail += frame
        self._structure, self._numbers = structure, slot.numbers

    def block(self) -> OpenBlock:
        head = self._raw_head or _encode(self._head)
        return OpenBlock(head, bytes(self._tail), _encode((self._structure, self._numbers, self._at)))

    def _structure_of(self, slot: Slot) -> int:
        """Return the number of the slot's structure, after adding a new structure to the head."""
        if self._structure is not None and self._head[self._structure][0] == slot.shapes:
            return self._structure
        for number, (shapes, _) in enumerate(self._head):
            if shapes == slot.shapes:
                return number
        self._head = [*self._head, (slot.shapes, slot.texts)]
        self._raw_head = b""
        return len(self._head) - 1


def _slots(
    structure: tuple[Shapes, list[str]],
    places: Sequence[int],
    columns: Sequence[Sequence[int]],
    texts: Sequence[Mapping[int, str]],
) -> dict[int, Slot]:
    """Decode consecutive slots of one structure, by place.

    Args:
        structure: structure of the slots, with the texts of its first slot in the block.
        columns: differences, by column; the differences of the first slot are from 0.
        texts: for each slot, the texts that differ from the structure's, by index.
    """
    shapes, base = structure
    # Sums by column take a fifth of the time of sums by slot.
    rows: Iterable[Sequence[int]] = zip(*map(_summed, columns), strict=True) if columns else [()] * len(places)
    return {
        place: Slot(shapes, list(row), [changed.get(n, text) for n, text in enumerate(base)] if changed else base)
        for place, row, changed in zip(places, rows, texts, strict=True)
    }


def _summed(column: Sequence[int]) -> list[int]:
    return _in_64_bits(list(accumulate(column)))


def _in_64_bits(numbers: list[int]) -> list[int]:
    """Reduce numbers modulo 2 ** 64 to signed integers: MessagePack can't store larger numbers."""
    if not numbers or (min(numbers) >= -_OFFSET and max(numbers) < _OFFSET):
        return numbers
    return [(number + _OFFSET) % _SPAN - _OFFSET for number in numbers]


def _read_tail(tail: bytes) -> Iterator[_Frame]:
    at = 0
    while at < len(tail):
        begin = at + _LENGTH
        end = begin + int.from_bytes(tail[at:begin], "little")
        if end > len(tail):
            raise ValueError("the end is missing")
        yield _Frame(*_decode(tail[begin:end]))
        at = end


@lru_cache(1 << 10)
def _read_head(head: bytes) -> list[tuple[Shapes, list[str]]]:
    # A block's head rarely changes when the block grows, and the next block mostly has the same head.
    return _structures(_decode(head))


def _structures(head: list[Any]) -> list[tuple[Shapes, list[str]]]:
    return [(tuple(VariantShape(*map(_tuples, variant)) for variant in shapes), texts) for shapes, texts in head]


def _tuples(value: Any) -> Any:
    """Turn lists into tuples, which MessagePack doesn't distinguish."""
    return tuple([_tuples(item) for item in value]) if isinstance(value, list) else value
