"""Facts of incidents: the log of actions, by event id, and the datasets of the latest REACHED.

The join is the union of the logs, and the later REACHED. So order and repetition don't matter.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from headwater_graph.facts.registers import STAMP_LENGTH, Props

_ID_LENGTH = 36


class IncidentEntry(NamedTuple):
    """One action on an incident. Entries are in order of their stamps.

    Attributes:
        stamp: stamp of the event: its time, then its id.
        content: the action as canonical JSON (`identity.incident_content`), without `reached`; or only the datasets of
            `reached` (`identity.reached_text`).
    """

    stamp: str
    content: str

    @property
    def event_id(self) -> str:
        """Id of the event."""
        return self.stamp[-_ID_LENGTH:]

    @property
    def text(self) -> str:
        """Stored form of the entry. Texts sort in the same order as entries."""
        return self.stamp + self.content

    @classmethod
    def of(cls, text: str) -> IncidentEntry:
        """Read a stored entry."""
        return cls(text[:STAMP_LENGTH], text[STAMP_LENGTH:])


@dataclass(slots=True)
class IncidentFacts:
    """An incident: the entries of its log by event id, and the datasets that it reached.

    The event id is a digest of the content, so entries with the same id have the same content. Their times may differ,
    because `materializer.future` limits times; then the greater entry counts.

    Attributes:
        entries: entries of the log, by event id. The entry of a REACHED doesn't have its datasets.
        reached: datasets of the REACHED with the greatest stamp; None without any REACHED.
    """

    identity: Props
    entries: dict[str, IncidentEntry] = field(default_factory=dict)
    reached: IncidentEntry | None = None

    def add(self, entry: IncidentEntry) -> None:
        """Add an entry."""
        event_id = entry.event_id
        known = self.entries.get(event_id)
        if known is None or entry > known:
            self.entries[event_id] = entry

    def reach(self, reached: IncidentEntry) -> None:
        """Add the datasets of a REACHED."""
        if self.reached is None or reached > self.reached:
            self.reached = reached

    def join(self, other: IncidentFacts) -> None:
        """Join another record of the same incident."""
        for entry in other.entries.values():
            self.add(entry)
        if other.reached is not None:
            self.reach(other.reached)

    @property
    def log(self) -> list[IncidentEntry]:
        """The entries in order."""
        return sorted(self.entries.values())
