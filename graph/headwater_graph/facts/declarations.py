"""Facts of declaration sets: declarations by the digest of their content, and the latest revision of each set.

A declaration never changes. It holds if its own event has arrived, and the latest revision of its set lists it. So the
result doesn't depend on the order and repetition of events.
"""

from __future__ import annotations

from dataclasses import dataclass

from headwater_graph.facts.registers import Props


@dataclass(frozen=True, slots=True)
class DeclarationFacts:
    """One declaration of a set.

    Attributes:
        properties: properties of the node, including `key`.
        set: key of its set.
        subject: key of the dataset, job or consumer that it declares.
        columns: for a dataset: key of each declared column, with the properties that are declared for it.
    """

    properties: Props
    set: str
    subject: str
    columns: tuple[tuple[str, Props], ...] = ()


@dataclass(frozen=True, slots=True)
class Revision:
    """One revision of a set.

    Attributes:
        number: number of the revision; the highest number wins.
        stamp: stamp of its event; of several events with the same number, the greatest stamp wins.
        items: keys of the declarations that it lists, ascending.
        properties: properties of the node: format, source, document, time of declaration.
    """

    number: int
    stamp: str
    items: tuple[str, ...]
    properties: Props

    @property
    def rank(self) -> tuple[int, str]:
        """Order of revisions: number, then stamp. The greatest wins."""
        return self.number, self.stamp


@dataclass(slots=True)
class SetFacts:
    """A declaration set; without a revision if only declarations of the set are known."""

    identity: Props
    revision: Revision | None = None

    def join(self, other: SetFacts) -> None:
        """Join another record of the same set."""
        if other.revision is not None and (self.revision is None or other.revision.rank > self.revision.rank):
            self.revision = other.revision
