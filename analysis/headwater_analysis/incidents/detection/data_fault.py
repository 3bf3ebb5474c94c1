"""Data faults that are found in the graph, each with the part of a dataset, run or query that has bad data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from headwater_schemas.events import IncidentScope, IncidentType

MOST_FAULTS: Final = 500
"""Maximum number of faults of one kind in a detection; the latest are kept."""


class DataFaultKind(StrEnum):
    """Kind of a fault.

    - ASSERTION: an assertion on data failed.
    - BROKEN_CHAIN: a streaming query skipped offsets, or read offsets twice.
    - FAILED_AFTER_COMMIT: a run failed or was aborted after it had committed output.
    - WRITTEN_FROM_OUTSIDE: a table has a version that no known run wrote.
    - STALE: a dataset wasn't written within its declared freshness.
    """

    ASSERTION = "ASSERTION"
    BROKEN_CHAIN = "BROKEN_CHAIN"
    FAILED_AFTER_COMMIT = "FAILED_AFTER_COMMIT"
    WRITTEN_FROM_OUTSIDE = "WRITTEN_FROM_OUTSIDE"
    STALE = "STALE"


class AssertionSeverity(StrEnum):
    """Severity of a failed assertion.

    Words of tools: `warning` is WARN; a word that isn't known, such as one of a tool's own, or none, is ERROR.
    """

    INFO = "INFO"
    WARN = "WARN"
    ERROR = "ERROR"
    CRITICAL = "CRITICAL"

    @classmethod
    def known(cls, word: str) -> AssertionSeverity | None:
        """Return the severity for a known word, in upper or lower case; None: the word isn't known."""
        upper = word.upper()
        return cls.WARN if upper == "WARNING" else next((each for each in cls if each == upper), None)

    @classmethod
    def of(cls, word: str | None) -> AssertionSeverity:
        """Return the severity for a tool's word, in upper or lower case."""
        return cls.known(word or "") or cls.ERROR


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
    "DRIFT": IncidentType.SCHEMA,
    "PRIVACY": IncidentType.PRIVACY,
}
"""Rule of an assertion ⇒ type of the incident."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFault:
    """A fault, with the part with bad data.

    Attributes:
        kind: kind of the fault.
        cause: text of the cause. Faults with an equal text belong to one incident, whose cause has this text.
        title: one line for people.
        datasets: all names of the affected datasets.
        part: part with bad data; for a fault of a micro-batch: only this micro-batch.
        at: time of the fault; None: not known.
        began: for a part with `until`: a part of an incident is the same fault if its `until` lies between `began` and
            the `until` of `part`, both inclusive.
        rule: for ASSERTION: rule of the assertion in upper case; None: not known.
        assertion_severity: for ASSERTION: severity of the failure, by the tool that checked.
        versions: for a part with a version: a part of an incident with one of these versions is the same fault, too.
    """

    kind: DataFaultKind
    cause: str
    title: str
    datasets: tuple[str, ...]
    part: IncidentScope
    at: datetime | None
    began: datetime | None = None
    rule: str | None = None
    assertion_severity: AssertionSeverity | None = None
    versions: tuple[str, ...] = ()

    @property
    def type(self) -> IncidentType:
        """Type of the incident, by the kind of the fault and the rule of the assertion."""
        return RULE_TYPES.get(self.rule or "", _TYPES[self.kind])

    def is_in(self, part: IncidentScope) -> bool:
        """Return whether a part of an incident of the same cause was opened for this fault.

        A part that people widened to a whole dataset or query belongs to no single fault.
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
        more: whether there are further faults.
        unknown: clauses on unknown facts: "whether n/orders is fresh: no complete write is known".
        earlier: names of datasets that became late before the look-back, and still are late.
    """

    faults: tuple[DataFault, ...] = ()
    more: bool = False
    unknown: tuple[str, ...] = ()
    earlier: tuple[str, ...] = ()


def latest(
    faults: Sequence[DataFault], *, more: bool = False, unknown: Sequence[str] = (), earlier: Sequence[str] = ()
) -> FoundFaults:
    """Keep the latest faults of one kind, and state whether there are more."""
    ordered = sorted(faults, key=lambda fault: (-(fault.at.timestamp() if fault.at else 0.0), fault.cause))
    return FoundFaults(
        faults=tuple(ordered[:MOST_FAULTS]),
        more=more or len(ordered) > MOST_FAULTS,
        unknown=tuple(unknown),
        earlier=tuple(earlier),
    )
