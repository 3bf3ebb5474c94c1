"""Stamps: what decides between two values of one register. Text, so that the greater stamp is the greater string.

2 8005f1a1c3d4e500 0d0f5a3e-…        53 characters, written without the spaces
│ │                └ event id
│ └ event time, microseconds since the epoch + 2^63, 16 hex digits
└ certainty: 2 observed, 1 reconciled, 0 unknown
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater_schemas.events import Provenance
from headwater_schemas.identity import from_micros, micros

if TYPE_CHECKING:
    from datetime import datetime

LENGTH = 1 + 16 + 36

OBSERVED = 2
RANKS = {Provenance.UNKNOWN: 0, Provenance.RECONCILED: 1, Provenance.OBSERVED: OBSERVED}

_OFFSET = 1 << 63


def stamp(event_time: datetime, event_id: str, rank: int = OBSERVED) -> str:
    """The stamp of everything that one event reports. Bodies that don't record how they are known count as observed."""
    return f"{rank}{micros(event_time) + _OFFSET:016x}{event_id}"


def stamp_time(text: str) -> datetime:
    """The event time in a stamp."""
    return from_micros(int(text[1:17], 16) - _OFFSET)
