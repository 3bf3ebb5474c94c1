"""Faults in the whole graph, judged by a policy: incidents to open, and parts to add to open incidents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import partial
from itertools import groupby
from typing import Final

from headwater_analysis.errors import NotFilteredError, TimeLimitError
from headwater_analysis.incidents.actions import GivenOpening
from headwater_analysis.incidents.detection.assertions import assertions_of_batches, assertions_of_runs
from headwater_analysis.incidents.detection.chains import broken_chains
from headwater_analysis.incidents.detection.data_fault import AssertionSeverity, DataFault, DataFaultKind, FoundFaults
from headwater_analysis.incidents.detection.fault_policy import FaultPolicy, OpenEntry
from headwater_analysis.incidents.detection.lateness import late_datasets
from headwater_analysis.incidents.detection.writes import failed_after_commit, written_from_outside
from headwater_analysis.incidents.questions import state_of
from headwater_analysis.incidents.scope import part_line
from headwater_analysis.reader import Reader, Transaction
from headwater_schemas.events import IncidentAction, IncidentScope, IncidentSeverity, IncidentType

_ADDING: Final = (IncidentAction.OPENED, IncidentAction.SCOPE_CHANGED)


class DetectedOutcome(StrEnum):
    """Effect of a fault.

    - NEW: the fault opens an incident, or adds its part to the open incident of its cause.
    - KNOWN: an incident of the same cause, open or resolved, had the part already.
    - IGNORED: an entry of the policy ignores the fault.
    - NO_ENTRY: no entry of the policy fits the fault.
    """

    NEW = "NEW"
    KNOWN = "KNOWN"
    IGNORED = "IGNORED"
    NO_ENTRY = "NO_ENTRY"


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectedFault:
    """A fault, and the policy's decision on it.

    Attributes:
        fault: kind of the fault.
        cause: cause of the incident.
        title: one line for people.
        datasets: names of the affected datasets.
        part: part with bad data, in one line.
        at: time of the fault; None: not known.
        rule: rule of the assertion; None: the fault is no assertion, or its rule isn't known.
        assertion_severity: severity of the assertion's failure, by the tool that checked; None: the fault is no
            assertion.
        entry: number of the policy's entry that decided, from 1; None: no entry fits.
        severity, type: severity and type of the incident.
        outcome: effect of the fault.
    """

    fault: DataFaultKind
    cause: str
    title: str
    datasets: tuple[str, ...]
    part: str
    at: datetime | None
    rule: str | None
    assertion_severity: AssertionSeverity | None
    entry: int | None
    severity: IncidentSeverity | None
    type: IncidentType
    outcome: DetectedOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentToOpen:
    """An incident to open; if an incident of its cause is open, the parts are added to that incident.

    Attributes:
        opening: the opening.
        assignee: person or team that a new incident is assigned to.
    """

    opening: GivenOpening
    assignee: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Detection:
    """Faults of the graph.

    Attributes:
        faults: all faults, by kind, the latest first.
        openings: incidents to open, one for each cause.
        truncated: kinds with more faults than listed; the latest are listed.
        unknown: clauses on unknown facts.
        earlier: names of datasets that became late before the look-back, and still are late; they open no incident.
    """

    faults: tuple[DetectedFault, ...]
    openings: tuple[IncidentToOpen, ...]
    truncated: tuple[DataFaultKind, ...]
    unknown: tuple[str, ...]
    earlier: tuple[str, ...]


def detect(reader: Reader, policy: FaultPolicy, *, since: datetime, now: datetime) -> Detection:
    """Find faults, and the incidents that a policy opens for them. Each kind of fault is read in its own transaction.

    Args:
        policy: the policy.
        since: look-back: faults from before this time don't open incidents.
        now: time at which datasets have to be fresh.

    Raises:
        NotFilteredError: the asker isn't allowed to see the whole graph.
        TimeLimitError: every kind took too long. If only some kinds took too long, these are listed as unknown.
    """
    looks: tuple[tuple[DataFaultKind, Callable[[Transaction], FoundFaults]], ...] = (
        (DataFaultKind.ASSERTION, partial(assertions_of_runs, since=since)),
        (DataFaultKind.ASSERTION, partial(assertions_of_batches, since=since)),
        (DataFaultKind.BROKEN_CHAIN, partial(broken_chains, since=since)),
        (DataFaultKind.FAILED_AFTER_COMMIT, partial(failed_after_commit, since=since)),
        (DataFaultKind.WRITTEN_FROM_OUTSIDE, partial(written_from_outside, since=since)),
        (DataFaultKind.STALE, partial(late_datasets, since=since, now=now)),
    )
    found: list[tuple[DataFaultKind, FoundFaults]] = []
    late: list[TimeLimitError] = []
    for kind, look in looks:
        try:
            found.append((kind, reader.read(partial(_of_who_sees_all, look=look))))
        except TimeLimitError as error:
            late.append(error)
            found.append((kind, FoundFaults(unknown=(f"{kind}: no answer within {error.seconds:g} s",))))
    if len(late) == len(looks):
        raise late[0]
    faults = [fault for _, each in found for fault in each.faults]
    entries = [policy.entry_of(fault) for fault in faults]
    causes = {fault.cause for fault, entry in zip(faults, entries, strict=True) if entry and not entry.ignore}
    known = reader.read(partial(_parts_of, causes=sorted(causes))) if causes else {}
    judged = [
        (fault, entry, _outcome(fault, entry, known.get(fault.cause, ())))
        for fault, entry in zip(faults, entries, strict=True)
    ]
    stale = reader.freshness.stale
    unknown = [each for _, one in found for each in one.unknown]
    return Detection(
        faults=tuple(_detected(fault, entry, outcome, policy) for fault, entry, outcome in judged),
        openings=tuple(_openings(judged)),
        truncated=tuple(dict.fromkeys(kind for kind, each in found if each.more)),
        unknown=(*unknown, *([] if stale is None else [f"what is not in the graph yet: {stale}"])),
        earlier=tuple(name for _, each in found for name in each.earlier),
    )


def _of_who_sees_all(tx: Transaction, *, look: Callable[[Transaction], FoundFaults]) -> FoundFaults:
    if tx.visible is not None:
        raise NotFilteredError
    return look(tx)


def _parts_of(tx: Transaction, *, causes: Sequence[str]) -> Mapping[str, tuple[IncidentScope, ...]]:
    """For each cause: all parts that its incidents ever had, including removed parts."""
    found: dict[str, tuple[IncidentScope, ...]] = {}
    for row in tx.rows("faults/of_causes", causes=causes):
        history = state_of(row["properties"]).history
        parts = [part for each in history if each.event.action in _ADDING for part in each.event.scope or ()]
        cause = row["properties"]["cause"]
        found[cause] = (*found.get(cause, ()), *parts)
    return found


def _outcome(fault: DataFault, entry: OpenEntry | None, known: Iterable[IncidentScope]) -> DetectedOutcome:
    if entry is None:
        return DetectedOutcome.NO_ENTRY
    if entry.ignore:
        return DetectedOutcome.IGNORED
    return DetectedOutcome.KNOWN if any(map(fault.is_in, known)) else DetectedOutcome.NEW


def _detected(
    fault: DataFault, entry: OpenEntry | None, outcome: DetectedOutcome, policy: FaultPolicy
) -> DetectedFault:
    return DetectedFault(
        fault=fault.kind,
        cause=fault.cause,
        title=fault.title,
        datasets=fault.datasets,
        part=part_line(fault.part),
        at=fault.at,
        rule=fault.rule,
        assertion_severity=fault.assertion_severity,
        entry=None if entry is None else policy.entries.index(entry) + 1,
        severity=None if entry is None else entry.severity_of(fault),
        type=fault.type if entry is None else entry.type or fault.type,
        outcome=outcome,
    )


def _openings(
    judged: Iterable[tuple[DataFault, OpenEntry | None, DetectedOutcome]],
) -> Iterable[IncidentToOpen]:
    """Incidents to open, one for each cause, in the order of the faults."""
    by_cause: dict[str, list[tuple[DataFault, OpenEntry]]] = {}
    for fault, entry, outcome in judged:
        if entry is not None and outcome is DetectedOutcome.NEW:
            by_cause.setdefault(fault.cause, []).append((fault, entry))
    for cause, group in by_cause.items():
        fault, entry = group[0]
        opening = GivenOpening(
            title=fault.title,
            scope=tuple(joined([each.part for each, _ in group])),
            severity=entry.severity_of(fault),
            type=entry.type or fault.type,
            cause=cause,
            reason=f"{fault.kind}: opened by policy.",
        )
        yield IncidentToOpen(opening=opening, assignee=entry.assign)


def joined(parts: Sequence[IncidentScope]) -> list[IncidentScope]:
    """Join consecutive micro-batches of each query to one part; other parts stay unchanged."""
    batches = sorted({(part.query, part.from_batch or 0) for part in parts if part.query is not None})
    out = [part for part in dict.fromkeys(parts) if part.query is None]
    # Consecutive ids have the same difference to their index in the sorted list.
    for _, run in groupby(enumerate(batches), key=lambda each: (each[1][0], each[1][1] - each[0])):
        following = [batch for _, batch in run]
        (query, first), (_, last) = following[0], following[-1]
        out.append(IncidentScope(query=query, from_batch=first, to_batch=last))
    return out
