"""Declaration set before publication: its declarations, and the events of a revision."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from headwater_graph import keys
from headwater_schemas.events import DeclarationEvent, DeclarationSetEvent, LineageEvent
from headwater_schemas.events.build import lineage_event
from headwater_schemas.identity import declaration_digest
from headwater_schemas.redacted_values import redacted

PRODUCER: Final = "https://headwater/declare"
MOST_DECLARATIONS: Final = 25_000
"""Maximum number of a set's declarations: one event lists all of a revision, and must be under a megabyte."""
MOST_PAIRS: Final = 50_000
"""Maximum number of pairs of a job's inputs and outputs: the materializer takes no larger event."""


@dataclass(frozen=True, slots=True)
class DeclaredSet:
    """Declarations of a file.

    Attributes:
        name: id of the set.
        declarations: declarations by digest, each subject once.
        revision: number of the revision in the file; None: the next number after the graph's revision.
        format: format of the file.
        source: location of the file, for people.
        document: text of the file, if some of its fields have no counterpart in declarations.
        lines: line of each declaration in the file, by digest.
    """

    name: str
    declarations: dict[str, DeclarationEvent]
    revision: int | None = None
    format: str = "headwater"
    source: str | None = None
    document: str | None = None
    lines: dict[str, int] | None = None

    def keys(self, tenant: str) -> dict[str, str]:
        """Digest of each declaration, by the declaration's key in the graph."""
        set_key = keys.declaration_set_key(tenant, self.name)
        return {keys.declaration_key(tenant, set_key, digest): digest for digest in self.declarations}

    def by_key(self, tenant: str) -> dict[str, DeclarationEvent]:
        """Each declaration, by its key in the graph."""
        return {key: self.declarations[digest] for key, digest in self.keys(tenant).items()}

    def events(
        self, revision: int, *, tenant: str, event_time: datetime, there: Container[str] = ()
    ) -> Iterator[LineageEvent]:
        """Events of declarations that the graph doesn't have yet, then the event of the revision.

        Args:
            there: keys of declarations whose events needn't be published again.
        """
        for key, digest in self.keys(tenant).items():
            if key not in there:
                body = self.declarations[digest]
                yield lineage_event(body, producer=PRODUCER, event_time=event_time, tenant=tenant)
        listed = DeclarationSetEvent(
            set=self.name,
            revision=revision,
            items=tuple(sorted(self.declarations)),
            format=self.format,
            source=self.source,
            document=self.document,
        )
        yield lineage_event(listed, producer=PRODUCER, event_time=event_time, tenant=tenant)


def by_digest(declarations: list[DeclarationEvent]) -> dict[str, DeclarationEvent]:
    """Declarations by the digest of their published form, which is without credentials."""
    return {declaration_digest(body): body for body in map(redacted, declarations)}
