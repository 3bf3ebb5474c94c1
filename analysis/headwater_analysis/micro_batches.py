"""Micro-batches of streaming queries, read from the segments that hold them.

following       micro-batches from a batch id on, in batch order
preceding       micro-batches before a batch id, the latest first
stored_batches  like `following` or `preceding`, but each micro-batch is decoded only if needed
befores         predecessor of each micro-batch
rewinds         batches at which a query's offsets go back
is_anew         whether a topic was recreated between two micro-batches
retired         batch ids whose micro-batches aren't stored individually
count           number of micro-batches in a span of time
row             a micro-batch as properties and uses, in the form of a run's row
conflicts       conflicting reports of a micro-batch, as rows of this form

Datasets have their shown names (`identity`): reports that spell a dataset differently use one dataset, and don't
conflict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from typing import Any

from headwater_analysis.hidden import without_hidden
from headwater_analysis.identity import Identities
from headwater_analysis.reader import Transaction
from headwater_graph.derive import neighbour_of, next_properties, other_incarnation, skipped
from headwater_graph.facts.model import RelType, UseKey
from headwater_graph.facts.nodes import MADE_FROM, IntervalFacts, Variant
from headwater_graph.facts.properties import flatten
from headwater_graph.facts.registers import Props, Registers
from headwater_graph.facts.spans import Ranges
from headwater_graph.keys import conflict_identity, use_properties
from headwater_graph.segments import segment
from headwater_graph.segments.segment import (
    Place,
    Stored,
    at,
    block_property,
    put_slot_together,
)
from headwater_graph.segments.slots import DatasetName, Slot, end_of, positions, processing_time_of
from headwater_graph.summaries import retired_of

NO_LIMIT = 2**63 - 1
"""Upper bound of batch ids."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Range of micro-batches of a query.

    Attributes:
        query: key of the query.
        first, last: batch ids, both ends included.
        begin, end: bounds of processing times, half-open; with a bound, micro-batches without a time are left out.
    """

    query: str
    first: int = 0
    last: int = NO_LIMIT
    begin: datetime | None = None
    end: datetime | None = None

    @property
    def at_any_time(self) -> bool:
        """True if processing times don't matter."""
        return self.begin is None and self.end is None

    def has(self, time: object) -> bool:
        """Return whether a processing time, or None, is within the bounds."""
        if self.at_any_time:
            return True
        return (
            isinstance(time, datetime)
            and (self.begin is None or time >= self.begin)
            and (self.end is None or time < self.end)
        )


class StoredMicroBatch:
    """A micro-batch in a segment, decoded when it is first read.

    Attributes:
        query: key of the query.
        batch_id: batch id.
    """

    __slots__ = ("_identities", "_interval", "_place", "_slot", "batch_id", "query")

    def __init__(self, identities: Identities, place: Place, batch_id: int, slot: Slot) -> None:
        self._identities = identities
        self._place, self.batch_id, self._slot = place, batch_id, slot
        self.query = place.query
        self._interval: IntervalFacts | None = None

    def interval(self) -> IntervalFacts:
        """Decode all facts of the micro-batch."""
        if self._interval is None:
            self._interval = as_shown(self._identities, self.reported())
        return self._interval

    def reported(self) -> IntervalFacts:
        """Decode all facts of the micro-batch, with its datasets as they were reported."""
        names: dict[str, DatasetName] = {}
        stored = put_slot_together(self._place, self.batch_id, self._slot, names)
        return without_hidden(self._identities.seen, stored, names)

    def positions(self, type_: RelType, dataset: str) -> list[Mapping[str, Any]]:
        """Positions in a dataset that the micro-batch read, or wrote. Mostly, this needs no decoding."""
        if len(self._slot.shapes) == 1:
            return [
                position
                for key in self._identities.members(dataset)
                for position in positions(self._place.tenant, self._slot, (type_, key)).values()
            ]
        interval = self.interval()
        uses = interval.variants[interval.winner].uses.items()
        return [
            position
            for use, registers in uses
            if (use.type, use.dataset) == (type_, dataset)
            and isinstance(position := registers.get("position", ("", None))[1], dict)
        ]

    def processing_time(self) -> datetime | None:
        """Start of the micro-batch, where known."""
        return processing_time_of(self._slot) or processing_time(self.interval())

    def may_be(self, wanted: Wanted) -> bool:
        """Return whether the micro-batch may be wanted."""
        return wanted.may_be(self._slot)


class _Whole:
    """A segment with all of its blocks; slots are read when they are first needed."""

    def __init__(self, tx: Transaction, properties: Mapping[str, Any]) -> None:
        self._identities = Identities.of(tx)
        self._place, self._stored = _segment(properties, ())
        self._blocks: dict[int, list[StoredMicroBatch]] = {}
        self.first, self.last = int(properties["first_batch"]), int(properties["last_batch"])

    def found(self, first: int, *, backwards: bool) -> Iterator[StoredMicroBatch]:
        """Micro-batches from a batch id on, forwards or backwards."""
        if backwards:
            numbers = range(at(min(first, self.last)).block, at(self.first).block - 1, -1)
        else:
            numbers = range(at(max(first, self.first)).block, at(self.last).block + 1)
        for number in numbers:
            block = self._block(number)
            for each in reversed(block) if backwards else block:
                if (each.batch_id <= first) if backwards else (each.batch_id >= first):
                    yield each

    def times(self) -> Iterator[datetime | None]:
        """Processing times."""
        for number in range(segment.BLOCKS):
            for each in self._block(number):
                yield each.processing_time()

    def _block(self, number: int) -> list[StoredMicroBatch]:
        if number not in self._blocks:
            slots = self._stored.slots(self._place, number).items()
            self._blocks[number] = [
                StoredMicroBatch(self._identities, self._place, batch_id, slot) for batch_id, slot in slots
            ]
        return self._blocks[number]


def load(tx: Transaction, stretches: Sequence[Stretch]) -> None:
    """Read the segments of these ranges whole, once: later lookups in this transaction need no database."""
    known = _loaded(tx)
    missing = [each for each in stretches if any((each.query, number) not in known for number in _numbers(each))]
    if not missing:
        return
    for row in tx.rows(
        "micro_batches/whole",
        stretches=[{"query": each.query, "first": each.first, "last": each.last} for each in missing],
        size=segment.SIZE,
    ):
        properties = row["properties"]
        known[properties["query"], at(properties["start"]).segment] = _Whole(tx, properties)
    for stretch in missing:
        for number in _numbers(stretch):
            known.setdefault((stretch.query, number), None)


def keep(tx: Transaction, properties: Mapping[str, Any]) -> None:
    """Cache a segment that was read whole elsewhere, with the properties that `micro_batches/whole` returns."""
    _loaded(tx).setdefault((properties["query"], at(properties["start"]).segment), _Whole(tx, properties))


def count(tx: Transaction, stretches: Sequence[Stretch]) -> int:
    """Count micro-batches in ranges of batch ids and times. No two ranges share a segment."""
    total = 0
    # At most `_MOST_SEGMENTS` ranges in one statement, so that its answer stays small.
    for begin in range(0, len(stretches), _MOST_SEGMENTS):
        part = stretches[begin : begin + _MOST_SEGMENTS]
        load(tx, part)
        for stretch in part:
            for number in _numbers(stretch):
                if (whole := _loaded(tx).pop((stretch.query, number), None)) is not None:
                    total += sum(map(stretch.has, whole.times()))
    return total


def _numbers(stretch: Stretch) -> range:
    """Numbers of the segments that have micro-batches of a range."""
    return range(at(stretch.first).segment, at(stretch.last).segment + 1)


def _loaded(tx: Transaction) -> dict[tuple[str, int], _Whole | None]:
    """Segments that were read whole, by query and number; None: the segment doesn't exist."""
    found: Any = tx.shared.setdefault("segments", {})
    return found  # type: ignore[no-any-return]


@dataclass(slots=True)
class _Reading:
    """Range of batch ids that is still to be read, from `first` to `last`."""

    n: int
    of: Stretch
    first: int
    last: int
    found: list[StoredMicroBatch] = field(default_factory=list)

    def takes(self, each: StoredMicroBatch, wanted: Wanted) -> bool:
        """Add a micro-batch if it is wanted and within the range's times; return whether it was added."""
        if not each.may_be(wanted) or not (self.of.at_any_time or self.of.has(each.processing_time())):
            return False
        if wanted is not ANY and not wanted.holds(each.interval()):
            return False
        self.found.append(each)
        return True


@dataclass(frozen=True, slots=True)
class Wanted:
    """Filter of micro-batches.

    Attributes:
        holds: predicate of a micro-batch.
        texts: a few texts; a micro-batch with none of these texts is skipped without decoding.
    """

    holds: Callable[[IntervalFacts], bool]
    texts: Sequence[str] = ()

    def may_be(self, slot: Slot) -> bool:
        """Return whether a slot may belong to a wanted micro-batch."""
        return not self.texts or any(part in text for text in slot.texts for part in self.texts)


ANY = Wanted(lambda _: True)


def of_run(run_id: str | None) -> Wanted:
    """Filter for micro-batches that were observed in a run; None: no filter."""
    if run_id is None:
        return ANY

    def holds(interval: IntervalFacts) -> bool:
        _, run = interval.variants[interval.winner].registers.get("run", ("", None))
        return isinstance(run, dict) and run["run_id"] == run_id

    return Wanted(holds, (run_id,))


def following(
    tx: Transaction, stretches: Sequence[Stretch], limit: int, *, wanted: Wanted = ANY
) -> list[list[IntervalFacts]]:
    """Return the first micro-batches of each range, in batch order.

    Args:
        limit: maximum number of micro-batches of each range.
        wanted: filter of micro-batches.
    """
    return [[each.interval() for each in some] for some in stored_batches(tx, stretches, limit, wanted=wanted)]


def preceding(
    tx: Transaction, stretches: Sequence[Stretch], limit: int, *, wanted: Wanted = ANY
) -> list[list[IntervalFacts]]:
    """Return the last micro-batches of each range, the latest first; arguments as for `following`."""
    return [
        [each.interval() for each in some]
        for some in stored_batches(tx, stretches, limit, wanted=wanted, backwards=True)
    ]


def stored_batches(
    tx: Transaction, stretches: Sequence[Stretch], limit: int, *, wanted: Wanted = ANY, backwards: bool = False
) -> list[list[StoredMicroBatch]]:
    """Like `following` (`backwards`: `preceding`), with micro-batches that aren't decoded yet."""
    readings = [_Reading(n, of, max(0, of.first), min(of.last, NO_LIMIT)) for n, of in enumerate(stretches)]
    open_ = [reading for reading in readings if reading.first <= reading.last] if limit > 0 else []
    known = _loaded(tx)
    for reading in open_ if known else ():
        _take_loaded(known, reading, limit, wanted, backwards=backwards)
    open_ = [reading for reading in open_ if reading.first <= reading.last]
    name = "micro_batches/before" if backwards else "micro_batches/from"
    # Read as many rows as wanted. If some rows are missing or unwanted, continue with more rows.
    size = limit
    while open_:
        rows = tx.rows(
            name,
            stretches=[
                {"n": r.n, "query": r.of.query, "first": r.first, "last": r.last, "begin": r.of.begin, "end": r.of.end}
                for r in open_
            ],
            size=segment.SIZE,
            places=segment.PLACES,
            blocks=min(segment.BLOCKS, _spanned(size, segment.PLACES)),
            segments=min(_MOST_SEGMENTS, _spanned(size, segment.SIZE)),
        )
        by_stretch: dict[int, list[Any]] = {}
        for row in rows:
            by_stretch.setdefault(row["n"], []).append(row)
        for reading in open_:
            _take(tx, reading, by_stretch.get(reading.n, []), limit, wanted, backwards=backwards)
        open_ = [reading for reading in open_ if reading.first <= reading.last]
        size = min(4 * size, _MOST_SEGMENTS * segment.SIZE)
    return [reading.found for reading in readings]


_MOST_SEGMENTS = 16


def _spanned(size: int, places: int) -> int:
    """Return the maximum number of blocks (or segments) of `places` that `size` consecutive micro-batches span."""
    return (size + 2 * places - 2) // places


def _take(
    tx: Transaction, reading: _Reading, rows: Sequence[Any], limit: int, wanted: Wanted, *, backwards: bool
) -> None:
    """Take the rows that were read for a range, and continue the range behind these rows. Without rows, it is done."""
    if not rows:
        reading.first = reading.last + 1
    for row in rows:
        place, blocks = _segment(row["properties"], row["blocks"])
        numbers = [number for number, _ in row["blocks"]]
        for batch_id, slot in _slots(place, blocks, numbers, backwards=backwards):
            if not reading.first <= batch_id <= reading.last:
                continue
            each = StoredMicroBatch(Identities.of(tx), place, batch_id, slot)
            if reading.takes(each, wanted) and len(reading.found) == limit:
                reading.first = reading.last + 1
                return
        whole = min(numbers) <= 0 if backwards else max(numbers) >= segment.BLOCKS - 1
        if backwards:
            reading.last = (place.start if whole else place.start + min(numbers) * segment.PLACES) - 1
        else:
            reading.first = place.start + (segment.SIZE if whole else (max(numbers) + 1) * segment.PLACES)
        if not whole:
            return


def _take_loaded(
    known: Mapping[tuple[str, int], _Whole | None], reading: _Reading, limit: int, wanted: Wanted, *, backwards: bool
) -> None:
    """Take micro-batches from cached segments, up to the first that isn't cached."""
    while reading.first <= reading.last:
        begin = reading.last if backwards else reading.first
        number = at(begin).segment
        if (reading.of.query, number) not in known:
            return
        whole = known[reading.of.query, number]
        for each in whole.found(begin, backwards=backwards) if whole is not None else ():
            if not reading.first <= each.batch_id <= reading.last:
                break
            if reading.takes(each, wanted) and len(reading.found) == limit:
                reading.first = reading.last + 1
                return
        if backwards:
            reading.last = number * segment.SIZE - 1
        else:
            reading.first = (number + 1) * segment.SIZE


def _slots(place: Place, blocks: Stored, numbers: Sequence[int], *, backwards: bool) -> Iterator[tuple[int, Slot]]:
    for number in sorted(numbers, reverse=backwards):
        found = list(blocks.slots(place, number).items())
        yield from reversed(found) if backwards else found


def _segment(properties: Mapping[str, Any], blocks: Sequence[tuple[int, Any]]) -> tuple[Place, Stored]:
    return Place.of(properties), Stored.of(
        {**properties, **{block_property(n): data for n, data in blocks if data is not None}}
    )


def processing_time(interval: IntervalFacts) -> datetime | None:
    """Start of a micro-batch, where known."""
    _, time = interval.variants[interval.winner].registers.get("processing_time", ("", None))
    return time if isinstance(time, datetime) else None


def retired(tx: Transaction, queries: Iterable[str]) -> dict[str, Ranges]:
    """Batch ids whose micro-batches aren't stored individually, by key of the query; other queries are left out."""
    rows = tx.rows("micro_batches/retired", queries=sorted(set(queries)))
    return {row["query"]: retired_of(row["retired"]) for row in rows}


def at_batches(tx: Transaction, wanted: Iterable[tuple[str, int]]) -> list[IntervalFacts]:
    """Micro-batches by key of the query and batch id; unknown micro-batches are left out."""
    stretches = [Stretch(query, batch_id, batch_id) for query, batch_id in wanted]
    in_segments: dict[tuple[str, int], list[Stretch]] = {}
    for stretch in stretches:
        in_segments.setdefault((stretch.query, at(stretch.first).segment), []).append(stretch)
    # A segment with several of these batch ids is read once.
    load(tx, [together[0] for together in in_segments.values() if len(together) > 1])
    return [interval for found in following(tx, stretches, 1) for interval in found]


def row(interval: IntervalFacts) -> dict[str, Any]:
    """Convert a micro-batch to properties and uses (type, dataset's key, properties of each). Times are datetimes."""
    winner = interval.winner
    return _row("Interval", dict(interval.identity), winner, interval.variants[winner])


def conflicts(interval: IntervalFacts) -> list[dict[str, Any]]:
    """Conflicting reports of a micro-batch, which have other source end positions, as rows."""
    return [
        _row("Conflict", conflict_identity(interval, digest), digest, variant)
        for digest, variant in sorted(interval.variants.items())
        if digest != interval.winner
    ]


def as_shown(identities: Identities, interval: IntervalFacts) -> IntervalFacts:
    """Translate a micro-batch's datasets to the names that answers show; reports that become equal are merged.

    Merged reports have the digest of the winning report.
    """
    keys = dict.fromkeys(use.dataset for variant in interval.variants.values() for use in variant.uses)
    identities.look_at(keys)
    shown = {key: other for key in keys if (other := identities.shown(key)) != key}
    if not shown:
        return interval
    ranked = sorted(interval.variants, key=lambda digest: (interval.variants[digest].rank, digest), reverse=True)
    digests: dict[tuple[object, ...], str] = {}
    variants: dict[str, Variant] = {}
    for digest in ranked:
        variant = interval.variants[digest]
        named = Variant(dict(variant.registers), _under(shown, variant.uses))
        first = digests.setdefault(_ends(named), digest)
        if first == digest:
            variants[digest] = named
        else:
            variants[first].join(named)
    return IntervalFacts(interval.identity, interval.query, interval.batch_id, variants)


def _under(shown: Mapping[str, str], uses: Mapping[UseKey, Registers]) -> dict[UseKey, Registers]:
    """Translate uses to the shown names of datasets. Two uses in one report aren't merged."""
    out: dict[UseKey, Registers] = {}
    for use, registers in uses.items():
        other = use._replace(dataset=shown.get(use.dataset, use.dataset))
        while other in out:
            other = other._replace(ordinal=other.ordinal + 1)
        out[other] = dict(registers)
        if MADE_FROM in registers:
            stamp, sources = registers[MADE_FROM]
            names = sorted({shown.get(str(key), str(key)) for key in sources}) if isinstance(sources, list) else sources
            out[other][MADE_FROM] = (stamp, names)
    return out


def _ends(variant: Variant) -> tuple[object, ...]:
    """End position in each dataset that a report read; this identifies the report (`identity.source_end_digest`)."""
    ends = [
        (use.dataset, *end_of(registers["position"][1] if "position" in registers else {}))
        for use, registers in variant.uses.items()
        if use.type is RelType.CONSUMED
    ]
    return tuple(sorted(ends, key=repr))


def _row(label: str, identity: Props, digest: str, variant: Variant) -> dict[str, Any]:
    tenant, key = str(identity["tenant"]), str(identity["key"])
    uses = [
        (use.type.value, use.dataset, use_properties(tenant, key, use, registers))
        for use, registers in variant.uses.items()
    ]
    properties = {**identity, "source_end_digest": digest, **flatten(variant.registers)}
    return {"n": 0, "label": label, "properties": properties, "uses": uses}


def joint(before: IntervalFacts | None, interval: IntervalFacts) -> Props | None:
    """Properties of NEXT from one known micro-batch to the next; None if no micro-batch comes before.

    Skipped offsets in a topic that was recreated in between are a gap, too.
    """
    if before is None:
        return None
    earlier, later = neighbour_of(before), neighbour_of(interval)
    found = next_properties(earlier, later)
    for dataset, partition, start in skipped(earlier, later):
        for name, value in (("datasets", dataset), ("partitions", partition), ("from", 0), ("to_exclusive", start)):
            found[f"gap_{name}"] = [*found.get(f"gap_{name}", ()), value]  # type: ignore[misc]
    return found


def rewinds(tx: Transaction, queries: Mapping[str, Sequence[int]]) -> dict[str, tuple[int, ...]]:
    """Return the batches at which a query's offsets go back, in ascending order.

    The list of a segment covers offsets of all its datasets. So for an asker who may not see all these datasets, each
    batch is compared with the batch before it.

    Args:
        queries: batch ids in the lists of a query's segments, by key of the query.
    """
    if tx.visible is None:
        return {query: tuple(sorted(batches)) for query, batches in queries.items()}
    asked = [(query, batch) for query, batches in queries.items() for batch in sorted(batches)]
    left: dict[str, tuple[int, ...]] = dict.fromkeys(queries, ())
    stretches = [Stretch(query, last=batch) for query, batch in asked]
    for (query, batch), both in zip(asked, stored_batches(tx, stretches, 2, backwards=True), strict=True):
        reported = [each.reported() for each in both]
        if len(both) == 2 and "rewinds" in next_properties(*map(neighbour_of, reversed(reported))):
            left[query] += (batch,)
    return left


def is_anew(before: IntervalFacts, interval: IntervalFacts) -> bool:
    """Return whether a topic was recreated between two micro-batches."""
    return other_incarnation(neighbour_of(before), neighbour_of(interval))


def befores(tx: Transaction, intervals: Sequence[IntervalFacts], *, every: bool = True) -> list[IntervalFacts | None]:
    """Return the known micro-batch before each micro-batch.

    Args:
        intervals: micro-batches by query, in batch order.
        every: whether `intervals` has all known micro-batches between each query's first and last one.
    """
    known: dict[int, IntervalFacts] = {}
    for n, (one, other) in enumerate(pairwise(intervals), 1):
        if one.query == other.query and (every or one.batch_id + 1 == other.batch_id):
            known[n] = one
    asked = [n for n in range(len(intervals)) if n not in known]
    stretches = [Stretch(intervals[n].query, last=intervals[n].batch_id - 1) for n in asked]
    for n, found in zip(asked, preceding(tx, stretches, 1), strict=True):
        if found:
            known[n] = found[0]
    return [known.get(n) for n in range(len(intervals))]
