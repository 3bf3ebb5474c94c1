"""Reach of an incident as an event records it, and the differences between a recorded reach and today's reach."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, Final

import msgspec

from headwater_analysis.assets import Asset
from headwater_analysis.blast.tainted import Superseded
from headwater_analysis.incidents.answers import IncidentReach, ReachChange, RecordedReach
from headwater_analysis.trace.traced_parts import Part, surest
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
MOST_BYTES: Final = 400_000
"""Maximum bytes of the datasets recorded with all their parts (the nearest); others have one part, file or range."""


@dataclass(slots=True)
class CollectedDataset:
    """A dataset of a reach, with the bad data that began there and the bad data that was derived there.

    Attributes:
        asset: the dataset.
        depth: least number of hops from the bad records; 0: bad data began here.
        parts: parts that hold bad data.
        gone: parts that held bad data.
        certainties: certainties with which bad data reached the dataset.
    """

    asset: Asset
    depth: int
    parts: list[Part] = field(default_factory=list)
    gone: list[Superseded] = field(default_factory=list)
    certainties: list[Certainty] = field(default_factory=list)

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
    return sorted(found.values(), key=lambda one: (one.depth, one.asset.namespace, one.asset.name))


def reached(reach: IncidentReach) -> tuple[ReachedDataset, ...]:
    """Datasets of a reach as a REACHED event has them, ascending by namespace and name."""
    listed, size = [], 0
    for one in collected(reach)[:MOST_DATASETS]:
        whole = _dataset(one)
        size += len(msgspec.json.encode(whole))
        listed.append(whole if size <= MOST_BYTES else _dataset(one, most=1))
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
    before = {_name(one.dataset): one for one in state.reached}
    return RecordedReach(
        as_of=state.reached_as_of,
        complete=bool(state.reached_complete),
        datasets=sum(not one.cleared for one in state.reached),
        cleared=sum(one.cleared for one in state.reached),
        changes=() if reach is None else changes(before, {_name(one.dataset): one for one in reached(reach)}),
    )


def changes(before: Mapping[str, ReachedDataset], now: Mapping[str, ReachedDataset]) -> tuple[ReachChange, ...]:
    """Compare two records. Both map names of datasets to the datasets."""
    found = []
    for name in sorted(before.keys() | now.keys()):
        old, new = before.get(name), now.get(name)
        if new is None:
            found.append(ReachChange(dataset=name, change="NOT_REACHED"))
        elif old is None or (old.cleared and not new.cleared):
            found.append(ReachChange(dataset=name, change="CLEARED" if new.cleared else "REACHED"))
        elif new.cleared and not old.cleared:
            found.append(ReachChange(dataset=name, change="CLEARED"))
        elif new.digest != old.digest:
            found.append(ReachChange(dataset=name, change="CHANGED"))
    return tuple(found)


def _name(ref: DatasetRef) -> str:
    return spelling(ref.namespace, ref.name)


def _dataset(found: CollectedDataset, most: int = MOST_PARTS) -> ReachedDataset:
    parts = sorted(found.parts, key=_text)
    return ReachedDataset(
        dataset=DatasetRef(found.asset.namespace, found.asset.name),
        depth=found.depth,
        certainty=surest(found.certainties),
        since=found.since,
        cleared=not parts,
        parts=tuple(_part(part, most) for part in parts[:most]),
        part_count=len(parts),
        digest=hashlib.sha256("\n".join(map(_text, parts)).encode()).hexdigest(),
    )


def _part(part: Part, most: int) -> ReachedPart:
    return ReachedPart(
        certainty=part.certainty,
        topic_id=part.topic_id,
        offsets=tuple(OffsetRange(span.partition, span.start, span.end) for span in part.offsets[:most]) or None,
        files=part.files[:most] or None,
        file_count=part.file_count,
        format=part.format,
        version=part.version,
        from_version=part.from_version,
        partitions=part.partitions[:most] or None,
        position=part.text,
        since=part.since,
        until=part.until,
    )


def _text(part: Part) -> str:
    """All fields of a part except its dataset and rows as one text, which is equal only for equal parts."""
    values: Iterable[Any] = (getattr(part, each.name) for each in fields(part) if each.name not in ("dataset", "rows"))
    return msgspec.json.encode(list(values)).decode()
