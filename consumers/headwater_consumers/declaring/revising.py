"""A set's next revision: what it changes in the graph, its events, and whether the graph has it yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from headwater_consumers.analysis.declared import (
    SetState,
    contradictions,
    declarations,
    holding_elsewhere,
    merged,
    set_progress,
    set_state,
    there,
    unknown_datasets,
)
from headwater_consumers.analysis.reader import Reader
from headwater_consumers.declaring.difference import (
    ChangedDeclaration,
    SetResult,
    cycles,
    difference,
    made,
    named_datasets,
    subject_key,
)
from headwater_consumers.declaring.sets import DeclaredSet
from headwater_schemas.events import LineageEvent

_SAMPLES: Final = 100
"""Declarations that are looked for while a revision is waited for."""


class OlderRevisionError(Exception):
    """The graph has a later revision of the set, with other content. Nothing was published.

    Attributes:
        set: its id.
        revision: the graph's.
        given: that of the file.
    """

    def __init__(self, name: str, revision: int, given: int) -> None:
        super().__init__(
            f"Set {name!r} is at revision {revision} in the graph, and this file is revision {given} "
            "with other content."
        )
        self.set, self.revision, self.given = name, revision, given


@dataclass(frozen=True, slots=True)
class NextRevision:
    """What is declared of a set now, against the graph.

    Attributes:
        declared: the set.
        number: of the revision; that of the graph where nothing changes.
        changes: what changes of it.
        events: what has to be published, the revision last; none: nothing changes.
        unknown: datasets that it names and that aren't in the graph, by namespace and name.
        keys: of the declarations among the events, in their order.
    """

    declared: DeclaredSet
    number: int
    changes: list[ChangedDeclaration]
    events: list[LineageEvent]
    unknown: list[str]
    keys: list[str]


def next_revision(reader: Reader, declared: DeclaredSet, *, now: datetime) -> NextRevision:
    """The next revision of a set. What the graph has of it already is neither read nor published again.

    Args:
        reader: of the graph.
        declared: what its file declares.
        now: when that is.

    Raises:
        OlderRevisionError: the file has an older number than the graph, and other content.
    """
    tenant = reader.tenant
    bodies = declared.by_key(tenant)
    state = set_state(reader, declared.name)
    is_same = _is_same(declared, state, bodies)
    given = declared.revision
    if given is not None and given <= state.revision and not is_same:
        raise OlderRevisionError(declared.name, state.revision, given)
    held = state.items - state.missing
    added = {key: body for key, body in bodies.items() if key not in held}
    before = declarations(reader, held - bodies.keys())
    subjects = {one.subject for one in before}
    # To make what the graph will have takes a third of the time of a large set, and is for what changes alone.
    changed = {key: body for key, body in added.items() if subjects and subject_key(body, tenant=tenant) in subjects}
    changes = difference(
        made(changed, tenant=tenant), before, added=(body for key, body in added.items() if key not in changed)
    )
    # What is declared in the graph has made the datasets that it names.
    unknown = unknown_datasets(reader, named_datasets(added.values()))
    is_first = not state.revision and bool(bodies)
    is_later = given is not None and given > state.revision > 0
    number, events, known = state.revision, list[LineageEvent](), held
    if is_first or is_later or state.missing or (state.revision and not is_same):
        number = given or state.revision + 1
        known = held | there(reader, added)
        events = list(declared.events(number, tenant=tenant, event_time=now, there=known))
    return NextRevision(
        declared,
        number,
        changes,
        events,
        [f"{one.namespace} {one.name}" for one in unknown],
        [key for key in bodies if key not in known] if events else [],
    )


def result(reader: Reader, revision: NextRevision, *, published: bool, in_graph: bool) -> SetResult:
    """What became of a set, with what other sets declare now.

    Args:
        reader: of the graph.
        revision: of the set.
        published: whether its events were.
        in_graph: whether the graph has it.
    """
    declared, tenant = revision.declared, reader.tenant
    keys = {subject_key(body, tenant=tenant): key for key, body in declared.by_key(tenant).items()}
    others = holding_elsewhere(reader, keys, declared.name)
    shared = {keys[one.subject] for one in others}
    own = {key: body for key, body in declared.by_key(tenant).items() if key in shared}
    return SetResult(
        declared.name,
        revision.number,
        len(declared.declarations),
        len(revision.events) if published else 0,
        in_graph,
        revision.changes,
        revision.unknown,
        contradictions(merged([*made(own, tenant=tenant), *others]).values()),
        cycles(declared.declarations.values()),
    )


def progress(reader: Reader, revision: NextRevision) -> tuple[bool, int]:
    """Whether the graph has the revision, whole, or a later one; and about how many of its events it has.

    The events are written in their order, so a few of them show how far it is. Counting them all each time would take
    more of the database than writing them.
    """
    declared, keys = revision.declared, revision.keys
    step = max(1, len(keys) // _SAMPLES)
    number, there_ = set_progress(reader, declared.name, keys[::step])
    is_there = number > revision.number
    if number == revision.number:
        state = set_state(reader, declared.name)
        is_there = not state.missing and state.items == declared.keys(reader.tenant).keys()
    return is_there, len(revision.events) if is_there else min(there_ * step, len(keys))


def _is_same(declared: DeclaredSet, state: SetState, keys: Mapping[str, object]) -> bool:
    """Whether the latest revision in the graph has this content."""
    about = (declared.format, declared.source, declared.document)
    return state.revision > 0 and state.items == keys.keys() and about == (state.format, state.source, state.document)
