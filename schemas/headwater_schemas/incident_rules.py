"""Rules of actions on incidents and of the parts of their scope (`rules.first_violation` checks them)."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from typing import Final

from headwater_schemas.events import (
    IncidentAction,
    IncidentClock,
    IncidentEvent,
    IncidentResolution,
    IncidentScope,
    NotificationChange,
    NotifiedRecipient,
    OffsetRange,
    ReachedDataset,
    ReachedPart,
)
from headwater_schemas.identity import scope_text

MOST_CHARACTERS: Final = 200
"""Maximum length of an incident's id, and of the names of recipients and channels."""
MOST_OF_A_CAUSE: Final = 1_000
"""Maximum length of a cause. The graph has an index of causes, which takes no value over 8 KB."""
MOST_PARTS: Final = 100
"""Maximum number of listed parts of a reached dataset, and of listed files of a part."""
MOST_RECIPIENTS: Final = 1_000
"""Maximum number of recipients of one NOTIFIED."""

_A = IncidentAction
_OF_ACTIONS: Final[dict[str, tuple[IncidentAction, ...]]] = {
    "scope": (_A.OPENED, _A.SCOPE_CHANGED, _A.REPAIRED),
    "removed": (_A.SCOPE_CHANGED,),
    "assignee": (_A.ASSIGNED,),
    "into": (_A.MERGED, _A.SUPERSEDED),
    "resolution": (_A.RESOLVED,),
    "reached": (_A.REACHED,),
    "as_of": (_A.REACHED,),
    "complete": (_A.REACHED,),
    "notified": (_A.NOTIFIED,),
}
"""Fields that only some actions have, each with these actions."""
_NEEDED: Final[dict[IncidentAction, tuple[str, ...]]] = {
    _A.OPENED: ("title",),
    _A.ASSIGNED: ("assignee",),
    _A.MERGED: ("into",),
    _A.SUPERSEDED: ("into",),
    _A.REPAIRED: ("scope",),
    _A.RESOLVED: ("resolution", "reason"),
    _A.REACHED: ("reached", "as_of", "complete"),
    _A.NOTIFIED: ("notified",),
}
"""Fields that an action needs."""
_STATED: Final = ("reason", "title", "description", "severity", "type", "cause")
"""Fields that every action may have; NOTED needs one of them."""
_SUBJECTS: Final = ("dataset", "job", "run", "query", "consumer")
_OF_SUBJECTS: Final[dict[str, tuple[str, ...]]] = {
    "column": ("dataset",),
    "partition": ("dataset",),
    "offsets": ("dataset",),
    "files": ("dataset",),
    "version": ("dataset",),
    "code_version": ("job",),
    "from_batch": ("query",),
    "to_batch": ("query",),
    "since": ("dataset", "job", "run", "query"),
    "until": ("dataset", "job", "run", "query"),
    "since_last_good": ("dataset", "job", "query"),
}
"""Fields that only parts of some subjects have, each with these subjects."""
_EXCLUSIVE: Final = (
    ("offsets", ("partition", "files", "version")),
    ("files", ("partition",)),
    ("since_last_good", ("offsets", "files", "version", "from_batch", "since")),
)
"""Fields of a part, each with the fields that it can't be combined with: either field alone selects the records."""
_PARTITION: Final = re.compile("[^=/]+=[^/]*(?:/[^=/]+=[^/]*)*")
_SHA256: Final = re.compile("[0-9a-f]{64}")

Broken = tuple[str, str]
"""Path of a field, and description of the fault."""


def broken_rule(event: IncidentEvent) -> Broken | None:
    """Return the first rule that an action on an incident breaks."""
    found = _action(event)
    if found is None:
        for name in ("scope", "removed"):
            for index, part in enumerate(getattr(event, name) or ()):
                if (broken := broken_scope(part)) is not None:
                    field, message = broken
                    return f"incident_event.{name}[{index}]{field and '.'}{field}", message
        found = _contradiction(event) or _reached(event.reached or ()) or _notified(event.notified or ())
    return found and (f"incident_event.{found[0]}", found[1])


def _action(event: IncidentEvent) -> Broken | None:
    action = event.action
    if action is IncidentAction.UNKNOWN:
        return "action", "not an action that this version knows"
    if event.resolution is IncidentResolution.UNKNOWN:
        return "resolution", "not a resolution that this version knows"
    for field, actions in _OF_ACTIONS.items():
        if action not in actions and getattr(event, field) is not None:
            return field, f"only {_listed(actions)} has it"
    return _missing(event) or _names(event)


def _missing(event: IncidentEvent) -> Broken | None:
    action = event.action
    for field in _NEEDED.get(action, ()):
        value = getattr(event, field)
        # REACHED may have an empty `reached`, and False as `complete`.
        if value is None or (not value and action is not IncidentAction.REACHED):
            return field, f"{action} needs it"
    if action is IncidentAction.SCOPE_CHANGED and not event.scope and not event.removed:
        return "scope", f"{action} adds or removes a part"
    if action is IncidentAction.NOTED and all(getattr(event, field) is None for field in _STATED):
        return "reason", f"{action} needs one of {_listed(_STATED)}"
    return None


def _names(event: IncidentEvent) -> Broken | None:
    for field, most in (("incident", MOST_CHARACTERS), ("into", MOST_CHARACTERS), ("cause", MOST_OF_A_CAUSE)):
        if len(getattr(event, field) or "") > most:
            return field, f"longer than {most} characters"
    if event.into == event.incident:
        return "into", "must be another incident"
    return None


def _contradiction(event: IncidentEvent) -> Broken | None:
    removed = {scope_text(part) for part in event.removed or ()}
    for index, part in enumerate(event.scope or ()):
        if removed and scope_text(part) in removed:
            return f"scope[{index}]", "added and removed at once"
    return None


def broken_scope(part: IncidentScope) -> Broken | None:
    """Return the first rule that a part of a scope breaks. The path is relative to the part; empty: the whole part."""
    subjects = [name for name in _SUBJECTS if getattr(part, name) is not None]
    if len(subjects) != 1:
        return "", f"a part names exactly one of {_listed(_SUBJECTS)}"
    [subject] = subjects
    for field, owners in _OF_SUBJECTS.items():
        if subject not in owners and getattr(part, field) is not None:
            return field, f"only a part of a {_listed(owners)} has it"
    for field, others in _EXCLUSIVE:
        for other in others:
            if getattr(part, field) is not None and getattr(part, other) is not None:
                return other, f"can't be combined with {field}"
    return _narrowing(part) or _time_span(part)


def _narrowing(part: IncidentScope) -> Broken | None:
    if part.partition is not None and not _PARTITION.fullmatch(part.partition):
        return "partition", "not of the form key=value/…"
    if part.offsets is not None and (found := _offsets(part.offsets)) is not None:
        return found
    if part.files is not None and (found := _files(part.files)) is not None:
        return found
    if part.from_batch is not None and part.to_batch is not None and part.to_batch < part.from_batch:
        return "to_batch", "before from_batch"
    if part.since_last_good is False:
        return "since_last_good", "must be true, or absent"
    return None


def _offsets(ranges: tuple[OffsetRange, ...]) -> Broken | None:
    if not ranges:
        return "offsets", "no range"
    for index, range_ in enumerate(ranges):
        if range_.to_exclusive <= range_.from_:
            return f"offsets[{index}].to_exclusive", "the range is empty"
    for index, (one, other) in enumerate(itertools.pairwise(ranges), start=1):
        if (other.partition, other.from_) < (one.partition, one.to_exclusive):
            return f"offsets[{index}]", "ranges must be in ascending order and not overlap"
    return None


def _files(paths: tuple[str, ...]) -> Broken | None:
    if not paths:
        return "files", "no file"
    for index, path in enumerate(paths):
        if not path:
            return f"files[{index}]", "empty"
    return None


def _time_span(part: IncidentScope) -> Broken | None:
    if part.since is None and part.until is None:
        return None if part.clock is None else ("clock", "without since and until")
    if part.clock is None:
        return "clock", "a time span needs it"
    if part.clock is IncidentClock.UNKNOWN:
        return "clock", "not a clock that this version knows"
    if part.since is not None and part.until is not None and part.until <= part.since:
        return "until", "not after since"
    return None


def _reached(datasets: tuple[ReachedDataset, ...]) -> Broken | None:
    for index, reached in enumerate(datasets):
        at = f"reached[{index}]"
        if index and reached.dataset <= datasets[index - 1].dataset:
            return at, "datasets must be in ascending order, each once"
        if (broken := _reached_dataset(reached)) is not None:
            return f"{at}.{broken[0]}", broken[1]
        for part_index, part in enumerate(reached.parts):
            if (broken := _reached_part(part)) is not None:
                return f"{at}.parts[{part_index}].{broken[0]}", broken[1]
    return None


def _reached_dataset(reached: ReachedDataset) -> Broken | None:
    if reached.cleared != (not reached.parts and not reached.part_count):
        return "cleared", "true if there is no part, else false"
    if len(reached.parts) > MOST_PARTS:
        return "parts", f"more than {MOST_PARTS}"
    if len(reached.parts) > reached.part_count:
        return "part_count", "fewer than the listed parts"
    if not _SHA256.fullmatch(reached.digest):
        return "digest", "not 64 hex digits"
    return None


def _reached_part(part: ReachedPart) -> Broken | None:
    if part.offsets is not None and (found := _offsets(part.offsets)) is not None:
        return found
    if part.files is not None:
        if len(part.files) > MOST_PARTS:
            return "files", f"more than {MOST_PARTS}"
        return _files(part.files)
    return None


def _notified(recipients: tuple[NotifiedRecipient, ...]) -> Broken | None:
    if len(recipients) > MOST_RECIPIENTS:
        return "notified", f"more than {MOST_RECIPIENTS}"
    for index, each in enumerate(recipients):
        at = f"notified[{index}]"
        if index and each.recipient <= recipients[index - 1].recipient:
            return at, "recipients must be in ascending order, each once"
        for field in ("recipient", "channel"):
            if len(getattr(each, field)) > MOST_CHARACTERS:
                return f"{at}.{field}", f"longer than {MOST_CHARACTERS} characters"
        if not _SHA256.fullmatch(each.digest):
            return f"{at}.digest", "not 64 hex digits"
        if each.change is NotificationChange.UNKNOWN:
            return f"{at}.change", "not a change that this version knows"
    return None


def _listed(names: Iterable[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last
