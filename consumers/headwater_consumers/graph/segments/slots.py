"""Slots: the facts of one micro-batch as a structure, integers and texts, and back.

From one micro-batch of a query to the next the same registers are there with other integers: offsets, times, counts.
So a slot is taken apart into

    structure   names of registers, the types of their values, how long lists of integers are: nested tuples
    numbers     all integers and times (microseconds since the epoch), in the structure's order
    texts       all texts, in the structure's order; other values as JSON

and `blocks` stores structures once, texts where they change, and numbers as differences (`Structure.predict`).

Not stored, because they follow from the rest: the source end digest, and the event id in a stamp where the event had
this micro-batch alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import accumulate, islice
from operator import add
from typing import Any, NamedTuple, TypeAlias, overload

import msgspec

from headwater_consumers.facts.model import RelType, UseKey
from headwater_consumers.facts.nodes import Variant
from headwater_consumers.facts.registers import Cell, Props, Registers
from headwater_consumers.graph.keys import dataset_key
from headwater_schemas.identity import end_digest, from_micros, identity_id, micros

Shape: TypeAlias = "str | int | tuple[tuple[str, Shape], ...]"
"""Structure of a value: `s` text, `i` integer, `t` time, `j` JSON; a number: as many integers; pairs: a group."""

_TEXT, _INTEGER, _TIME, _JSON = "s", "i", "t", "j"
_COMPUTED, _STORED = "c", "s"
"""Codes for a digest or event id: computed from the other values, or stored among the texts."""
_INTEGERS = {int}
_OFFSET = 1 << 63
_SPAN = 1 << 64
_LONG = 4
"""Shortest list whose numbers are read together."""


class Names(NamedTuple):
    """Namespace and name of a dataset."""

    namespace: str
    name: str


class Owner(NamedTuple):
    """Query that owns the micro-batches."""

    tenant: str
    query_id: str


class VariantShape(NamedTuple):
    """Structure of a variant.

    Attributes:
        digest: `c` if it follows from the uses, `s` if it is stored.
        registers: name, place of its stamp, and shape of each.
        uses: type, ordinal and registers of each.
        stamps: certainty, and `c` or `s` of the event id, of each.
    """

    digest: str
    registers: tuple[tuple[str, int, Shape], ...]
    uses: tuple[tuple[str, int, tuple[tuple[str, int, Shape], ...]], ...]
    stamps: tuple[tuple[str, str], ...]


Shapes: TypeAlias = tuple[VariantShape, ...]


class Slot(NamedTuple):
    """One micro-batch, taken apart."""

    shapes: Shapes
    numbers: Sequence[int]
    texts: list[str]


def take_apart(owner: Owner, batch_id: int, variants: Mapping[str, Variant], names: Mapping[str, Names]) -> Slot:
    """The slot of a micro-batch.

    Args:
        owner: query of the micro-batch.
        batch_id: its batch id.
        variants: reports of it, by source end digest.
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
        computed = _digest(variant.uses, names)
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


def put_together(owner: Owner, batch_id: int, slot: Slot, known: dict[str, Names]) -> dict[str, Variant]:
    """The inverse of `take_apart`: what is reported of a micro-batch, by source end digest.

    Args:
        owner: query of the micro-batch.
        batch_id: its batch id.
        slot: taken apart.
        known: gets the names of the datasets that it used, by key.
    """
    numbers, texts = iter(slot.numbers), iter(slot.texts)
    variants: dict[str, Variant] = {}
    for shape in slot.shapes:
        registers = [(name, at, _cell(of, numbers, texts)) for name, at, of in shape.registers]
        names: dict[str, Names] = {}
        uses = []
        for type_, ordinal, of_use in shape.uses:
            name = Names(next(texts), next(texts))
            use = UseKey(RelType(type_), dataset_key(owner.tenant, *name), ordinal)
            names[use.dataset] = known[use.dataset] = name
            uses.append((use, [(register, at, _cell(of, numbers, texts)) for register, at, of in of_use]))
        ends = {use: {name: ("", cell) for name, _, cell in cells} for use, cells in uses}
        digest = _digest(ends, names) if shape.digest == _COMPUTED else next(texts)
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
    """The positions of what a micro-batch with one variant used: a part of `put_together`, in less time.

    Args:
        tenant: tenant of the graph.
        slot: taken apart.
        of: only what it read, or wrote, of the dataset with this key, with lists that are read when they are looked
            into; None: all.
    """
    out: dict[UseKey, Props] = {}
    for type_, ordinal, name, shape, number, text in _places(slot.shapes):
        if of is not None and type_ is not of[0]:
            continue
        use = UseKey(type_, dataset_key(tenant, *slot.texts[name : name + 2]), ordinal)
        if of is None:
            out[use] = _cell(shape, iter(slot.numbers[number]), iter(slot.texts[text:]))
        elif use.dataset == of[1]:
            out[use] = _cell(shape, _Cursor(slot.numbers, number.start), iter(slot.texts[text:]))
    return out


class _Cursor:
    """Numbers one after the other; lists of them aren't read yet."""

    def __init__(self, numbers: Sequence[int], at: int) -> None:
        self._numbers, self._at = numbers, at

    def __next__(self) -> int:
        self._at += 1
        return self._numbers[self._at - 1]

    def take(self, count: int) -> Sequence[int]:
        """A list of the next numbers."""
        self._at += count
        return _Part(self._numbers, self._at - count, self._at)


class _Part(Sequence[int]):
    """Some of the numbers of a slot."""

    __slots__ = ("_numbers", "_places")

    def __init__(self, numbers: Sequence[int], begin: int, end: int) -> None:
        self._numbers, self._places = numbers, range(begin, end)

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[int]:
        return iter(self._numbers[self._places.start : self._places.stop])

    @overload
    def __getitem__(self, at: int) -> int: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[int]: ...
    def __getitem__(self, at: int | slice) -> int | Sequence[int]:
        return self._numbers[self._places[at]] if isinstance(at, int) else list(self)[at]


@lru_cache(1 << 12)
def _places(shapes: Shapes) -> list[tuple[RelType, int, int, Shape, slice, int]]:
    """Locate the positions of uses: type, ordinal, place of the names, shape, its numbers, place of its texts."""
    (shape,) = shapes
    numbers = texts = 0

    def skip(of: Shape) -> None:
        nonlocal numbers, texts
        if of in (_TEXT, _JSON):
            texts += 1
        elif of in (_INTEGER, _TIME):
            numbers += 1
        elif isinstance(of, int):
            numbers += of
        else:
            assert isinstance(of, tuple)  # noqa: S101 - for the type checker
            for _, part in of:
                skip(part)

    for _, _, of in shape.registers:
        skip(of)
    out = []
    for type_, ordinal, registers in shape.uses:
        names = texts
        texts += 2
        for name, _, of in registers:
            begin, text = numbers, texts
            skip(of)
            if name == "position":
                out.append((RelType(type_), ordinal, names, of, slice(begin, numbers), text))
    return out


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
    # `type() is`: a bool is an integer to `isinstance`, and this is the inner loop.
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


def _cell(shape: Shape, numbers: Any, texts: Any) -> Any:
    if shape == _TEXT:
        return next(texts)
    if shape == _INTEGER:
        return next(numbers)
    if shape == _TIME:
        return from_micros(next(numbers))
    if shape == _JSON:
        return msgspec.json.decode(next(texts))
    if isinstance(shape, int):
        return numbers.take(shape) if isinstance(numbers, _Cursor) else list(islice(numbers, shape))
    assert isinstance(shape, tuple)  # noqa: S101 - for the type checker
    return {name: _cell(of, numbers, texts) for name, of in shape}


def _digest(uses: Mapping[UseKey, Registers], names: Mapping[str, Names]) -> str:
    """`identity.source_end_digest` of the uses that were consumed."""
    ends = []
    for use, registers in uses.items():
        if use.type is RelType.CONSUMED:
            cell = registers.get("position")
            ends.append((*names[use.dataset], *end_of(cell[1] if cell is not None else {})))
    return end_digest(ends)


def end_of(position: Cell) -> tuple[str | int | None, ...]:
    """The canonical end of a position as it is stored; of none, an empty group."""
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


def _event_id(owner: Owner, batch_id: int, digest: str) -> str:
    """Id of the event with this micro-batch alone (`identity.event_id`)."""
    return identity_id((owner.tenant, "INTERVAL", owner.query_id, batch_id, digest))


class Predictor:
    """Prediction of each number of a slot from a number nearby, so that the stored difference is small.

    The start of an offset range is near the end of the previous one, an end near its own start, a stamp's time near the
    processing time, anything else near its value in the previous slot.

    Args:
        shapes: structure of the slot, and of the previous one.
    """

    def __init__(self, shapes: Shapes) -> None:
        self._near: list[int] = []
        """Place in the previous numbers followed by these ones."""
        marks: list[tuple[str, int]] = []
        for shape in shapes:
            for name, _, of in shape.registers:
                _mark(name, of, marks)
            for number, (_, _, of_use) in enumerate(shape.uses):
                for name, _, of in of_use:
                    _mark(f"{number}.{name}", of, marks)
            marks += [("stamp", 0)] * len(shape.stamps)
        count = len(marks)
        at = {mark: place for place, mark in enumerate(marks)}
        time = at.get(("processing_time", 0))
        for place, (name, item) in enumerate(marks):
            near = place
            if name.endswith(".from") and (end := at.get((f"{name[:-5]}.to_exclusive", item))) is not None:
                near = end
            elif name.endswith(".to_exclusive") and (start := at.get((f"{name[:-13]}.from", item))) is not None:
                near = count + start if start < place else place
            elif name == "stamp" and time is not None and time < place:
                near = count + time
            self._near.append(near)
        self._ranges = [
            (start, end)
            for start, end in enumerate(self._near)
            if end < count and end != start and self._near[end] == count + start
        ]
        """Places of the start and the end of each range that goes on where it ended in the slot before."""
        of_ranges = {place for pair in self._ranges for place in pair}
        sums = [place for place, near in enumerate(self._near) if near == place]
        self._lists = [each for each in _runs(sums, marks) if len(each) >= _LONG]
        """Places of long lists, of which each number is near the one before."""
        of_lists = {place for each in self._lists for place in each}
        self._sums = [place for place in sums if place not in of_lists]
        self._others = sorted({*range(count)} - of_ranges - {*sums})
        self.count = count
        """Count of numbers in a slot."""
        self.time = time if len(shapes) == 1 else None
        """Place of the processing time, in microseconds; None: there is none, or several variants have their own."""

    def goes_on(self, place: int) -> bool:
        """Return True if a number is predicted by the one at the same place of the previous slot."""
        return self._near[place] == place

    def differences(self, before: Sequence[int] | None, numbers: Sequence[int]) -> list[int]:
        """Return the differences between a slot's numbers and their predictions; each in 64 bits with sign.

        Args:
            before: numbers of the previous slot; None: there is none with this structure.
            numbers: numbers of the slot.
        """
        known = [*(before or [0] * self.count), *numbers]
        out = [number - known[near] for number, near in zip(numbers, self._near, strict=True)]
        return out if not out or (min(out) >= -_OFFSET and max(out) < _OFFSET) else [_wrap(number) for number in out]

    def rows(self, count: int, given: Callable[[int], Sequence[int]]) -> list[list[int]]:
        """The inverse of `differences`, of consecutive slots with this structure, of which the first has none before.

        By column: additions along a column take a fifth of the time that they take slot by slot.

        Args:
            count: number of slots.
            given: the differences at a place, of all these slots.
        """
        if not self.count:
            return [[] for _ in range(count)]
        columns: dict[int, list[int]] = {}
        return [list(row) for row in zip(*(self.column(n, given, columns) for n in range(self.count)), strict=True)]

    def row(
        self,
        at: int,
        given: Callable[[int, int], Sequence[int]],
        constant: Callable[[range], Sequence[int] | None] = lambda _: None,
    ) -> list[int]:
        """One of `rows`: all numbers of a slot.

        Args:
            at: index of the slot.
            given: returns the differences at a place, for the first slots up to a count.
            constant: returns the numbers at some places if they are equal in all of these slots, else None.
        """
        out, count = [0] * self.count, at + 1
        for places in self._lists:
            known = constant(places)
            out[places.start : places.stop] = known or [sum(given(place, count)) for place in places]
        for place in self._sums:
            out[place] = sum(given(place, count))
        for start, end in self._ranges:
            differences = given(end, count)
            out[end] = sum(differences) + sum(given(start, count))
            out[start] = out[end] - differences[at]
        for place in self._others:
            out[place] = self._number(place, at, given)
        return _wrapped(out) if out else out

    def _number(self, place: int, at: int, given: Callable[[int, int], Sequence[int]]) -> int:
        own, near = [given(place, at + 1)], self._near[place]
        while near >= self.count:
            own.append(given(near - self.count, at + 1))
            near = self._near[near - self.count]
        if near == place:
            return sum(map(sum, own))
        return sum(each[at] for each in own) + (self._number(near, at - 1, given) if at else 0)

    def column(self, place: int, given: Callable[[int], Sequence[int]], columns: dict[int, list[int]]) -> list[int]:
        """The numbers at one place, of consecutive slots with this structure, of which the first has none before.

        Args:
            place: place of the numbers.
            given: returns the differences at a place, for all these slots.
            columns: numbers by place, as far as they have been computed; more are added.
        """
        return _wrapped(self._column(place, given, columns))

    def _column(self, place: int, given: Callable[[int], Sequence[int]], columns: dict[int, list[int]]) -> list[int]:
        if place in columns:
            return columns[place]
        # A number predicted by one of the same slot adds that one's difference, and follows that one's prediction.
        own, near = given(place), self._near[place]
        while near >= self.count:
            own = list(map(add, own, given(near - self.count)))
            near = self._near[near - self.count]
        if near == place:
            columns[place] = list(accumulate(own))
        else:
            columns[place] = list(map(add, own, (0, *self._column(near, given, columns))))
        return columns[place]


def _wrapped(column: list[int]) -> list[int]:
    return column if min(column) >= -_OFFSET and max(column) < _OFFSET else [_wrap(number) for number in column]


def _wrap(number: int) -> int:
    return (number + _OFFSET) % _SPAN - _OFFSET


def _runs(places: Sequence[int], marks: Sequence[tuple[str, int]]) -> Iterator[range]:
    """Places, ascending, as ranges that are of one list each."""
    begin = 0
    for n in range(1, len(places) + 1):
        if n == len(places) or places[n] != places[n - 1] + 1 or marks[places[n]][1] == 0:
            yield range(places[begin], places[n - 1] + 1)
            begin = n


def _mark(name: str, shape: Shape, marks: list[tuple[str, int]]) -> None:
    if shape in (_INTEGER, _TIME):
        marks.append((name, 0))
    elif isinstance(shape, int):
        marks += [(name, item) for item in range(shape)]
    elif isinstance(shape, tuple):
        for part, of in shape:
            _mark(f"{name}.{part}", of, marks)


@lru_cache(1 << 12)
def predictor(shapes: Shapes) -> Predictor:
    """The predictor of slots with these shapes."""
    return Predictor(shapes)
