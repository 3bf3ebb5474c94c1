"""Segments in bulk: thousands of micro-batches of a query at once, as columns; the same bytes that the writer makes.

One micro-batch goes through the materializer's own fold and is taken apart as the writer does it. Its numbers and texts
are marks, so that it is known which of them are which; the micro-batches are that one with other numbers. What follows
from the numbers (differences, lowest and highest offsets) is computed by column, 20 times faster than one by one. A
test holds the result equal to what the writer sends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from headwater_consumers.graph.segments import blocks
from headwater_consumers.graph.segments.lists import TAIL as TAIL_PART
from headwater_consumers.graph.segments.lists import Columns as Lists
from headwater_consumers.graph.segments.lists import Offsets
from headwater_consumers.graph.segments.segment import PLACES, SIZE, TAIL, Place, Stored, block_property
from headwater_consumers.graph.segments.slots import Shapes, Slot, predictor
from headwater_consumers.graph.segments.summary import Range, Summary, summarize
from headwater_consumers.materializer.fold import fold
from headwater_consumers.materializer.write.segments import segment_rows
from headwater_schemas.events import LineageEvent
from headwater_schemas.identity import from_micros, micros

Ints = NDArray[np.int64]
Mark = tuple[str, int]
"""Name of a column and, where it has several numbers for each micro-batch, which of them."""
_FIRST_MARK = 1 << 40
CHUNK = 32 * SIZE
"""Micro-batches that are made at once."""
_PLACES = list(range(PLACES))
_FIRST = [0] * PLACES
"""All slots of a block have its first structure."""


class Values(Protocol):
    """What differs between the micro-batches of a query: numbers and texts for an event, by name."""

    def number(self, name: str, item: int = 0) -> int:
        """A number; `item` is which of several."""

    def time(self, name: str) -> datetime:
        """A number of microseconds since the epoch, as a time."""

    def text(self, name: str) -> str:
        """A text."""


@dataclass(slots=True)
class Marks:
    """Values of a `Template`: numbers and texts that stand for columns."""

    numbers: dict[Mark, int] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)

    def number(self, name: str, item: int = 0) -> int:
        """A number of its own."""
        return self.numbers.setdefault((name, item), _FIRST_MARK + len(self.numbers))

    def time(self, name: str) -> datetime:
        """The number as microseconds since the epoch."""
        return from_micros(self.number(name))

    def text(self, name: str) -> str:
        """A text of its own."""
        return self.texts.setdefault(name, f"mark {name}")


@dataclass(frozen=True, slots=True)
class Columns:
    """Consecutive micro-batches of a query.

    Attributes:
        numbers: by name; times are microseconds since the epoch. A row for each micro-batch.
        texts: by name; one for each micro-batch.
    """

    numbers: Mapping[str, Ints]
    texts: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Made:
    """One segment.

    Attributes:
        place: which.
        summary: what of it is plain to see; without versions.
        properties: of the node, as the writer sends them; None for one that isn't there.
    """

    place: Place
    summary: Summary
    properties: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Row:
    """Values of one micro-batch.

    Attributes:
        columns: that have it.
        row: which of them it is.
    """

    columns: Columns
    row: int

    def number(self, name: str, item: int = 0) -> int:
        """A number; `item` is which of several."""
        return int(column(self.columns, (name, item))[self.row])

    def time(self, name: str) -> datetime:
        """The number as microseconds since the epoch."""
        return from_micros(self.number(name))

    def text(self, name: str) -> str:
        """A text."""
        return self.columns.texts[name][self.row]


class Template:
    """What all micro-batches of a query have in common.

    Args:
        event: makes the event of one micro-batch alone, of its values and batch id.
    """

    def __init__(self, event: Callable[[Values, int], LineageEvent]) -> None:
        marks = Marks()
        (incoming,) = segment_rows(fold([event(marks, 0)])).segments.values()
        (slot,) = incoming.slots.values()
        self._place = incoming.place
        self._shapes: Shapes = slot.shapes
        names = {number: mark for mark, number in marks.numbers.items()}
        self._numbers: list[int | Mark] = [names.get(number, number) for number in slot.numbers]
        self._marks = names
        self._texts = slot.texts
        by_text = {text: name for name, text in marks.texts.items()}
        self._changing = {at: by_text[text] for at, text in enumerate(slot.texts) if text in by_text}
        self._near = _near(slot)
        self._summary, _ = summarize(self._place.tenant, incoming.intervals, None)

    def segments(self, columns: Callable[[int, int], Columns], batches: int) -> Iterator[Made]:
        """The query's segments.

        Args:
            columns: gives the micro-batches from one batch id up to another.
            batches: how many there are, from batch id 0 on.
        """
        for first in range(0, batches, CHUNK):
            last = min(first + CHUNK, batches)
            of = columns(first, last)
            numbers = self._matrix(of, last - first)
            packed = _planes(self._differences(numbers))
            for at in range(0, last - first, SIZE):
                yield self._segment(of, numbers, packed, at, first)

    def _matrix(self, columns: Columns, count: int) -> Ints:
        out = np.empty((count, len(self._numbers)), dtype=np.int64)
        for place, number in enumerate(self._numbers):
            out[:, place] = number if isinstance(number, int) else column(columns, number)
        return out

    def _differences(self, numbers: Ints) -> Ints:
        count = numbers.shape[1]
        before = np.empty_like(numbers)
        before[1:] = numbers[:-1]
        before[::PLACES] = 0
        return numbers - np.concatenate([before, numbers], axis=1)[:, self._near] if count else numbers

    def _segment(self, columns: Columns, numbers: Ints, packed: Sequence[Sequence[bytes]], at: int, first: int) -> Made:
        count = min(SIZE, len(numbers) - at)
        place = replace(self._place, number=(first + at) // SIZE)
        stored = Stored()
        whole = count // PLACES
        for number in range(whole):
            begin = at + number * PLACES
            base = self._texts_of(columns, begin)
            changed = [self._changed(columns, begin + place, base) for place in _PLACES]
            head = [(self._shapes, base)]
            stored.closed[number] = blocks.closed(head, _PLACES, _FIRST, changed, packed[begin // PLACES])
        properties: dict[str, Any] = {block_property(number): block for number, block in stored.closed.items()}
        if count % PLACES:
            rest = range(at + whole * PLACES, at + count)
            properties |= stored.appended(
                {first + n: Slot(self._shapes, numbers[n].tolist(), self._texts_of(columns, n)) for n in rest}
            )
        summary = self._summarize(columns, slice(at, at + count), first + at)
        return Made(place, summary, place.identity() | properties | summary.properties(place.query))

    def _texts_of(self, columns: Columns, row: int) -> list[str]:
        if not self._changing:
            return self._texts
        out = self._texts[:]
        for at, name in self._changing.items():
            out[at] = columns.texts[name][row]
        return out

    def _changed(self, columns: Columns, row: int, base: list[str]) -> dict[int, str]:
        here = ((at, columns.texts[name][row]) for at, name in self._changing.items())
        return {at: text for at, text in here if text != base[at]}

    def _summarize(self, columns: Columns, rows: slice, first: int) -> Summary:
        one, count = self._summary, rows.stop - rows.start
        return replace(
            one,
            batches=count,
            first=first,
            last=first + count - 1,
            began=self._time(one.began, columns, rows, np.min),
            ended=self._time(one.ended, columns, rows, np.max),
            timed=one.timed * count,
            runs=dict.fromkeys(one.runs, count),
            ranges={use: self._range(range_, columns, rows) for use, range_ in one.ranges.items()},
            versions={},
            lists={
                part: self._lists(columns, slice(rows.start + begin, rows.start + end), first + begin)
                for part, (begin, end) in _parts(count).items()
            },
        )

    def _lists(self, columns: Columns, rows: slice, first: int) -> Lists:
        one, count = self._summary, rows.stop - rows.start
        shown = one.lists[TAIL_PART]
        if one.began is None:
            times = shown.processing_times * count
        else:
            times = (column(columns, self._marks[micros(one.began)])[rows] // 1_000).tolist()
        return Lists(
            list(range(first, first + count)),
            times,
            self._numbers_of(shown.durations_ms[0], columns, rows),
            self._numbers_of(shown.rows_in[0], columns, rows),
        )

    def _numbers_of(self, one: int, columns: Columns, rows: slice) -> list[int]:
        if (mark := self._marks.get(one)) is None:
            return [one] * (rows.stop - rows.start)
        found: list[int] = column(columns, mark)[rows].tolist()
        return found

    def _time(
        self, time: datetime | None, columns: Columns, rows: slice, of: Callable[[Ints], np.int64]
    ) -> datetime | None:
        return None if time is None else from_micros(int(of(column(columns, self._marks[micros(time)])[rows])))

    def _range(self, one: Range, columns: Columns, rows: slice) -> Range:
        count = rows.stop - rows.start
        found = Range(one.positions, {}, one.marks, count)
        if not one.offsets:
            return found
        marks = [(self._marks[from_], self._marks[to]) for from_, to in one.offsets.values()]
        starts = np.stack([column(columns, from_)[rows] for from_, _ in marks], axis=1)
        ends = np.stack([column(columns, to)[rows] for _, to in marks], axis=1)
        if (starts >= ends).any() or (starts[1:] != ends[:-1]).any():
            raise ValueError("offsets don't go on where those before ended")
        found.offsets = dict(zip(one.offsets, zip(starts[0].tolist(), ends[-1].tolist(), strict=True), strict=True))
        for part, (begin, end) in _parts(count).items():
            flat: list[int] = (ends[begin:end] - starts[begin]).ravel().tolist()
            found.lists[part] = Offsets(starts[begin].tolist(), flat)
        return found


def _parts(count: int) -> dict[str, tuple[int, int]]:
    """The parts of the lists of so many micro-batches from the first place on, each from a place up to another."""
    tail = (count - 1) // TAIL * TAIL
    out = {str(block): (block * PLACES, min((block + 1) * PLACES, tail)) for block in range(-(-tail // PLACES))}
    return out | {TAIL_PART: (tail, count)}


def column(columns: Columns, mark: Mark) -> Ints:
    """One number of each micro-batch."""
    name, item = mark
    found = columns.numbers[name]
    return found if found.ndim == 1 else found[:, item]


def _near(slot: Slot) -> Ints:
    """What each number is predicted from: its place in the numbers before followed by these ones."""
    count = len(slot.numbers)
    before, numbers = list(range(count)), list(range(count, 2 * count))
    differences = predictor(slot.shapes).differences(before, numbers)
    return np.array([number - difference for number, difference in zip(numbers, differences, strict=True)])


def _planes(differences: Ints) -> list[list[bytes]]:
    """Of each whole block the lowest bytes of the differences by column, the second lowest ones and so on."""
    whole, count = len(differences) // PLACES, differences.shape[1]
    by_block = differences[: whole * PLACES].astype("<i8").reshape(whole, PLACES, count)
    columns = np.ascontiguousarray(by_block.transpose(0, 2, 1)).view(np.uint8).reshape(whole, count * PLACES, 8)
    each = np.ascontiguousarray(columns.transpose(0, 2, 1))
    return [[plane.tobytes() for plane in block] for block in each]
