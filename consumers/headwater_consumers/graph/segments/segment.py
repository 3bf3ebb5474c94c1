"""Segments: 512 places for micro-batches of a query, in 8 blocks of 64, and what of them is plain to see.

A micro-batch's place follows from its batch id. The block with the latest micro-batch is open, the others are closed.
A micro-batch that follows on all others is appended to the open block. Any other report is joined with what is stored:
its block is read, and made again if that changes it.

The bytes are what counts. Properties and relationships that people and statements find segments by (`Summary`) are
derived from them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, NamedTuple

from headwater_consumers.facts.model import RelType
from headwater_consumers.facts.nodes import IntervalFacts, UseKey
from headwater_consumers.facts.registers import Props
from headwater_consumers.graph.derive import Neighbour, neighbour, next_properties, versions_used
from headwater_consumers.graph.keys import interval_key, segment_key
from headwater_consumers.graph.segments import blocks
from headwater_consumers.graph.segments.blocks import OpenBlock
from headwater_consumers.graph.segments.slots import Names, Owner, Slot, positions, put_together, take_apart

PLACES = 64
"""Batch ids of a block."""
BLOCKS = 8
SIZE = PLACES * BLOCKS
"""Batch ids of a segment."""


class At(NamedTuple):
    """Where a micro-batch is stored."""

    segment: int
    block: int
    place: int


def at(batch_id: int) -> At:
    """Where a micro-batch is stored: number of the segment, block in it, place in that."""
    segment, rest = divmod(batch_id, SIZE)
    return At(segment, *divmod(rest, PLACES))


def block_property(number: int) -> str:
    """The property with a closed block."""
    return f"_block_{number}"


@dataclass(frozen=True, slots=True)
class Place:
    """A segment that may be there.

    Attributes:
        tenant, query_id: of the query.
        query: its key.
        number: of the segment, from 0.
    """

    tenant: str
    query_id: str
    query: str
    number: int

    @property
    def key(self) -> str:
        """Of the node."""
        return segment_key(self.tenant, self.query, self.number)

    @property
    def owner(self) -> Owner:
        """Whose micro-batches it has."""
        return Owner(self.tenant, self.query_id)

    @property
    def start(self) -> int:
        """The first batch id that it may have."""
        return self.number * SIZE

    def identity(self) -> Props:
        """Properties that follow from the key."""
        return {
            "key": self.key,
            "name": f"batches {self.start} to {self.start + SIZE - 1}",
            "tenant": self.tenant,
            "query": self.query,
            "query_id": self.query_id,
            "start": self.start,
        }

    def interval(self, batch_id: int) -> IntervalFacts:
        """A micro-batch of which nothing is known yet."""
        identity: Props = {
            "key": interval_key(self.tenant, self.query, batch_id),
            "name": f"batch {batch_id}",
            "tenant": self.tenant,
            "query": self.query,
            "query_id": self.query_id,
            "batch_id": batch_id,
        }
        return IntervalFacts(identity, self.query, batch_id)


def neighbour_of(interval: IntervalFacts) -> Neighbour:
    """What those next to a micro-batch are compared with."""
    return neighbour(interval.query, interval.batch_id, interval.variants[interval.winner].uses)


def put_slot_together(place: Place, batch_id: int, slot: Slot, names: dict[str, Names]) -> IntervalFacts:
    """The micro-batch of a slot; `names` gets those of the datasets that it used, by key."""
    interval = place.interval(batch_id)
    interval.variants = put_together(place.owner, batch_id, slot, names)
    return interval


@dataclass(slots=True)
class Stored:
    """The blocks of a segment.

    Attributes:
        closed: by number.
        open: the one that grows.
        open_at: its number.
    """

    closed: dict[int, bytes] = field(default_factory=dict)
    open: OpenBlock | None = None
    open_at: int | None = None

    @classmethod
    def of(cls, properties: Mapping[str, Any]) -> Stored:
        """The blocks among a node's properties."""
        found = cls({n: bytes(data) for n in range(BLOCKS) if (data := properties.get(block_property(n))) is not None})
        if (at_ := properties.get("_open")) is not None:
            found.open_at = at_
            found.open = OpenBlock(*(bytes(properties[name]) for name in ("_head", "_tail", "_last")))
        return found

    def read(
        self, place: Place, names: dict[str, Names], only: Iterable[int] | None = None
    ) -> dict[int, IntervalFacts]:
        """The micro-batches of some blocks, or of all that are here, by batch id in ascending order.

        Args:
            place: the segment.
            names: gets the names of the datasets that they used, by key.
            only: numbers of blocks; None: all.
        """
        wanted = range(BLOCKS) if only is None else sorted(set(only))
        return {
            batch_id: put_slot_together(place, batch_id, slot, names)
            for number in wanted
            for batch_id, slot in self.slots(place, number).items()
        }

    def slots(self, place: Place, number: int) -> dict[int, Slot]:
        """The slots of a block by batch id in ascending order; none where it isn't here."""
        found: dict[int, Slot] = {}
        if number == self.open_at and self.open is not None:
            found = blocks.read_open(self.open)
        elif number in self.closed:
            found = blocks.read_closed(self.closed[number])
        first = place.start + number * PLACES
        return {first + in_block: slot for in_block, slot in found.items()}

    def rewritten(
        self, place: Place, intervals: Mapping[int, IntervalFacts], names: Mapping[str, Names]
    ) -> dict[str, Any]:
        """Properties of the blocks that these micro-batches make up whole; they are stored here, too.

        Args:
            place: the segment.
            intervals: by batch id; with all others of the same blocks.
            names: of the datasets that they used, by key.
        """
        made: dict[int, dict[int, Any]] = defaultdict(dict)
        for batch_id, interval in intervals.items():
            where = at(batch_id)
            made[where.block][where.place] = take_apart(place.owner, batch_id, interval.variants, names)
        out: dict[str, Any] = {}
        latest = max({*made, *self.closed, *([] if self.open_at is None else [self.open_at])})
        if self.open is not None and self.open_at is not None and self.open_at < latest and self.open_at not in made:
            out |= self._close(self.open_at, self.open)
        for number, slots in sorted(made.items()):
            block = blocks.open_block(slots)
            if number < latest or len(slots) == PLACES:
                out |= self._close(number, block)
            else:
                out |= self._opened(number, block)
        return out

    def appended(self, slots_: Mapping[int, Slot]) -> dict[str, Any]:
        """Properties that change when micro-batches are added behind all others; they are stored here, too.

        Args:
            slots_: by batch id.
        """
        out: dict[str, Any] = {}
        made: dict[int, dict[int, Slot]] = defaultdict(dict)
        for batch_id, slot in slots_.items():
            where = at(batch_id)
            made[where.block][where.place] = slot
        for number, slots in sorted(made.items()):
            if self.open is not None and self.open_at == number:
                block = blocks.append(self.open, slots)
            else:
                if self.open is not None and self.open_at is not None:
                    out |= self._close(self.open_at, self.open)
                block = blocks.open_block(slots)
            # Places are filled in order, and some may be left out for ever.
            if max(slots) == PLACES - 1:
                out |= self._close(number, block)
            else:
                out |= self._opened(number, block)
        return out

    def first(self, place: Place) -> Neighbour:
        """The micro-batch with the lowest batch id, where all blocks are here."""
        number = min({*self.closed, *([] if self.open_at is None else [self.open_at])})
        return neighbour_of(next(iter(self.read(place, {}, {number}).values())))

    def last(self, place: Place) -> Neighbour:
        """The micro-batch with the highest batch id, where the last block is here."""
        if self.open is not None and self.open_at is not None:
            in_block, slot = blocks.last_of(self.open)
            number = self.open_at
        else:
            number = max(self.closed)
            in_block, slot = max(blocks.read_closed(self.closed[number]).items(), key=lambda item: item[0])
        batch_id = place.start + number * PLACES + in_block
        if len(slot.shapes) == 1:
            return Neighbour(place.query, batch_id, positions(place.tenant, slot))
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


_FAULTS = ("missing", "gaps", "overlaps")
"""Properties beside `broken`, a number for each batch of it."""


@dataclass(slots=True)
class Range:
    """What of a dataset the micro-batches of a segment used.

    Attributes:
        positions: types of position.
        offsets: lowest and highest offset (half-open) by Kafka partition.
        marks: of paths and partitions.
        batches: how many.
    """

    positions: set[str] = field(default_factory=set)
    offsets: dict[int, tuple[int, int]] = field(default_factory=dict)
    marks: set[str] = field(default_factory=set)
    batches: int = 0

    def properties(self) -> dict[str, Any]:
        """Of the relationship; None for one that isn't there."""
        partitions = sorted(self.offsets)
        return {
            "batches": self.batches,
            "positions": sorted(self.positions) or None,
            "partitions": partitions or None,
            "from": [self.offsets[partition][0] for partition in partitions] or None,
            "to_exclusive": [self.offsets[partition][1] for partition in partitions] or None,
            "_marks": sorted(self.marks) or None,
        }

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> Range:
        """The inverse of `properties`."""
        pairs = zip(stored.get("from") or (), stored.get("to_exclusive") or (), strict=True)
        return cls(
            set(stored.get("positions") or ()),
            dict(zip(stored.get("partitions") or (), pairs, strict=True)),
            set(stored.get("_marks") or ()),
            stored["batches"],
        )


@dataclass(slots=True)
class VersionUse:
    """What of a segment read, or wrote, one version.

    Attributes:
        batches: batch ids, ascending.
        first_time: lowest processing time of these.
    """

    batches: list[int] = field(default_factory=list)
    first_time: datetime | None = None

    def add(self, batch_id: int, time: object) -> None:
        """A micro-batch that isn't before the last one; again where several reports of it have the version."""
        if batch_id not in self.batches[-1:]:
            self.batches.append(batch_id)
        if isinstance(time, datetime) and (self.first_time is None or time < self.first_time):
            self.first_time = time


@dataclass(slots=True)
class Summary:
    """What of a segment is plain to see: derived from its micro-batches.

    Attributes:
        batches: how many it has.
        first, last: lowest and highest batch id.
        began, ended: lowest and highest processing time.
        timed: how many micro-batches have one.
        contested: batch ids with conflicts, once for each of them.
        broken: batch ids that don't follow on the one before (`derive.next_properties`): how many batches are missing,
            and how many partitions have a gap and an overlap.
        rewinds: batch ids whose positions go back behind those of the one before.
        failed: batch ids with an assertion that failed.
        last_passed: the highest batch id with assertions of which none failed.
        runs: how many micro-batches of each run, by key.
        ranges: by use.
        versions: uses by READ or WROTE and the version's key.
    """

    batches: int = 0
    first: int | None = None
    last: int | None = None
    began: datetime | None = None
    ended: datetime | None = None
    timed: int = 0
    contested: list[int] = field(default_factory=list)
    broken: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    rewinds: list[int] = field(default_factory=list)
    failed: list[int] = field(default_factory=list)
    last_passed: int | None = None
    runs: dict[str, int] = field(default_factory=dict)
    ranges: dict[UseKey, Range] = field(default_factory=dict)
    versions: dict[tuple[RelType, str], VersionUse] = field(default_factory=dict)

    @classmethod
    def of(
        cls, stored: Mapping[str, Any], runs: Mapping[str, int], uses: Iterable[tuple[str, str, Mapping[str, Any]]]
    ) -> Summary:
        """What of a stored segment is plain to see, but for its versions.

        Args:
            stored: properties of the node, times as aware datetimes.
            runs: how many micro-batches of each run, by key.
            uses: type, dataset key and properties of each CONSUMED and PRODUCED.
        """
        return cls(
            stored["batches"],
            stored["first_batch"],
            stored["last_batch"],
            stored.get("first_time"),
            stored.get("last_time"),
            stored.get("timed", 0),
            list(stored.get("contested") or ()),
            dict(
                zip(
                    stored.get("broken") or (),
                    zip(*(stored.get(name) or () for name in _FAULTS), strict=True),
                    strict=True,
                )
            ),
            list(stored.get("rewinds") or ()),
            list(stored.get("failed") or ()),
            stored.get("last_passed"),
            dict(runs),
            {
                UseKey(RelType(type_), dataset, properties.get("ordinal", 0)): Range.of(properties)
                for type_, dataset, properties in uses
            },
        )

    def copy(self) -> Summary:
        """One that can be added to without a change to this one."""
        ranges = {
            use: Range(set(of.positions), dict(of.offsets), set(of.marks), of.batches)
            for use, of in self.ranges.items()
        }
        return replace(
            self,
            contested=self.contested[:],
            broken=dict(self.broken),
            rewinds=self.rewinds[:],
            failed=self.failed[:],
            runs=dict(self.runs),
            ranges=ranges,
            versions={key: VersionUse(of.batches[:], of.first_time) for key, of in self.versions.items()},
        )

    def add(self, tenant: str, interval: IntervalFacts, before: Neighbour | None) -> Neighbour:
        """Add a micro-batch that comes after all others; returns it as the neighbour of the next.

        Args:
            tenant: of the graph.
            interval: the micro-batch.
            before: the one before, of this segment or an earlier one.
        """
        batch_id = interval.batch_id
        winner = interval.variants[interval.winner]
        here = neighbour_of(interval)
        self.batches += 1
        self.first = batch_id if self.first is None else self.first
        self.last = batch_id
        self.contested += [batch_id] * (len(interval.variants) - 1)
        _, time = winner.registers.get("processing_time", ("", None))
        if isinstance(time, datetime):
            self.timed += 1
            self.began = time if self.began is None else min(self.began, time)
            self.ended = time if self.ended is None else max(self.ended, time)
        _, quality = winner.registers.get("quality", ("", None))
        if isinstance(quality, dict) and isinstance(passed := quality["quality_passed"], list) and passed:
            if all(passed):
                self.last_passed = batch_id
            else:
                self.failed.append(batch_id)
        for variant in interval.variants.values():
            _, run = variant.registers.get("run", ("", None))
            if isinstance(run, dict):
                key = str(run["_run"])
                self.runs[key] = self.runs.get(key, 0) + (1 if variant is winner else 0)
            for type_, version in set(versions_used(tenant, variant.uses)):
                _, began = variant.registers.get("processing_time", ("", None))
                self.versions.setdefault((type_, version), VersionUse()).add(batch_id, began)
            for use, registers in variant.uses.items():
                self._use(use, registers.get("position", ("", None))[1])
        self._joint(batch_id, before, here)
        return here

    def join_to(self, before: Neighbour, first: Neighbour) -> bool:
        """Put the joint of the first micro-batch to the one before it right; whether that changed anything.

        Args:
            before: the last micro-batch of the segment before.
            first: the first one of this segment.
        """
        old = self.broken.get(first.batch_id), self.rewinds[:1]
        broken, rewinds = self.broken, [batch for batch in self.rewinds if batch != first.batch_id]
        broken.pop(first.batch_id, None)
        self.broken, self.rewinds = {}, []
        self._joint(first.batch_id, before, first)
        new = self.broken.get(first.batch_id), self.rewinds[:1] or rewinds[:1]
        self.broken |= broken
        self.rewinds += rewinds
        return old != new

    def _joint(self, batch_id: int, before: Neighbour | None, here: Neighbour) -> None:
        if before is None:
            return
        found = next_properties(before, here)
        if "rewinds" in found:
            self.rewinds.append(batch_id)
        if found.keys() - {"rewinds"}:
            missing = found.get("missing", 0)
            gaps, overlaps = (found.get(f"{word}_partitions", []) for word in ("gap", "overlap"))
            assert isinstance(missing, int)  # noqa: S101 - for the type checker
            assert isinstance(gaps, list)  # noqa: S101 - for the type checker
            assert isinstance(overlaps, list)  # noqa: S101 - for the type checker
            self.broken[batch_id] = missing, len(gaps), len(overlaps)

    def _use(self, use: UseKey, position: Any) -> None:
        range_ = self.ranges.setdefault(use, Range())
        range_.batches += 1
        if not isinstance(position, dict):
            return
        range_.positions.add(position["position"])
        range_.marks.update(position.get("_marks", ()))
        if position["position"] == "kafka":
            offsets = range_.offsets
            for partition, from_, to in zip(
                position["partitions"], position["from"], position["to_exclusive"], strict=True
            ):
                known = offsets.get(partition)
                offsets[partition] = (from_, to) if known is None else (min(known[0], from_), max(known[1], to))

    def properties(self, query: str) -> dict[str, Any]:
        """Properties of the node; None for one that isn't there."""
        return {
            "batches": self.batches,
            "first_batch": self.first,
            "last_batch": self.last,
            "first_time": self.began,
            "last_time": self.ended,
            "timed": self.timed,
            "contested": self.contested or None,
            "broken": list(self.broken) or None,
            **{name: [fault[at_] for fault in self.broken.values()] or None for at_, name in enumerate(_FAULTS)},
            "rewinds": self.rewinds or None,
            "failed": self.failed or None,
            "last_passed": self.last_passed,
            "_broken": query if self.broken else None,
            "_rewinds": query if self.rewinds else None,
        }


def summarize(
    tenant: str, intervals: Mapping[int, IntervalFacts], before: Neighbour | None
) -> tuple[Summary, Neighbour | None]:
    """The summary of micro-batches by ascending batch id, and the last one as the neighbour of the next."""
    summary = Summary()
    for interval in intervals.values():
        before = summary.add(tenant, interval, before)
    return summary, before
