"""Blocks: the slots of up to 64 micro-batches as bytes.

An open block grows at its end: a micro-batch that follows is appended without reading the others.

    head    MessagePack [[structure, texts], …]: each structure with the texts of its first slot
    tail    frames, each a length (4 bytes, little-endian) and MessagePack
            [place, number of the structure, differences, {place of a text: text that isn't the head's}]
    last    MessagePack [number of the structure, numbers, where its frame begins] of the last slot

A closed block is smaller: the same, by column, compressed.

    zlib, with the preset dictionary `_USUAL`, of MessagePack
        [structures and texts, places, numbers of structures, texts, eight planes]

    plane   the lowest bytes of all differences, by structure and in that by column; the second lowest bytes; …
            The first three are compressed by themselves: the lowest bytes are as good as random, the highest are 0.

Differences are those of `slots.Predictor`, from the slot before where it has the same structure.
"""

from __future__ import annotations

import sys
import zlib
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Any, overload

import msgspec

from headwater_consumers.graph.segments.slots import Predictor, Shapes, Slot, VariantShape, predictor

DAMAGE = (zlib.error, msgspec.MsgspecError, ValueError, TypeError, LookupError, AttributeError)
"""Exceptions that reading damaged bytes raises."""

_LENGTH = 4
_encoder = msgspec.msgpack.Encoder()
_decode = msgspec.msgpack.decode
_closed = msgspec.msgpack.Decoder(tuple[msgspec.Raw, list[int], list[int], list[dict[int, str]], list[bytes]])
_FIVE, _EIGHT = b"\x95", b"\x98"
"""MessagePack's first byte of a list of five, and of eight."""
_BYTES = 8
"""Bytes of a number."""
_DENSE = 3
"""Highest byte plane that gets a Huffman code of its own: planes up to here are rarely all zeros."""


def _usual() -> bytes:
    """Build zlib's preset dictionary: names of registers and properties, and texts, in the order of the blocks."""

    def registers(names: str) -> list[list[Any]]:
        return [[name, 0, of] for name, of in _parts(names)]

    def group(name: str, names: str) -> list[Any]:
        return [name, 0, _parts(names)]

    rare = "plan_digest:s state_rows:i state_bytes:i rows_dropped_late:i"
    positions = (
        "format:s snapshot_id:s parent_id:s operation:s partition_paths:j _marks:j position:s certainty:s",
        "format:s from_version:s to_version:s position:s certainty:s",
        "file_count:i file_bytes:i manifest_digest:s paths:j pattern:s position:s certainty:s",
        "topic:s topic_id:s partitions:8 from:8 to_exclusive:8 position:s certainty:s",
        "topic:s partitions:8 from:8 to_exclusive:8 position:s certainty:s",
    )
    of_all = [
        group("quality", "quality_assertions:j quality_passed:j quality_columns:j quality_values:j"),
        *registers(f"{rare} provenance:s reason:s code_version:s config_version:s"),
        *(group("engine", "engine:s engine_version:s"), group("run", "run_id:s _run:s")),
        *registers("processing_time:t watermark_before:t watermark_after:t duration_ms:i rows_in:i rows_out:i"),
    ]
    uses = [
        [type_, 0, [*registers("bytes:i rows:i"), group("position", names)]]
        for names in positions
        for type_ in ("CONSUMED", "PRODUCED")
    ]
    texts = (
        "RECONCILED CHECKPOINT OBSERVED spark 4.0.0 files table_snapshot UNKNOWN INFERRED delta iceberg kafka EXACT "
        "kafka:// kafka UPPER_BOUND"
    )
    structures = [[[["c", of_all, uses, [["2", "c"]]]], texts.split()]]
    return _encoder.encode([structures, list(range(64)), [0] * 64, [{}] * 64])


def _parts(names: str) -> list[list[Any]]:
    pairs = (part.split(":") for part in names.split())
    return [[name, int(of) if of.isdigit() else of] for name, of in pairs]


_USUAL = _usual()
"""Preset dictionary before a closed block. Stored blocks can only be read with the same bytes: they belong to the
graph's version."""


@dataclass(frozen=True, slots=True)
class OpenBlock:
    """A block that grows, as its three properties."""

    head: bytes
    tail: bytes
    last: bytes


def open_block(slots: Mapping[int, Slot]) -> OpenBlock:
    """A block of these slots.

    Args:
        slots: slots by place, from 0; at least one.
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
    rows: list[list[list[int]]] = [[] for _ in head]
    for _, number, differences, _ in frames:
        rows[number].append(differences)
    values = array("q", (number for of in rows for column in zip(*of, strict=True) for number in column))
    if sys.byteorder == "big":
        values.byteswap()
    data = values.tobytes()
    return closed(
        head,
        [place for place, *_ in frames],
        [number for _, number, *_ in frames],
        [texts for *_, texts in frames],
        [data[byte::_BYTES] for byte in range(_BYTES)],
    )


def closed(
    head: Sequence[Any],
    places: Sequence[int],
    numbers: Sequence[int],
    texts: Sequence[Mapping[int, str]],
    planes: Sequence[bytes],
) -> bytes:
    """Put a closed block together.

    Args:
        head: each structure with the texts of its first slot.
        places: places of the slots, ascending.
        numbers: index of each slot's structure.
        texts: texts of each slot that differ from the head's, by their place in it.
        planes: byte planes of the slots' differences by structure and column: lowest bytes, second lowest ones, …
    """
    deflate = zlib.compressobj(6, zdict=_USUAL)
    out = [deflate.compress(_FIVE + b"".join(map(_encoder.encode, (head, places, numbers, texts))) + _EIGHT)]
    for byte, plane in enumerate(planes):
        if byte <= _DENSE:
            # A deflate block has one Huffman code.
            out.append(deflate.flush(zlib.Z_BLOCK))
        out.append(deflate.compress(_encoder.encode(plane)))
    return b"".join([*out, deflate.flush()])


def read_closed(block: bytes) -> dict[int, Slot]:
    """Read the slots of a closed block by place. Their numbers are read lazily: some, or all of them."""
    inflate = zlib.decompressobj(zdict=_USUAL)
    data = inflate.decompress(block)
    if not inflate.eof:
        raise ValueError("the end is missing")
    head, places, numbers, texts, planes = _closed.decode(data)
    structures = _read_head(bytes(head))
    differences = []
    at = 0
    for number, (shapes, _) in enumerate(structures):
        differences.append(_Differences(planes, at, numbers.count(number), predictor(shapes)))
        at = differences[-1].end
    if [len(plane) for plane in planes] != [at] * _BYTES:
        raise ValueError(f"{[len(plane) for plane in planes]} bytes where each should be {at}")
    read = [0] * len(structures)
    slots: dict[int, Slot] = {}
    for number, group in groupby(zip(places, numbers, texts, strict=True), key=itemgetter(1)):
        members = list(group)
        shapes, base = structures[number]
        rows = _Rows(differences[number], read[number], read[number] + len(members))
        read[number] += len(members)
        for at, (place, _, changed) in enumerate(members):
            slots[place] = Slot(shapes, _Numbers(rows, at), _texts(base, changed))
    return slots


class _Differences:
    """The differences of all slots of a structure, as they are stored.

    Args:
        planes: byte planes of all structures of the block.
        begin: start of this structure's differences in each plane.
        count: number of its slots.
        of: predictor of its numbers.
    """

    def __init__(self, planes: Sequence[bytes], begin: int, count: int, of: Predictor) -> None:
        self.of, self._planes, self._begin, self._count = of, planes, begin, count
        self.end = begin + count * of.count

    @cached_property
    def _values(self) -> array[int]:
        raw = bytearray(_BYTES * (self.end - self._begin))
        for byte, plane in enumerate(self._planes):
            raw[byte::_BYTES] = plane[self._begin : self.end]
        values = array("q", bytes(raw))
        if sys.byteorder == "big":
            values.byteswap()
        return values

    def column(self, place: int, begin: int, end: int) -> Sequence[int]:
        """Return the differences at one place, for some slots."""
        first = place * self._count
        return self._values[first + begin : first + end]

    def first_if_constant(self, places: range) -> Sequence[int] | None:
        """Return the first slot's differences at some places, if those of all other slots are 0; else None."""
        begin, end = self._begin + places.start * self._count, self._begin + places.stop * self._count
        first = self._values[places.start * self._count : places.stop * self._count : self._count]
        zeros = sum([plane.count(0, begin, end) for plane in self._planes])
        others = _BYTES * (end - begin - len(first))
        return first if zeros == others + first.tobytes().count(0) else None


_FEW = 8
"""Slots that are read one by one; to read all of a block takes as long as so many."""


class _Rows:
    """The numbers of consecutive slots of one structure."""

    def __init__(self, differences: _Differences, begin: int, end: int) -> None:
        self._of, self._differences, self._begin, self._end = differences.of, differences, begin, end
        self._columns: dict[int, list[int]] = {}
        self._known: dict[int, list[int]] = {}
        self._all: list[list[int]] | None = None
        self._read = 0

    @property
    def width(self) -> int:
        """Number of numbers in each slot."""
        return self._of.count

    def row(self, at: int) -> list[int]:
        """All numbers of a slot."""
        self._read += 1
        if self._all is None and self._read <= _FEW:
            return self._of.row(at, self._first, self._constant)
        if self._all is None:
            self._all = self._of.rows(self._end - self._begin, self._given)
        return self._all[at]

    def number(self, at: int, place: int) -> int:
        """One number of a slot."""
        if self._all is not None:
            return self._all[at][place]
        if place not in self._known:
            self._known[place] = self._of.column(place, self._given, self._columns)
        return self._known[place][at]

    def numbers(self, at: int, places: range) -> list[int]:
        """Some numbers of a slot."""
        if (
            self._all is None
            and all(map(self._of.goes_on, places))
            and (constant := self._constant(places)) is not None
        ):
            return list(constant)
        return [self.number(at, place) for place in places]

    def _constant(self, places: range) -> Sequence[int] | None:
        """Return numbers that are equal in each slot, as partitions usually are; None if they aren't."""
        return self._differences.first_if_constant(places) if self._begin == 0 else None

    def _first(self, place: int, count: int) -> Sequence[int]:
        return self._differences.column(place, self._begin, self._begin + count)

    def _given(self, place: int) -> Sequence[int]:
        return self._differences.column(place, self._begin, self._end)


class _Numbers(Sequence[int]):
    """The numbers of a slot."""

    __slots__ = ("_at", "_rows")

    def __init__(self, rows: _Rows, at: int) -> None:
        self._rows, self._at = rows, at

    def __len__(self) -> int:
        return self._rows.width

    def __iter__(self) -> Iterator[int]:
        return iter(self._rows.row(self._at))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (list, _Numbers)) and self._rows.row(self._at) == list(other)

    __hash__ = None  # type: ignore[assignment]

    @overload
    def __getitem__(self, place: int) -> int: ...
    @overload
    def __getitem__(self, place: slice) -> list[int]: ...
    def __getitem__(self, place: int | slice) -> int | list[int]:
        if isinstance(place, int):
            return self._rows.number(self._at, place)
        return self._rows.numbers(self._at, range(len(self))[place])


class _Frames:
    """The frames of a block that is being made."""

    def __init__(self, block: OpenBlock | None = None) -> None:
        self._head: list[tuple[Shapes, list[str]]] = []
        self._raw_head = b""
        self._tail = bytearray()
        self._structure: int | None = None
        self._numbers: Sequence[int] | None = None
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
        members = list(group)
        shapes, base = structures[number]
        given = list(zip(*(differences for _, _, differences, _ in members), strict=True))
        rows = predictor(shapes).rows(len(members), given.__getitem__)
        for (place, _, _, changed), numbers in zip(members, rows, strict=True):
            yield place, Slot(shapes, numbers, _texts(base, changed))


def _texts(base: list[str], changed: Mapping[int, str]) -> list[str]:
    if not changed:
        return base
    texts = base[:]
    for at, text in changed.items():
        texts[at] = text
    return texts


@lru_cache(1 << 10)
def _read_head(head: bytes) -> list[tuple[Shapes, list[str]]]:
    # A block's head is the same each time that the block grows, and mostly that of the next one, too.
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
