"""Difference of a scope and a part: whole parts, or offsets, files, micro-batches and times of parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from math import inf

import msgspec

from headwater_analysis.errors import QuestionError
from headwater_analysis.incidents.scope import part_line
from headwater_graph.facts.spans import Spans, difference, flat, intersection, union
from headwater_schemas.events import IncidentScope, OffsetRange
from headwater_schemas.identity import scope_text

_EARLIEST, _LATEST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ScopeChange:
    """Change of a scope.

    Attributes:
        removed: parts of the scope that it no longer has.
        added: parts that remain of those of which only some data was removed.
    """

    removed: tuple[IncidentScope, ...] = ()
    added: tuple[IncidentScope, ...] = ()


def scope_change(scope: Mapping[str, IncidentScope], removed: Iterable[IncidentScope]) -> ScopeChange:
    """Determine the change of a scope from which parts are removed.

    A part that isn't in the scope takes its offsets, files, micro-batches or times out of the parts that equal it in
    everything else.

    Args:
        scope: parts by their text.
        removed: parts to remove, one after the other.

    Raises:
        QuestionError: a part is none of the scope, and has no data of one.
    """
    left = dict(scope)
    for part in removed:
        if left.pop(scope_text(part), None) is not None:
            continue
        cut = {text: rest for text, one in left.items() if (rest := _without(one, part)) is not None}
        if not cut:
            parts = "; ".join(map(part_line, scope.values())) or "none"
            raise QuestionError(f"No part of the scope is {part_line(part)}. It has: {parts}.", field="removed")
        rest = [one for pieces in cut.values() for one in pieces]
        left = {text: one for text, one in left.items() if text not in cut} | {scope_text(one): one for one in rest}
    return ScopeChange(
        removed=tuple(one for text, one in scope.items() if text not in left),
        added=tuple(one for text, one in left.items() if text not in scope),
    )


def shares_data(one: IncidentScope, other: IncidentScope) -> bool:
    """Return whether two parts have common offsets, files, micro-batches or times, and are equal in everything else."""
    return _without(one, other) is not None


def _without(one: IncidentScope, part: IncidentScope) -> list[IncidentScope] | None:
    """Return what remains of a part of the scope without another one; None: they share no data, or differ otherwise."""
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
