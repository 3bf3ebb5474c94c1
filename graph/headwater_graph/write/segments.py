"""Writes micro-batches into the segments of their query.

Nearly every micro-batch comes after all others of its query, and is appended. A late or repeated micro-batch is joined
with the stored facts, and changes a segment only if it adds something new. The query is locked, so a segment doesn't
change after it was read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from headwater_graph.derive import BatchPositions, neighbour_of
from headwater_graph.facts.delta import GraphDelta
from headwater_graph.facts.model import RelType, UseKey
from headwater_graph.facts.nodes import IntervalFacts
from headwater_graph.facts.summaries import reports_of
from headwater_graph.keys import use_key
from headwater_graph.segments import segment
from headwater_graph.segments.lists import OFFSETS
from headwater_graph.segments.segment import Place, Stored, at
from headwater_graph.segments.slots import DatasetName, Slot, take_apart
from headwater_graph.segments.summary import NOTHING, StoredSummary, Summary, UsedRanges, summarize
from headwater_graph.write.bolt import bolt_time, from_bolt, to_bolt
from headwater_graph.write.transaction import IndexedRows, WriteTransaction


@dataclass(frozen=True, slots=True)
class Incoming:
    """Micro-batches of one segment in a delta, by ascending batch id, with their slots in case of an append."""

    place: Place
    intervals: Mapping[int, IntervalFacts]
    slots: dict[int, Slot]


@dataclass(slots=True)
class SegmentRows:
    """Micro-batches of a delta by segment.

    Attributes:
        names: names of the datasets that the micro-batches used, by key.
    """

    segments: dict[str, Incoming] = field(default_factory=dict)
    names: dict[str, DatasetName] = field(default_factory=dict)

    def add(self, place: Place, intervals: Mapping[int, IntervalFacts]) -> None:
        """Add micro-batches of one segment, by ascending batch id. `names` must already name their datasets."""
        slots = {
            batch_id: take_apart(place.owner, batch_id, interval.variants, self.names)
            for batch_id, interval in intervals.items()
        }
        self.segments[place.key] = Incoming(place, intervals, slots)


def segment_rows(delta: GraphDelta) -> SegmentRows:
    """Group the micro-batches of a delta by segment."""
    rows = SegmentRows()
    if not delta.intervals:
        return rows
    for key, dataset in delta.datasets.items():
        rows.names[key] = DatasetName(str(dataset.identity["namespace"]), str(dataset.identity["name"]))
    places: dict[tuple[str, int], Place] = {}
    grouped: dict[tuple[str, int], dict[int, IntervalFacts]] = defaultdict(dict)
    for interval in sorted(delta.intervals.values(), key=lambda interval: interval.batch_id):
        group = interval.query, interval.batch_id // segment.SIZE
        if group not in places:
            query = delta.queries[interval.query].identity
            places[group] = Place(str(query["tenant"]), str(query["query_id"]), *group)
        grouped[group][interval.batch_id] = interval
    for group, place in sorted(places.items()):
        rows.add(place, grouped[group])
    return rows


@dataclass(slots=True)
class _Segment:
    """A segment that was read, or is to be written.

    Attributes:
        place: address of the segment.
        before: stored summary; `NOTHING` if the segment isn't stored yet.
        after: summary after the write.
        properties: blocks to set, with None for blocks to remove; None if nothing is written.
        first, last: its first and last micro-batch, if known.
        whole: whether `after` covers all micro-batches of the segment, so that its versions are complete.
    """

    place: Place
    before: StoredSummary
    after: Summary
    properties: dict[str, Any] | None = None
    first: BatchPositions | None = None
    last: BatchPositions | None = None
    whole: bool = False

    @property
    def new(self) -> bool:
        return self.before is NOTHING


def write_segments(tx: WriteTransaction, rows: SegmentRows) -> None:
    """Append or join the micro-batches."""
    if not rows.segments:
        return
    segments: dict[str, _Segment] = {}
    neighbours: list[dict[str, Any]] = []
    to_rebuild: list[str] = []
    wanted = [
        {
            "key": key,
            "start": incoming.place.start,
            "places": segment.PLACES,
            "blocks": sorted({at(batch_id).block for batch_id in incoming.intervals}),
            "first": min(incoming.intervals),
            "last": max(incoming.intervals),
            "tail": segment.TAIL,
        }
        for key, incoming in sorted(rows.segments.items())
    ]
    found: dict[str, Any] = {row[0]: row for row in tx.find_rows("segments", wanted)}
    for key, incoming in rows.segments.items():
        if key not in found:
            segments[key] = _new_segment(incoming)
            continue
        _, properties, blocks_and_lists, runs, uses, has_next = found[key]
        stored = from_bolt(properties) | {name: value for name, value in blocks_and_lists if value is not None}
        blocks = Stored.of(stored)
        if min(incoming.intervals) > stored["last_batch"]:
            segments[key] = _appended(incoming, blocks, StoredSummary.of(stored, runs, uses))
            if has_next:
                neighbours.append(_after(incoming.place))
        elif _adds(incoming, blocks):
            late = put_in(incoming, blocks, StoredSummary.of(stored, runs, uses), rows.names)
            if late is None:
                to_rebuild.append(key)
                continue
            segments[key] = late
            if has_next:
                neighbours.append(_after(incoming.place))
    for key, properties, runs, uses in tx.find_rows("whole_segments", to_rebuild):
        stored = from_bolt(properties)
        segments[key] = _joined(rows, key, Stored.of(stored), StoredSummary.of(stored, runs, uses))
    neighbours += [
        {"query": one.place.query, "start": one.place.start, "sides": ["before", "after"]}
        for one in segments.values()
        if one.whole
    ]
    links = _join_to_neighbours(segments, _read_neighbours(tx, neighbours, segments))
    _send(tx, segments, links)


def _after(place: Place) -> dict[str, Any]:
    """Row that reads a segment whose last micro-batch changes, and the segment after it."""
    return {"query": place.query, "start": place.start, "sides": ["after", "self"]}


def _new_segment(incoming: Incoming) -> _Segment:
    after, last = summarize(incoming.place.tenant, incoming.intervals, None)
    first = neighbour_of(next(iter(incoming.intervals.values())))
    properties = Stored().appended(incoming.slots)
    return _Segment(incoming.place, NOTHING, after, properties, first, last, whole=True)


def _appended(incoming: Incoming, blocks: Stored, before: StoredSummary) -> _Segment:
    place, after = incoming.place, Summary.of(before)
    last = after.add_all(place.tenant, incoming.intervals.values(), blocks.last(place))
    return _Segment(place, before, after, blocks.appended(incoming.slots), None, last)


def _adds(incoming: Incoming, blocks: Stored) -> bool:
    """Return True if micro-batches change anything in the blocks that hold them."""
    place = incoming.place
    known = blocks.some(place, {}, incoming.intervals)
    for batch_id in incoming.intervals:
        if batch_id not in known:
            return True
        joined = place.interval(batch_id)
        joined.join(known[batch_id])
        joined.join(incoming.intervals[batch_id])
        if joined != known[batch_id]:
            return True
    return False


def put_in(
    incoming: Incoming, blocks: Stored, before: StoredSummary, names: Mapping[str, DatasetName]
) -> _Segment | None:
    """Return the segment after adding slightly late micro-batches; None if it has to be rebuilt completely.

    Only the last few stored micro-batches are removed and added again, from the first late micro-batch on. They are in
    the open block and have the same layout (`_layout`). Later micro-batches are appended.
    """
    place, cut, last_batch = incoming.place, min(incoming.intervals), before.node["last_batch"]
    if at(cut).block != blocks.open_at:
        return None
    slots = blocks.slots(place, blocks.open_at)
    earlier = max((batch_id for batch_id in slots if batch_id < cut), default=None)
    if earlier is None:
        return None
    known = dict(names)
    facts = {
        batch_id: segment.put_slot_together(place, batch_id, slot, known)
        for batch_id, slot in slots.items()
        if batch_id >= earlier
    }
    layout = _layout(facts[earlier])
    stored = {batch_id: interval for batch_id, interval in facts.items() if batch_id > earlier}
    if layout is None or any(_layout(interval) != layout for interval in stored.values()):
        return None
    after = Summary.of(before)
    last: BatchPositions | None = neighbour_of(facts[earlier])
    if stored:
        after.take_back(stored)
    after_last = {batch_id: one for batch_id, one in incoming.intervals.items() if batch_id > last_batch}
    for batch_id in incoming.intervals.keys() - after_last.keys():
        facts_now = _joined_late(stored.get(batch_id), incoming.intervals[batch_id])
        if facts_now is None or _layout(facts_now) != layout:
            return None
        stored[batch_id], slots[batch_id] = facts_now, take_apart(place.owner, batch_id, facts_now.variants, known)
    last = after.add_all(place.tenant, (interval for _, interval in sorted(stored.items())), last)
    last = after.add_all(place.tenant, after_last.values(), last)
    slots |= {batch_id: incoming.slots[batch_id] for batch_id in after_last}
    return _Segment(place, before, after, blocks.reopened(dict(sorted(slots.items()))), None, last)


def _joined_late(stored: IntervalFacts | None, incoming: IntervalFacts) -> IntervalFacts | None:
    """Join a late micro-batch with the stored one; None if this may change a bound of the summary."""
    if stored is None:
        return incoming
    shown_before = reports_of(stored)
    stored.join(incoming)
    return stored if reports_of(stored) == shown_before else None


def _layout(interval: IntervalFacts) -> Mapping[UseKey, Any] | None:
    """Layout of a micro-batch: its uses, and the partitions of each.

    None for a micro-batch with conflicts, assertions or positions other than Kafka offsets.
    """
    if len(interval.variants) != 1:
        return None
    (variant,) = interval.variants.values()
    out: dict[UseKey, Any] = {}
    for use, registers in variant.uses.items():
        position: Any = registers.get("position", ("", {}))[1]
        if position and position["position"] != "kafka":
            return None
        out[use] = position.get("partitions")
    return None if "quality" in variant.registers else out


def _joined(rows: SegmentRows, key: str, blocks: Stored, before: StoredSummary) -> _Segment:
    incoming = rows.segments[key]
    place, names = incoming.place, dict(rows.names)
    intervals = blocks.read(place, names)
    for batch_id in incoming.intervals:
        intervals.setdefault(batch_id, place.interval(batch_id)).join(incoming.intervals[batch_id])
    intervals = dict(sorted(intervals.items()))
    touched = {at(batch_id).block for batch_id in incoming.intervals}
    rewritten = {batch_id: facts for batch_id, facts in intervals.items() if at(batch_id).block in touched}
    after, last = summarize(place.tenant, intervals, None)
    first = neighbour_of(next(iter(intervals.values())))
    return _Segment(place, before, after, blocks.rewritten(place, rewritten, names), first, last, whole=True)


def _read_neighbours(
    tx: WriteTransaction, rows: list[dict[str, Any]], segments: dict[str, _Segment]
) -> dict[str, _Segment]:
    """Read the stored segments next to the written segments."""
    out: dict[str, _Segment] = {}
    for properties, runs, uses in tx.find_rows("segments_beside", rows):
        stored = from_bolt(properties)
        place = Place.of(stored)
        blocks, before = Stored.of(stored), StoredSummary.of(stored, runs, uses)
        first, last = blocks.first(place), blocks.last(place)
        if place.key not in segments:
            out[place.key] = _Segment(place, before, Summary.of(before), None, first, last)
        elif segments[place.key].first is None:
            segments[place.key].first = first
    return out


def _join_to_neighbours(segments: dict[str, _Segment], others: dict[str, _Segment]) -> list[tuple[str, str]]:
    """Correct the links between segments, and return the pairs of keys with a new NEXT."""
    links: list[tuple[str, str]] = []
    written = set(segments)
    chains: dict[str, list[_Segment]] = defaultdict(list)
    for one in (*segments.values(), *others.values()):
        chains[one.place.query].append(one)
    for _, chain in sorted(chains.items()):
        chain.sort(key=lambda one: one.place.number)
        # The neighbours of created and joined segments have been read, and the successors of extended segments: such
        # pairs are adjacent in the chain. Between other pairs, there may be stored segments that weren't read.
        for earlier, later in pairwise(chain):
            if earlier.new or later.new:
                links.append((earlier.place.key, later.place.key))
            if later.first is None or earlier.last is None or not (earlier.place.key in written or later.whole):
                continue
            if later.after.join_to(earlier.last, later.first) and later.properties is None:
                later.properties = {}
                segments[later.place.key] = later
    return links


def _send(tx: WriteTransaction, segments: Mapping[str, _Segment], links: list[tuple[str, str]]) -> None:
    rows = IndexedRows("queries", "runs", "datasets", "versions")
    for key, one in sorted(segments.items()):
        rows.rows.append(_row(rows, key, one))
    tx.send_rows("forget", sorted(key for key, one in segments.items() if one.whole and not one.new))
    rows.send(tx, "update_segments")
    tx.send_rows("next", [list(link) for link in links])


def _row(rows: IndexedRows, key: str, one: _Segment) -> dict[str, Any]:
    place, before, after = one.place, one.before, one.after
    changed = _changed(before.node, after.properties(place.query))
    runs, datasets, versions = (rows.indexes[name] for name in ("runs", "datasets", "versions"))
    return {
        "key": key,
        "query": [rows.indexes["queries"].at(place.query)] if one.new else [],
        "properties": to_bolt((place.identity() if one.new else {}) | (one.properties or {}) | changed),
        "runs": [
            [runs.at(run), count]
            for run, count in sorted(after.runs.items())
            if one.whole or before.runs.get(run) != count
        ],
        **{
            type_.value.lower(): [
                {
                    "to": datasets.at(use.dataset),
                    "key": use_key(place.tenant, use.type, place.key, use.dataset, use.ordinal),
                    "properties": of,
                }
                for use, range_ in sorted(after.ranges.items())
                if use.type is type_ and (of := _use(use, before.uses.get(use), range_))
            ]
            for type_ in (RelType.CONSUMED, RelType.PRODUCED)
        },
        **{
            word: [
                [versions.at(version), use.batches, None if use.first_time is None else bolt_time(use.first_time)]
                for (type_, version), use in sorted(after.versions.items(), key=lambda item: item[0])
                if type_ is of
            ]
            for word, of in (("read", RelType.READ), ("wrote", RelType.WROTE))
        },
    }


def _use(use: UseKey, before: Mapping[str, Any] | None, after: UsedRanges) -> dict[str, Any]:
    """Changed properties of a relationship."""
    properties = after.properties()
    if before is None:
        return properties | ({"ordinal": use.ordinal} if use.ordinal else {})
    # A use that no longer has offsets also loses its lists.
    gone = {name: None for name in before if name.startswith(OFFSETS) and name not in properties}
    return gone | _changed(before, properties)


def _changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Return the properties that differ."""
    return {name: value for name, value in after.items() if value != before.get(name)}
