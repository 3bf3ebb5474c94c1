"""Lists: the micro-batches of a segment as parallel lists of numbers, for Cypher.

The lists are stored in parts: one part for each block, and `tail` for the latest group of 16 batch ids. If the next
micro-batch is in another group, the tail is first added to the part of its block. The lists of a part are parallel:

    (:HwSegment)              batch_ids_0, processing_times_0 (epoch milliseconds), durations_ms_0, rows_in_0
    -[:CONSUMED|PRODUCED]-> from_0    first offset of each partition
                            ends_0    end offset of each micro-batch in each partition, minus `from`
                            starts_0  start offsets, minus `from`; absent if each start equals the previous end

`ends` and `starts` have one number for each micro-batch and partition, in the order of `partitions`. A partition
without offsets in a micro-batch repeats its previous end. An unknown number is -1, because Neo4j's lists can't hold
null.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

TAIL = "tail"
"""Name of the part that grows."""
UNKNOWN = -1

Row: TypeAlias = "Sequence[tuple[int, int] | None]"
"""Offsets of a micro-batch: start and end for each partition, in the order of `partitions`; None: no offsets."""


@dataclass(slots=True)
class Columns:
    """Lists of a segment's node, in one part."""

    batch_ids: list[int] = field(default_factory=list)
    processing_times: list[int] = field(default_factory=list)
    durations_ms: list[int] = field(default_factory=list)
    rows_in: list[int] = field(default_factory=list)

    def add(self, batch_id: int, time: int, duration: int, rows: int) -> None:
        """Add a micro-batch after all others."""
        self.batch_ids.append(batch_id)
        self.processing_times.append(time)
        self.durations_ms.append(duration)
        self.rows_in.append(rows)

    def extend(self, other: Columns) -> None:
        """Add the lists of a later part."""
        for name in COLUMNS:
            getattr(self, name).extend(getattr(other, name))

    def cut(self, count: int) -> Columns:
        """Return the lists of the first `count` micro-batches."""
        return Columns(*(getattr(self, name)[:count] for name in COLUMNS))

    def properties(self, part: str) -> dict[str, Any]:
        """Return the lists as properties of the node."""
        return {f"{name}_{part}": getattr(self, name) for name in COLUMNS}

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> dict[str, Columns]:
        """Read the parts among a node's properties."""
        return {
            (part := name[len("batch_ids_") :]): cls(*(list(stored[f"{column}_{part}"]) for column in COLUMNS))
            for name in stored
            if name.startswith("batch_ids_")
        }


COLUMNS = ("batch_ids", "processing_times", "durations_ms", "rows_in")


@dataclass(slots=True)
class OffsetLists:
    """Lists of a relationship, in one part; `starts` is None if each start equals the previous end."""

    from_: list[int]
    ends: list[int]
    starts: list[int] | None = None

    @classmethod
    def empty(cls, partitions: int, rows: int) -> OffsetLists:
        """Lists of micro-batches without offsets."""
        return cls([UNKNOWN] * partitions, [0] * (partitions * rows))

    def add(self, row: Row) -> None:
        """Add the offsets of a micro-batch after all others. `row` has no fewer partitions than the rows before."""
        if len(row) > len(self.from_):
            self._widen(len(row))
        from_, count = self.from_, len(row)
        before = self.ends[-count:] or [0] * count
        starts, ends = before[:], before[:]
        for index, pair in enumerate(row):
            if pair is not None and pair[0] != pair[1]:
                first = from_[index]
                if first == UNKNOWN:
                    from_[index] = first = pair[0]
                starts[index], ends[index] = pair[0] - first, pair[1] - first
        if self.starts is None and starts != before:
            self.starts = [0] * min(count, len(self.ends)) + self.ends[:-count]
        if self.starts is not None:
            self.starts += starts
        self.ends += ends

    def cut(self, count: int, rows: int) -> OffsetLists:
        """Return the lists of the first `count` of `rows` micro-batches."""
        kept = OffsetLists.empty(len(self.from_), 0)
        for row in self.rows(rows)[:count]:
            kept.add(row)
        return kept

    def rows(self, count: int) -> list[list[tuple[int, int] | None]]:
        """Return the offsets of each of `count` micro-batches."""
        width, out = len(self.from_), []
        before = [0] * width
        for at in range(0, width * count, width):
            ends = self.ends[at : at + width]
            starts = before if self.starts is None else self.starts[at : at + width]
            out.append(
                [
                    None if start == end else (first + start, first + end)
                    for first, start, end in zip(self.from_, starts, ends, strict=True)
                ]
            )
            before = ends
        return out

    def properties(self, part: str) -> dict[str, Any]:
        """Return the lists as properties of the relationship; None for an absent list."""
        return {f"from_{part}": self.from_, f"ends_{part}": self.ends, f"starts_{part}": self.starts}

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> dict[str, OffsetLists]:
        """Read the parts that are among the properties of the relationship."""
        out = {}
        for name, from_ in stored.items():
            if name.startswith("from_") and from_ is not None:
                part = name[len("from_") :]
                starts = stored.get(f"starts_{part}")
                out[part] = cls(list(from_), list(stored[f"ends_{part}"]), None if starts is None else list(starts))
        return out

    def _widen(self, count: int) -> None:
        width = len(self.from_)
        rows = len(self.ends) // width
        zeros = [0] * (count - width)
        for name in ("ends", "starts"):
            if (flat := getattr(self, name)) is not None:
                wide = [number for at in range(rows) for number in (*flat[at * width : (at + 1) * width], *zeros)]
                setattr(self, name, wide)
        self.from_ += [UNKNOWN] * (count - width)


OFFSETS = ("from_", "ends_", "starts_")
"""Prefixes of the names of a relationship's lists."""
