"""Facts of incidents: the log of actions, by event id. The join is union, so order and repetition don't matter."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from headwater_graph.facts.registers import STAMP_LENGTH, Props

_ID_LENGTH = 36


class IncidentEntry(NamedTuple):
    """One action on an incident. Entries are in order of their stamps.

    Attributes:
        stamp: stamp of the event: its time, then its id.
        content: the action as canonical JSON (`identity.incident_content`).
    """

    stamp: str
    content: str

    @property
    def event_id(self) -> str:
        """Id of the event."""
        return self.stamp[-_ID_LENGTH:]

    @property
    def text(self) -> str:
        """The entry as the graph stores it. Texts sort as entries do."""
        return self.stamp + self.content

    @classmethod
    def of(cls, text: str) -> IncidentEntry:
        """Read a stored entry."""
        return cls(text[:STAMP_LENGTH], text[STAMP_LENGTH:])


@dataclass(slots=True)
class IncidentFacts:
    """An incident: the entries of its log by event id.

    An event id covers the content. Of two entries with one id, whose time was limited differently
    (`materializer.future`), the greater counts.
    """

    identity: Props
    entries: dict[str, IncidentEntry] = field(default_factory=dict)

    def add(self, entry: IncidentEntry) -> None:
        """Add an entry."""
        event_id = entry.event_id
        known = self.entries.get(event_id)
        if known is None or entry > known:
            self.entries[event_id] = entry

    def join(self, other: IncidentFacts) -> None:
        """Join another record of the same incident."""
        for entry in other.entries.values():
            self.add(entry)

    @property
    def log(self) -> list[IncidentEntry]:
        """The entries in order."""
        return sorted(self.entries.values())
