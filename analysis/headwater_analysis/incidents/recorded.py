"""Reach of an incident as an event records it, and the differences between a recorded reach and today's reach."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import Any, Final

import msgspec

from headwater_analysis.assets import Asset
from headwater_analysis.blast.tainted import Superseded
from headwater_analysis.incidents.answers import IncidentReach, ReachChange, RecordedReach
from headwater_analysis.trace.traced_parts import Hop, OffsetSpan, Part, PartKind, offsets, spans_of, surest
from headwater_graph.facts.spans import difference
from headwater_graph.incidents import IncidentState
from headwater_schemas.events import (
    Certainty,
    DatasetRef,
    IncidentAction,
    IncidentEvent,
    OffsetRange,
    ReachedDataset,
    ReachedPart,
)
from headwater_schemas.naming import spelling

MOST_DATASETS: Final = 1_000
"""Maximum number of datasets in an event: the nearest to the bad records. A larger reach is recorded incompletely."""
MOST_PARTS: Final = 100
"""Maximum number of parts of a dataset, and of files and offset ranges of a part, that an event names."""
MOST_WRITERS: Final = 100
"""Maximum number of steps that an answer names as writers of what is new in a dataset."""
MOST_BYTES: Final = 400_000
"""Maximum bytes of the datasets recorded with their parts (the nearest); others have a digest of them only."""


@dataclass(slots=True)
class CollectedDataset:
    """A dataset of a reach, with the bad data that began there and the bad data that was derived there.

    Attributes:
        asset: the dataset.
        depth: least number of hops from the bad records; 0: bad data began here.
        parts: parts that hold bad data.
        gone: parts that held bad data.
        certainties: certainties with which bad data reached the dataset.
        hops: numbers of the steps of the blast radius that wrote bad data to the dataset.
    """

    asset: Asset
    depth: int
    parts: list[Part] = field(default_factory=list)
    gone: list[Superseded] = field(default_factory=list)
    certainties: list[Certainty] = field(default_factory=list)
    hops: set[int] = field(default_factory=set)

    @property
    def since(self) -> datetime | None:
        """Earliest time at which bad data was written to the dataset; None: not known."""
        times = [part.since for part in (*self.parts, *(each.part for each in self.gone))]
        known = [time for time in times if time is not None]
        return min(known) if known and len(known) == len(times) else None


def collected(reach: IncidentReach) -> list[CollectedDataset]:
    """List the datasets of a reach, each once, the nearest to the bad records first."""
    found: dict[str, CollectedDataset] = {}
    # If the scope names bad records, the output of their first readers is one hop away.
    shift = 1 if reach.start and not any(hop.depth == 0 for hop in reach.blast.hops) else 0
    for each, depth in [
        *((each, 0) for each in reach.start),
        *((each, each.depth + shift) for each in reach.blast.tainted),
    ]:
        one = found.setdefault(each.dataset.key, CollectedDataset(each.dataset, depth))
        one.parts += each.parts
        one.gone += each.superseded
        one.certainties.append(each.certainty)
        one.hops.update(each.hops)
    return sorted(found.values(), key=lambda one: (one.depth, one.asset.namespace, one.asset.name))


def reached(reach: IncidentReach) -> tuple[ReachedDataset, ...]:
    """Datasets of a reach as a REACHED event has them, ascending by namespace and name."""
    listed, size = [], 0
    for one in collected(reach)[:MOST_DATASETS]:
        whole = _dataset(one)
        size += len(msgspec.json.encode(whole))
        listed.append(whole if size <= MOST_BYTES else msgspec.structs.replace(whole, parts=()))
    return tuple(sorted(listed, key=lambda one: (one.dataset.namespace, one.dataset.name)))


def reached_event(incident: str, reach: IncidentReach, *, by: str, reason: str | None = None) -> IncidentEvent:
    """Build the action that records a reach."""
    return IncidentEvent(
        incident=incident,
        action=IncidentAction.REACHED,
        by=by,
        reason=reason,
        reached=reached(reach),
        as_of=reach.as_of,
        complete=is_record_complete(reach),
    )


def is_record_complete(reach: IncidentReach) -> bool:
    """Return whether a reach is complete, and a record has all of its datasets."""
    return reach.complete and len({each.dataset.key for each in reach.tainted}) <= MOST_DATASETS


def recorded(state: IncidentState, reach: IncidentReach | None) -> RecordedReach | None:
    """Build the answer about the latest recorded reach; None: none is recorded.

    Args:
        reach: today's reach, for the differences; None: no differences are listed.
    """
    if state.reached is None or state.reached_as_of is None:
        return None
    return RecordedReach(
        as_of=state.reached_as_of,
        complete=bool(state.reached_complete),
        datasets=sum(not one.cleared for one in state.reached),
        cleared=sum(one.cleared for one in state.reached),
        changes=() if reach is None else changes(state.reached, reach),
    )


def changes(record: Iterable[ReachedDataset], reach: IncidentReach) -> tuple[ReachChange, ...]:
    """List the differences between a record and today's reach, by name of the dataset."""
    before = {spelling(one.dataset.namespace, one.dataset.name): one for one in record}
    now = {spelling(one.asset.namespace, one.asset.name): one for one in collected(reach)[:MOST_DATASETS]}
    hops = {hop.number: hop for hop in reach.blast.hops}
    found = []
    for name in sorted(before.keys() | now.keys()):
        old, new = before.get(name), now.get(name)
        if new is None:
            found.append(ReachChange(dataset=name, change="NOT_REACHED"))
        elif old is None or (old.cleared and new.parts):
            steps = [hop.step for hop in _writers(new, hops) if old is None or _made(hop, new.asset, new.parts)]
            change = "REACHED" if new.parts else "CLEARED"
            found.append(ReachChange(dataset=name, change=change, by=tuple(steps[:MOST_WRITERS]), by_total=len(steps)))
        elif not new.parts and not old.cleared:
            found.append(ReachChange(dataset=name, change="CLEARED"))
        elif _digest(new.parts) != old.digest:
            found.append(_changed(name, old, new, hops))
    return tuple(found)


def _writers(found: CollectedDataset, hops: Mapping[int, Hop]) -> list[Hop]:
    return [hops[number] for number in sorted(found.hops) if number in hops]


def _made(hop: Hop, dataset: Asset, parts: Iterable[Part]) -> bool:
    """Return whether a step wrote some data of parts of a dataset; of parts without ranges and files, maybe."""
    made = [each for each in hop.outputs if each.dataset.key == dataset.key]
    listed = [part for part in parts if part.offsets or part.files]
    kinds = {part.kind for part in parts if not (part.offsets or part.files)}
    return _beyond(listed, made) != _beyond(listed, ()) or any(each.kind in kinds for each in made)


def _changed(name: str, old: ReachedDataset, new: CollectedDataset, hops: Mapping[int, Hop]) -> ReachChange:
    before = [_part_of(each, new.asset) for each in old.parts]
    is_cut = len(before) < old.part_count or any(MOST_PARTS in (len(one.offsets), len(one.files)) for one in before)
    every = [*before, *new.parts]
    added = () if is_cut else _beyond(new.parts, before)
    steps = [hop.step for hop in _writers(new, hops) if _made(hop, new.asset, added)]
    return ReachChange(
        dataset=name,
        change="CHANGED",
        new=added,
        gone=_beyond(before, new.parts),
        by=tuple(steps[:MOST_WRITERS]),
        by_total=len(steps),
        exact=not is_cut and len({part.kind for part in every}) == 1 and all(map(_is_listed, every)),
    )


def _is_listed(part: Part) -> bool:
    """Return whether a part is known as ranges, as files that are all listed, or as a whole version."""
    if part.kind is PartKind.FILES:
        return part.file_count == len(part.files)
    return part.kind is PartKind.OFFSETS or (part.kind is PartKind.SNAPSHOT and not part.partitions)


def _beyond(parts: Iterable[Part], others: Sequence[Part]) -> tuple[Part, ...]:
    """Ranges, files and other parts that aren't among the others. Certainties aren't compared."""
    files = {path for other in others for path in other.files}
    whole = set(map(_position, others))
    found = []
    for part in parts:
        if part.offsets:
            # A part without the topic's id may be of any incarnation.
            same = (each for each in others if None in (each.topic_id, part.topic_id) or each.topic_id == part.topic_id)
            held = spans_of(span for each in same for span in each.offsets)
            if left := offsets(difference(spans_of(part.offsets), held)):
                found.append(replace(part, offsets=left, rows=None))
        elif part.files:
            if more := tuple(path for path in part.files if path not in files):
                found.append(replace(part, files=more, file_count=len(more), rows=None))
        elif _position(part) not in whole:
            found.append(part)
    return tuple(found)


def _position(part: Part) -> str:
    """All fields of a part that a record has, except its certainty, as one text."""
    return _text(replace(part, kind=PartKind.UNKNOWN, certainty=Certainty.UNKNOWN, possible=False))


def _part_of(one: ReachedPart, dataset: Asset) -> Part:
    """Read a recorded part: the inverse of `_part`. `rows` and `possible` aren't recorded."""
    kinds = {
        PartKind.OFFSETS: one.offsets or one.topic_id,
        PartKind.FILES: one.files or one.file_count is not None,
        PartKind.CHANGES: one.from_version,
        PartKind.SNAPSHOT: one.version,
        PartKind.OTHER: one.position,
    }
    return Part(
        dataset=dataset,
        kind=next((kind for kind, is_set in kinds.items() if is_set), PartKind.UNKNOWN),
        certainty=one.certainty,
        topic_id=one.topic_id,
        offsets=tuple(OffsetSpan(span.partition, span.from_, span.to_exclusive) for span in one.offsets or ()),
        files=one.files or (),
        file_count=one.file_count,
        format=one.format,
        version=one.version,
        from_version=one.from_version,
        partitions=one.partitions or (),
        text=one.position,
        since=one.since,
        until=one.until,
    )


def _dataset(found: CollectedDataset) -> ReachedDataset:
    parts = sorted(found.parts, key=_text)
    return ReachedDataset(
        dataset=DatasetRef(found.asset.namespace, found.asset.name),
        depth=found.depth,
        certainty=surest(found.certainties),
        since=found.since,
        cleared=not parts,
        parts=tuple(map(_part, parts[:MOST_PARTS])),
        part_count=len(parts),
        digest=_digest(parts),
    )


def _digest(parts: Iterable[Part]) -> str:
    return hashlib.sha256("\n".join(sorted(map(_text, parts))).encode()).hexdigest()


def _part(part: Part) -> ReachedPart:
    return ReachedPart(
        certainty=part.certainty,
        topic_id=part.topic_id,
        offsets=tuple(OffsetRange(span.partition, span.start, span.end) for span in part.offsets[:MOST_PARTS]) or None,
        files=part.files[:MOST_PARTS] or None,
        file_count=part.file_count,
        format=part.format,
        version=part.version,
        from_version=part.from_version,
        partitions=part.partitions[:MOST_PARTS] or None,
        position=part.text,
        since=part.since,
        until=part.until,
    )


def _text(part: Part) -> str:
    """All fields of a part except its dataset and rows as one text, which is equal only for equal parts."""
    values: Iterable[Any] = (getattr(part, each.name) for each in fields(part) if each.name not in ("dataset", "rows"))
    return msgspec.json.encode(list(values)).decode()
