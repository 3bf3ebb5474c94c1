"""The floor of a trace: for each hop one statement that finds segments by their ranges, and their blocks decoded.

It knows the estate: partitions are numbered from 0, offsets only grow, nothing is missing, and every output is Kafka's
or the last.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from headwater_benchmarks.estate.starts import Record
from headwater_benchmarks.query.statements import Statements
from headwater_graph.facts.model import RelType, UseKey
from headwater_graph.facts.registers import Props
from headwater_graph.segments.segment import PLACES, Place, Stored, at
from headwater_graph.segments.slots import Slot, positions

Part = tuple[int, int, int]
"""Partition, first offset, and the offset after the last."""
Batch = tuple[str, int]
"""Key of a query, and a batch id."""


def found(statements: Statements, record: Record, depth: int) -> int:
    """Count the micro-batches that a record reaches within so many hops.

    Raises:
        TooLong: the time limit ended a statement.
    """
    reached: set[Batch] = set()
    wants: list[tuple[str, list[Part]]] = [(record.topic, [(record.partition, record.offset, record.offset + 1)])]
    for _ in range(depth):
        rows = statements.rows(
            "segments_that_read", wants=[{"dataset": dataset, "parts": parts} for dataset, parts in wants]
        )
        segments: dict[tuple[str, int], _Segment] = {}
        wants = []
        for row in rows:
            properties = row["segment"]
            name = properties["query"], properties["start"]
            segment = segments.setdefault(name, _Segment(properties))
            for batch_id, uses in segment.that_read(row["dataset"], row["parts"]):
                if (batch := (properties["query"], batch_id)) not in reached:
                    reached.add(batch)
                    wants += [
                        (use.dataset, _parts(position))
                        for use, position in uses.items()
                        if use.type is RelType.PRODUCED and position["position"] == "kafka"
                    ]
        if not wants:
            break
    return len(reached)


@dataclass(slots=True)
class _Segment:
    """A segment whose blocks are decoded when they are looked at."""

    properties: Mapping[str, Any]
    _blocks: dict[int, list[tuple[int, Slot]]] = field(default_factory=dict)
    _uses: dict[int, dict[UseKey, Props]] = field(default_factory=dict)

    def that_read(self, dataset: str, parts: Sequence[Part]) -> Iterator[tuple[int, dict[UseKey, Props]]]:
        """Batch ids and uses of the micro-batches that read any of some offsets."""
        use = UseKey(RelType.CONSUMED, dataset, 0)
        first, last = self.properties["first_batch"], self.properties["last_batch"]
        begin, end = first, last + 1
        while begin < end:  # the first that ends behind where any of the parts begins
            middle = (begin + end) // 2
            if any(self._range(middle, use, part)[1] > part[1] for part in parts):
                end = middle
            else:
                begin = middle + 1
        for batch_id in range(begin, last + 1):
            ranges = [(self._range(batch_id, use, part), part) for part in parts]
            if all(from_ >= part[2] for (from_, _), part in ranges):
                return
            if any(from_ < part[2] and part[1] < to for (from_, to), part in ranges):
                yield batch_id, self._of(batch_id)

    def _range(self, batch_id: int, use: UseKey, part: Part) -> tuple[int, int]:
        position: Any = self._of(batch_id)[use]
        return position["from"][part[0]], position["to_exclusive"][part[0]]

    def _of(self, batch_id: int) -> dict[UseKey, Props]:
        if batch_id not in self._uses:
            of = self.properties
            where = at(batch_id)
            if where.block not in self._blocks:
                place = Place(of["tenant"], of["query_id"], of["query"], where.segment)
                self._blocks[where.block] = list(Stored.of(of).slots(place, where.block).items())
            self._uses[batch_id] = positions(of["tenant"], self._blocks[where.block][batch_id % PLACES][1])
        return self._uses[batch_id]


def _parts(position: Props) -> list[Part]:
    columns: Any = (position["partitions"], position["from"], position["to_exclusive"])
    return list(zip(*columns, strict=True))
