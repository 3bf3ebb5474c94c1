"""Hop after hop, breadth-first; no part is followed twice, so that a cycle ends."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from headwater_consumers.analysis.trace.answer import Direction, Hop, Part, PartKind, Trace, weakest
from headwater_consumers.analysis.trace.level import expand
from headwater_consumers.analysis.trace.parts import is_empty, join
from headwater_consumers.analysis.trace.spans import Spans, difference, flat, offsets, spans_of, union
from headwater_consumers.analysis.trace.taken import BY_TIME, Draft, Pending
from headwater_consumers.graph.words import canonical_path
from headwater_schemas.events import Certainty

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from headwater_consumers.analysis.trace.context import Context


@dataclass(slots=True)
class _Followed:
    """The parts that were followed already."""

    offsets: dict[tuple[str, str | None], Spans] = field(default_factory=dict)
    files: set[tuple[str, str]] = field(default_factory=set)
    others: set[tuple[object, ...]] = field(default_factory=set)
    unknown: dict[str, datetime | None] = field(default_factory=dict)
    by_time: dict[str, list[tuple[int, int]]] = field(default_factory=dict)

    def fresh(self, part: Part, *, backward: bool) -> Part | None:
        """What of a part is new; it is followed from now on."""
        key = part.dataset.key
        if part.kind is PartKind.OFFSETS:
            return self._offsets(part)
        if part.kind is PartKind.UNKNOWN:
            time = part.until if backward else part.since
            if key in self.unknown:
                old = self.unknown[key]
                if old is None or (time is not None and (time <= old if backward else time >= old)):
                    return None
            self.unknown[key] = time
            return part
        new = tuple(path for path in part.files if (key, canonical_path(path)) not in self.files)
        self.files |= {(key, canonical_path(path)) for path in new}
        if new and len(new) < len(part.files) == part.file_count:
            return replace(part, files=new, file_count=len(new), version=None)
        mark = (key, part.kind, part.format, part.from_version, part.version, part.text, part.file_count)
        if mark in self.others and not new:
            return None
        self.others.add(mark)
        return part

    def is_new(self, draft: Draft) -> bool:
        """Whether a step that is only bounded by time says more than an earlier one did; from now on it is known."""
        key, first, last = draft.key
        if not key.endswith(BY_TIME):
            return True
        earlier = self.by_time.setdefault(key, [])
        if any(a <= first and last <= b for a, b in earlier):
            return False
        earlier.append((first, last))
        return True

    def _offsets(self, part: Part) -> Part | None:
        mine = spans_of(part.offsets)
        seen = self.offsets.get((part.dataset.key, part.topic_id), {})
        new = difference(mine, seen)
        self.offsets[part.dataset.key, part.topic_id] = union([*flat(seen), *flat(mine)])
        return replace(part, offsets=offsets(new)) if new else None


def follow(
    context: Context, start: Sequence[Part], *, depth: int | None, limit: int, first: Sequence[Hop] = ()
) -> Trace:
    """The trace from some parts.

    Args:
        context: of the trace.
        start: where it begins.
        depth: most hops; None: all.
        limit: most steps altogether.
        first: hops that are known already, from which `start` comes.
    """
    followed = _Followed()
    first = [_shown(context, hop) for hop in first]
    hops: list[Hop] = list(first)
    ends: list[Part] = []
    level = 0
    waiting = [(part, 0, Certainty.EXACT) for part in start]
    waiting += [(part, hop.number, hop.overall) for hop in first for part in _onward(context, hop)]
    pendings, alike = _pendings(context, followed, waiting)
    while pendings and len(hops) < limit and (depth is None or level < depth):
        level += 1
        drafts = expand(context, pendings)
        # Under one of a dataset's names is enough.
        used = {number for draft in drafts for pending in draft.pendings for number in alike[pending.number]}
        drafts = [draft for draft in drafts if followed.is_new(draft)]
        ends += [pending.part for pending in pendings if pending.number not in used]
        room = limit - len(hops)
        if len(drafts) > room:
            context.cut = True
        new = [_shown(context, draft.numbered(len(hops) + 1 + n, level)) for n, draft in enumerate(drafts[:room])]
        hops += new
        onward = [
            (part, hop.number, weakest(hop.overall, part.certainty)) for hop in new for part in _onward(context, hop)
        ]
        pendings, alike = _pendings(context, followed, onward)
    goes_on = _goes_on(context, pendings)
    going_on = {pending.number for pending in pendings if pending.part.dataset.key in goes_on}
    ends += [pending.part for pending in pendings if not going_on.intersection(alike[pending.number])]
    return Trace(
        direction=Direction.BACKWARD if context.backward else Direction.FORWARD,
        start=tuple(map(context.datasets.shown, start)),
        hops=tuple(hops),
        ends=tuple(dict.fromkeys(map(context.datasets.shown, ends))),
        notes=tuple(context.notes),
        total=len(hops),
        max_hops=max((hop.depth for hop in hops), default=0),
        truncated=context.cut or bool(going_on),
    )


def _onward(context: Context, hop: Hop) -> tuple[Part, ...]:
    return hop.inputs if context.backward else hop.outputs


def _shown(context: Context, hop: Hop) -> Hop:
    """A hop whose parts are of the datasets that are shown for theirs."""
    inputs, outputs = (tuple(map(context.datasets.shown, parts)) for parts in (hop.inputs, hop.outputs))
    return (
        hop
        if (inputs, outputs) == (hop.inputs, hop.outputs)
        else replace(hop, inputs=join(inputs), outputs=join(outputs))
    )


def _pendings(
    context: Context, followed: _Followed, parts: Iterable[tuple[Part, int, Certainty]]
) -> tuple[list[Pending], dict[int, range]]:
    """What is new of these parts, under each name of its dataset; and the numbers of the same ones, by number."""
    out: list[Pending] = []
    alike: dict[int, range] = {}
    for part, after, overall in parts:
        fresh = followed.fresh(context.datasets.shown(part), backward=context.backward)
        if fresh is not None and not is_empty(fresh):
            begin = len(out)
            for named in context.datasets.names_of(fresh, backward=context.backward):
                out.append(Pending(len(out), named, after, overall))
            alike |= dict.fromkeys(range(begin, len(out)), range(begin, len(out)))
    return out, alike


def _goes_on(context: Context, pendings: Sequence[Pending]) -> set[str]:
    keys = sorted({pending.part.dataset.key for pending in pendings})
    if not keys:
        return set()
    column = "written" if context.backward else "read"
    return {row["dataset"] for row in context.tx.rows("trace/goes_on", datasets=keys) if row[column]}
