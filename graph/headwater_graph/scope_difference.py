"""Difference of two parts of an incident's scope: by offsets, files, micro-batches or times."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from math import inf

import msgspec

from headwater_graph.facts.spans import Spans, difference, flat, intersection, union
from headwater_schemas.events import IncidentScope, OffsetRange

_EARLIEST, _LATEST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


def lies_within(part: IncidentScope, whole: IncidentScope) -> bool:
    """Return whether all data of a part is in another part that differs in offsets, files, micro-batches or times."""
    return without(part, whole) == []


def without(one: IncidentScope, part: IncidentScope) -> list[IncidentScope] | None:
    """Return what remains of a part of a scope without the data of another part.

    None: they have no common offsets, files, micro-batches or times, or differ in something else.
    """
    for fields, rest in (
        (("offsets",), _offsets),
        (("files",), _files),
        (("from_batch", "to_batch"), _batches),
        (("since", "until"), _times),
    ):
        unset = dict.fromkeys(fields)
        if msgspec.structs.replace(one, **unset) == msgspec.structs.replace(part, **unset):
            return rest(one, part)
    return None


def _offsets(one: IncidentScope, part: IncidentScope) -> list[IncidentScope] | None:
    if one.offsets is None or part.offsets is None:
        return None
    has, taken = _spans(one.offsets), _spans(part.offsets)
    if not intersection(has, taken):
        return None
    left = tuple(OffsetRange(*each) for each in flat(difference(has, taken)))
    return [msgspec.structs.replace(one, offsets=left)] if left else []


def _spans(offsets: Iterable[OffsetRange]) -> Spans:
    return union((each.partition, each.from_, each.to_exclusive) for each in offsets)


def _files(one: IncidentScope, part: IncidentScope) -> list[IncidentScope] | None:
    if one.files is None or part.files is None or not set(one.files) & set(part.files):
        return None
    left = tuple(path for path in one.files if path not in part.files)
    return [msgspec.structs.replace(one, files=left)] if left else []


def _batches(one: IncidentScope, part: IncidentScope) -> list[IncidentScope] | None:
    (first, end), (taken_first, taken_end) = (
        (each.from_batch or 0, inf if each.to_batch is None else each.to_batch + 1) for each in (one, part)
    )
    if not (first < taken_end and taken_first < end):
        return None
    left = []
    if first < taken_first:
        left.append(msgspec.structs.replace(one, to_batch=taken_first - 1))
    if taken_end < end:
        left.append(msgspec.structs.replace(one, from_batch=int(taken_end)))
    return left


def _times(one: IncidentScope, part: IncidentScope) -> list[IncidentScope] | None:
    (since, until), (taken_since, taken_until) = (
        (each.since or _EARLIEST, each.until or _LATEST) for each in (one, part)
    )
    if not (since < taken_until and taken_since < until):
        return None
    left = []
    if since < taken_since:
        left.append(msgspec.structs.replace(one, until=taken_since))
    if taken_until < until:
        left.append(msgspec.structs.replace(one, since=taken_until))
    return left
