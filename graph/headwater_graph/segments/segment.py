"""Segments: storage of 512 consecutive micro-batches of a query, in 8 blocks of 64.

The storage position of a micro-batch follows from its batch id. The block with the latest micro-batch is open, all
others are closed. A micro-batch after all others is appended to the open block. Any other report is joined with the
stored micro-batch: the block is read, and rewritten if it changes.

The bytes are authoritative. The properties for searches and statements (`summary`) are derived from them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from headwater_graph.derive import BatchPositions, neighbour_of
from headwater_graph.facts.nodes import IntervalFacts
from headwater_graph.facts.registers import Props
from headwater_graph.keys import interval_identity, interval_key, segment_key
from headwater_graph.segments import blocks
from headwater_graph.segments.blocks import OpenBlock
from headwater_graph.segments.slots import DatasetName, OwningQuery, Slot, positions, put_together, take_apart
from headwater_schemas.ranges import batches_text, range_text

PLACES = 64
"""Number of batch ids in a block."""
BLOCKS = 8
SIZE = PLACES * BLOCKS
"""Number of batch ids in a segment."""
TAIL = 16
"""Number of batch ids in the tail: the lists of the last micro-batches, stored apart from the lists of their block."""


class At(NamedTuple):
    """Storage position of a micro-batch."""

    segment: int
    block: int
    place: int


def at(batch_id: int) -> At:
    """Return the storage position of a batch id: segment number, block in it, place in the block."""
    segment, rest = divmod(batch_id, SIZE)
    return At(segment, *divmod(rest, PLACES))


def block_property(number: int) -> str:
    """Name of the property with a closed block."""
    return f"_block_{number}"


@dataclass(frozen=True, slots=True)
class Place:
    """Address of a segment, whether it is stored or not.

    Attributes:
        tenant, query_id: tenant and id of the query.
        query: key of the query.
        number: number of the segment, from 0.
    """

    tenant: str
    query_id: str
    query: str
    number: int

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> Place:
        """Address of a stored segment, from its node's properties."""
        return cls(stored["tenant"], stored["query_id"], stored["query"], at(stored["start"]).segment)

    @property
    def key(self) -> str:
        """Key of the node."""
        return segment_key(self.tenant, self.query, self.number)

    @property
    def owner(self) -> OwningQuery:
        """Query of the segment's micro-batches."""
        return OwningQuery(self.tenant, self.query_id)

    @property
    def start(self) -> int:
        """Lowest possible batch id of the segment."""
        return self.number * SIZE

    def identity(self) -> Props:
        """Properties of the node that follow from its key."""
        return {
            "key": self.key,
            "name": batches_text(self.start, self.start + SIZE - 1),
            "tenant": self.tenant,
            "query": self.query,
            "query_id": self.query_id,
            "start": self.start,
        }

    def interval(self, batch_id: int) -> IntervalFacts:
        """Return an empty micro-batch."""
        key = interval_key(self.tenant, self.query, batch_id)
        identity = interval_identity(key, self.tenant, self.query, self.query_id, batch_id)
        return IntervalFacts(identity, self.query, batch_id)


def put_slot_together(place: Place, batch_id: int, slot: Slot, names: dict[str, DatasetName]) -> IntervalFacts:
    """Rebuild the micro-batch of a slot; `names` receives the names of the datasets that it used, by key."""
    interval = place.interval(batch_id)
    interval.variants = put_together(place.owner, batch_id, slot, names)
    return interval


class SegmentDamagedError(Exception):
    """A stored block can't be read: somebody, or another program, has changed it."""

    def __init__(self, place: Place, number: int) -> None:
        first = place.start + number * PLACES
        super().__init__(
            f"Micro-batches {range_text(first, first + PLACES)} of query {place.query_id} can't be read: property "
            f"{block_property(number)} of Segment {place.key} (or _head, _tail and _last) is damaged."
        )


@dataclass(slots=True)
class Stored:
    """The blocks of a segment.

    Attributes:
        open: the open block, which grows.
    """

    closed: dict[int, bytes] = field(default_factory=dict)
    open: OpenBlock | None = None
    open_at: int | None = None

    @classmethod
    def of(cls, properties: Mapping[str, Any]) -> Stored:
        """Read the blocks among a node's properties."""
        found = cls({n: bytes(data) for n in range(BLOCKS) if (data := properties.get(block_property(n))) is not None})
        if (at_ := properties.get("_open")) is not None:
            found.open_at = at_
            found.open = OpenBlock(*(bytes(properties.get(name) or b"") for name in ("_head", "_tail", "_last")))
        return found

    def read(
        self, place: Place, names: dict[str, DatasetName], only: Iterable[int] | None = None
    ) -> dict[int, IntervalFacts]:
        """Return the micro-batches of some or all loaded blocks, by ascending batch id.

        Args:
            place: the segment.
            names: receives the names of the datasets that the micro-batches used, by key.
            only: numbers of the blocks to read; None: all loaded blocks.

        Raises:
            SegmentDamagedError: as `slots`.
        """
        wanted = range(BLOCKS) if only is None else sorted(set(only))
        return {
            batch_id: put_slot_together(place, batch_id, slot, names)
            for number in wanted
            for batch_id, slot in self.slots(place, number).items()
        }

    def some(self, place: Place, names: dict[str, DatasetName], batch_ids: Iterable[int]) -> dict[int, IntervalFacts]:
        """Return the micro-batches with these batch ids in the loaded blocks, by ascending batch id.

        Args:
            place: the segment.
            names: receives the names of the datasets that the micro-batches used, by key.

        Raises:
            SegmentDamagedError: as `slots`.
        """
        wanted = sorted(batch_ids)
        known: dict[int, Slot] = {}
        for number in {at(batch_id).block: None for batch_id in wanted}:
            known |= self.slots(place, number)
        return {
            batch_id: put_slot_together(place, batch_id, known[batch_id], names)
            for batch_id in wanted
            if batch_id in known
        }

    def slots(self, place: Place, number: int) -> dict[int, Slot]:
        """Return the slots of a block by ascending batch id; empty if the segment doesn't have the block.

        Raises:
            SegmentDamagedError: the block can't be read.
        """
        found: dict[int, Slot] = {}
        try:
            if number == self.open_at and self.open is not None:
                found = blocks.read_open(self.open)
            elif number in self.closed:
                found = blocks.read_closed(self.closed[number])
        except blocks.DAMAGE as error:
            raise SegmentDamagedError(place, number) from error
        first = place.start + number * PLACES
        return {first + in_block: slot for in_block, slot in found.items()}

    def rewritten(
        self, place: Place, intervals: Mapping[int, IntervalFacts], names: Mapping[str, DatasetName]
    ) -> dict[str, Any]:
        """Replace whole blocks by blocks of these micro-batches; return the properties that change.

        Args:
            place: the segment.
            intervals: micro-batches by batch id, including all stored micro-batches of the same blocks.
            names: names of the datasets that the micro-batches used, by key.
        """
        touched: dict[int, dict[int, Any]] = defaultdict(dict)
        for batch_id, interval in intervals.items():
            where = at(batch_id)
            touched[where.block][where.place] = take_apart(place.owner, batch_id, interval.variants, names)
        out: dict[str, Any] = {}
        latest = max({*touched, *self.closed, *([] if self.open_at is None else [self.open_at])})
        if self.open is not None and self.open_at is not None and self.open_at < latest and self.open_at not in touched:
            out |= self._close(self.open_at, self.open)
        for number, slots in sorted(touched.items()):
            block = blocks.open_block(slots)
            if number < latest or len(slots) == PLACES:
                out |= self._close(number, block)
            else:
                out |= self._opened(number, block)
        return out

    def appended(self, slots_: Mapping[int, Slot]) -> dict[str, Any]:
        """Append micro-batches after all others; return the properties that change.

        Args:
            slots_: slots by batch id.
        """
        out: dict[str, Any] = {}
        by_block: dict[int, dict[int, Slot]] = defaultdict(dict)
        for batch_id, slot in slots_.items():
            where = at(batch_id)
            by_block[where.block][where.place] = slot
        for number, slots in sorted(by_block.items()):
            if self.open is not None and self.open_at == number:
                block = blocks.append(self.open, slots)
            else:
                if self.open is not None and self.open_at is not None:
                    out |= self._close(self.open_at, self.open)
                block = blocks.open_block(slots)
            # Places are filled in order; some may stay empty. The last place closes the block.
            if max(slots) == PLACES - 1:
                out |= self._close(number, block)
            else:
                out |= self._opened(number, block)
        return out

    def reopened(self, slots_: Mapping[int, Slot]) -> dict[str, Any]:
        """Rebuild the open block; return the properties that change.

        Args:
            slots_: slots by batch id: all slots of the open block, and later slots.
        """
        self.open = self.open_at = None
        return self.appended(slots_)

    def first(self, place: Place) -> BatchPositions:
        """Return the micro-batch with the lowest batch id. All blocks must be loaded."""
        number = min({*self.closed, *([] if self.open_at is None else [self.open_at])})
        return neighbour_of(next(iter(self.read(place, {}, {number}).values())))

    def last(self, place: Place) -> BatchPositions:
        """Return the micro-batch with the highest batch id. The last block must be loaded."""
        if self.open is not None and self.open_at is not None:
            in_block, slot = blocks.last_of(self.open)
            number = self.open_at
        else:
            number = max(self.closed)
            in_block, slot = max(blocks.read_closed(self.closed[number]).items(), key=lambda item: item[0])
        batch_id = place.start + number * PLACES + in_block
        if len(slot.shapes) == 1:
            return BatchPositions(place.query, batch_id, positions(place.tenant, slot))
        return neighbour_of(put_slot_together(place, batch_id, slot, {}))

    def _close(self, number: int, block: OpenBlock) -> dict[str, Any]:
        self.closed[number] = blocks.close(block)
        out: dict[str, Any] = {block_property(number): self.closed[number]}
        if self.open_at in (None, number):
            self.open = self.open_at = None
            out |= dict.fromkeys(("_open", "_head", "_tail", "_last"))
        return out

    def _opened(self, number: int, block: OpenBlock) -> dict[str, Any]:
        grown = self.open is not None and self.open_at == number and self.open.head == block.head
        out: dict[str, Any] = {"_open": number, "_head": block.head, "_tail": block.tail, "_last": block.last}
        if grown:
            del out["_head"], out["_open"]
        if number in self.closed:
            del self.closed[number]
            out[block_property(number)] = None
        self.open, self.open_at = block, number
        return out
