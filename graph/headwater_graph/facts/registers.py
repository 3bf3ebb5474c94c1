"""Registers: values with a stamp each, and their join. The greater stamp wins; of equal stamps, the greater value.

Two registers have their own rules: `state` only advances, and the earliest `started_at` of a run counts.

A register is absent until it is reported; a cleared register has an empty value and a stamp. Most registers are one
property of the graph. A register in `GROUPS` has several properties that only make sense together, so they win or lose
together.

A stamp is text, so that the greater stamp is the greater string:

2 8005f1a1c3d4e500 0d0f5a3e-…        53 characters, written without the spaces
│ │                └ event id
│ └ event time, microseconds since the epoch + 2^63, 16 hex digits
└ certainty: 2 observed, 1 reconciled, 0 unknown
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import TypeAlias

from headwater_schemas.events import Provenance, RunEventType
from headwater_schemas.identity import from_micros, micros

Scalar: TypeAlias = str | int | float | bool | datetime
Value: TypeAlias = Scalar | list[str] | list[int] | list[bool]
Props: TypeAlias = dict[str, Value]
"""Properties of a node or relationship; a property that isn't there is null."""
Cell: TypeAlias = Value | Props
Registers: TypeAlias = dict[str, tuple[str, Cell]]
"""Register name to (stamp, value)."""

FACET = "facet:"
"""Prefix of the registers of facets, before the facet's name."""

STATE = "state"
STARTED = "started_at"
STATE_RANKS: dict[str, int] = {
    RunEventType.UNKNOWN.value: 0,
    RunEventType.OTHER.value: 1,
    RunEventType.START.value: 2,
    RunEventType.RUNNING.value: 3,
    RunEventType.COMPLETE.value: 4,
    RunEventType.FAIL.value: 4,
    RunEventType.ABORT.value: 4,
}


def join(into: Registers, other: Mapping[str, tuple[str, Cell]]) -> None:
    """Join `other` into `into`: associative, commutative, idempotent."""
    for name, theirs in other.items():
        ours = into.get(name)
        if ours is None or beats(name, theirs, ours):
            into[name] = theirs


def beats(name: str, challenger: tuple[str, Cell], holder: tuple[str, Cell]) -> bool:
    """Return True if `challenger` replaces `holder` in the register `name`."""
    if name == STATE:
        ranks = _state_rank(challenger[1]), _state_rank(holder[1])
        if ranks[0] != ranks[1]:
            return ranks[0] > ranks[1]
    if name == STARTED and challenger[0][0] == holder[0][0] and challenger[1] != holder[1]:
        return _time(challenger[1]) < _time(holder[1])
    if challenger[0] != holder[0]:
        return challenger[0] > holder[0]
    return challenger[1] != holder[1] and canonical_value(challenger[1]) > canonical_value(holder[1])


def _time(cell: Cell) -> datetime:
    assert isinstance(cell, datetime)  # noqa: S101 - for the type checker
    return cell


def _state_rank(cell: Cell) -> int:
    assert isinstance(cell, dict)  # noqa: S101 - `state` is a group; for the type checker
    return STATE_RANKS[str(cell[STATE])]


def canonical_value(cell: Cell | None) -> str:
    """Convert a value to canonical JSON, with times as integer microseconds, for comparison. The text isn't stored."""
    return json.dumps(cell, sort_keys=True, default=_microseconds, ensure_ascii=False)


def _microseconds(value: object) -> int:
    if isinstance(value, datetime):
        return micros(value)
    raise TypeError(f"{type(value).__name__} is no property value")


STAMP_LENGTH = 1 + 16 + 36

OBSERVED = 2
PROVENANCE_RANKS = {Provenance.UNKNOWN: 0, Provenance.RECONCILED: 1, Provenance.OBSERVED: OBSERVED}

_OFFSET = 1 << 63


def stamp(event_time: datetime, event_id: str, rank: int = OBSERVED) -> str:
    """Make the stamp of an event's registers. Bodies without a provenance count as observed."""
    return f"{rank}{micros(event_time) + _OFFSET:016x}{event_id}"


def stamp_time(text: str) -> datetime:
    """The event time in a stamp."""
    return from_micros(int(text[1:17], 16) - _OFFSET)
