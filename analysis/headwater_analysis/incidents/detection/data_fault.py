"""Faults of data that the graph has, each with the part that it made bad."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from headwater_schemas.events import IncidentScope, IncidentType

MOST_FAULTS: Final = 500
"""Faults of one kind that one look finds, the latest."""


class DataFaultKind(StrEnum):
    """Kind of a fault.

    - ASSERTION: an assertion on data failed.
    - BROKEN_CHAIN: a streaming query skipped offsets, or read some twice.
    - FAILED_AFTER_COMMIT: a run failed, or was aborted, and had committed output.
    - WRITTEN_FROM_OUTSIDE: a table has a version that no known run wrote.
    - STALE: a dataset wasn't written within its declared freshness.
    """

    ASSERTION = "ASSERTION"
    BROKEN_CHAIN = "BROKEN_CHAIN"
    FAILED_AFTER_COMMIT = "FAILED_AFTER_COMMIT"
    WRITTEN_FROM_OUTSIDE = "WRITTEN_FROM_OUTSIDE"
    STALE = "STALE"


_TYPES: Final = {
    DataFaultKind.ASSERTION: IncidentType.BAD_RECORDS,
    DataFaultKind.BROKEN_CHAIN: IncidentType.BROKEN_CHAIN,
    DataFaultKind.FAILED_AFTER_COMMIT: IncidentType.FAILED_RUN,
    DataFaultKind.WRITTEN_FROM_OUTSIDE: IncidentType.CUSTOM,
    DataFaultKind.STALE: IncidentType.LATE,
}
RULE_TYPES: Final = {
    "COMPLETENESS": IncidentType.MISSING_DATA,
    "UNIQUENESS": IncidentType.DUPLICATES,
    "VALIDITY": IncidentType.BAD_RECORDS,
    "RANGE": IncidentType.BAD_RECORDS,
    "REFERENTIAL": IncidentType.BAD_RECORDS,
    "FRESHNESS": IncidentType.LATE,
    "VOLUME": IncidentType.BAD_RECORDS,
    "SCHEMA": IncidentType.SCHEMA,
    "PRIVACY": IncidentType.PRIVACY,
}
"""Rule of an assertion ⇒ type of the incident."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFault:
    """A fault, with the part with bad data.

    Attributes:
        kind: kind of the fault.
        cause: text that names the cause, equal for all faults of one cause: the incident's.
        title: one line for people.
        datasets: names of the datasets that it concerns, each with all its other names.
        part: part with bad data; of a micro-batch, that batch alone.
        at: time of the fault; None if unknown.
        began: of a part with `until`: earliest `until` that stands for the same fault.
        rule: of ASSERTION: rule in upper case, where known.
        versions: of a part with a version: versions that stand for the same fault.
    """

    kind: DataFaultKind
    cause: str
    title: str
    datasets: tuple[str, ...]
    part: IncidentScope
    at: datetime | None
    began: datetime | None = None
    rule: str | None = None
    versions: tuple[str, ...] = ()

    @property
    def type(self) -> IncidentType:
        """Type of the incident, by the kind of the fault and the rule of the assertion."""
        return RULE_TYPES.get(self.rule or "", _TYPES[self.kind])

    def is_in(self, part: IncidentScope) -> bool:
        """Return whether a part of an incident of the same cause was opened for this fault.

        A part that people widened, to a whole dataset or query, stands for no single fault.
        """
        own = self.part
        if own.run is not None:
            return part.run == own.run
        if own.query is not None:
            return (
                part.query == own.query
                and own.from_batch is not None
                and part.to_batch is not None
                and (part.from_batch or 0) <= own.from_batch <= part.to_batch
            )
        if part.dataset != own.dataset or part.column != own.column:
            return False
        if own.version is not None:
            return part.version in (own.version, *self.versions)
        if own.until is None or part.until is None:
            return False
        return (self.began or own.until) <= part.until <= own.until


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFaults:
    """Faults of one kind.

    Attributes:
        faults: the faults, the latest first; at most `MOST_FAULTS`.
        more: whether there are more.
        unknown: clauses on what can't be known: "whether n/orders is fresh: no complete write is known".
        earlier: names of datasets that were late before the look-back, and still are.
    """

    faults: tuple[DataFault, ...] = ()
    more: bool = False
    unknown: tuple[str, ...] = ()
    earlier: tuple[str, ...] = ()


def latest(
    faults: Sequence[DataFault], *, more: bool = False, unknown: Sequence[str] = (), earlier: Sequence[str] = ()
) -> FoundFaults:
    """Build the answer of one kind: the latest faults, and whether there are more."""
    ordered = sorted(faults, key=lambda fault: (-(fault.at.timestamp() if fault.at else 0.0), fault.cause))
    return FoundFaults(
        faults=tuple(ordered[:MOST_FAULTS]),
        more=more or len(ordered) > MOST_FAULTS,
        unknown=tuple(unknown),
        earlier=tuple(earlier),
    )
