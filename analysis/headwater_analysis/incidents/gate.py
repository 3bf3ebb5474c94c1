"""Gate before a dataset is read: open incidents whose bad data would certainly or possibly be read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from headwater_analysis.amounts import amount
from headwater_analysis.assets import Asset
from headwater_analysis.errors import QuestionError
from headwater_analysis.identity import Identities
from headwater_analysis.incidents.answers import IncidentReach
from headwater_analysis.incidents.questions import state_of
from headwater_analysis.incidents.reach import reach_of
from headwater_analysis.partitions import are_apart
from headwater_analysis.reader import Reader, Transaction
from headwater_analysis.resolve import resolve_dataset
from headwater_analysis.trace.arrivals import Arrivals
from headwater_analysis.trace.traced_parts import Part, PartKind, surest
from headwater_analysis.trace.uses import partitions_of
from headwater_graph.incidents import OPEN, IncidentState
from headwater_schemas.events import Certainty, DatasetRef, IncidentScope, IncidentSeverity
from headwater_schemas.identity import utc_text
from headwater_schemas.incident_rules import broken_scope

MOST_INCIDENTS: Final = 100
"""Maximum number of open incidents that one question checks, the latest opened first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """An open incident whose bad data would certainly or possibly be read.

    Attributes:
        incident: id of the incident.
        title, severity: title and severity of the incident; None: not stated.
        certainty: certainty that the data to read is bad; UNKNOWN: the reach of the incident isn't fully known.
        why: facts behind the certainty, as sentences.
    """

    incident: str
    title: str | None
    severity: IncidentSeverity | None
    certainty: Certainty
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GateAnswer:
    """Answer: whether a dataset, or partitions of it, may be read.

    Attributes:
        dataset: the dataset.
        partition: partitions that would be read, as a `key=value/…` path; None: the whole dataset.
        holds: open incidents whose bad data would certainly or possibly be read; the latest opened first.
        is_free: true: no open incident holds the dataset, and all open incidents were checked.
        checked: number of open incidents whose reach was computed.
        truncated: whether more incidents are open than one question checks; then the dataset isn't free.
    """

    dataset: Asset
    partition: str | None
    holds: tuple[Hold, ...]
    is_free: bool
    checked: int
    truncated: bool


def gate(
    reader: Reader,
    dataset: str,
    *,
    partition: str | None = None,
    worst: IncidentSeverity | None = None,
    arrivals: Arrivals | None = None,
) -> GateAnswer:
    """Find the open incidents whose bad data, as the graph is now, may be in a dataset.

    Args:
        dataset: a name of the dataset; bad data under its other names counts, too.
        partition: partitions that would be read, as a `key=value/…` path; None: the whole dataset.
        worst: only incidents of this severity or a worse one hold the dataset; an incident without a severity counts as
            the worst. None: incidents of every severity hold it.
        arrivals: as in `trace`.

    Raises:
        NotFoundError, AmbiguousError: from resolving the dataset.
        QuestionError: a partition that isn't of the form `key=value/…`.
    """

    def question(tx: Transaction) -> GateAnswer:
        asset = resolve_dataset(tx, dataset).asset
        _check(asset, partition)
        names = frozenset(Identities.of(tx).members(asset.key))
        rows = tx.rows("incidents/open", states=[str(state) for state in OPEN], limit=MOST_INCIDENTS + 1)
        holds: list[Hold] = []
        checked = 0
        for row in rows[:MOST_INCIDENTS]:
            state = state_of(row["properties"])
            if not counts(state.severity, worst):
                continue
            checked += 1
            reach = reach_of(tx, state, arrivals=arrivals)
            if (hold := _hold(row["properties"]["incident"], state, reach, names, partition)) is not None:
                holds.append(hold)
        truncated = len(rows) > MOST_INCIDENTS
        return GateAnswer(
            dataset=asset,
            partition=partition,
            holds=tuple(holds),
            is_free=not holds and not truncated,
            checked=checked,
            truncated=truncated,
        )

    return reader.read(question)


def _check(asset: Asset, partition: str | None) -> None:
    if partition is None:
        return
    part = IncidentScope(dataset=DatasetRef(asset.namespace, asset.name), partition=partition)
    if (broken := broken_scope(part)) is not None:
        raise QuestionError(f"{broken[0]}: {broken[1]}.", field=broken[0])


def counts(severity: IncidentSeverity | None, worst: IncidentSeverity | None) -> bool:
    """Return whether a severity is `worst` or worse; a severity that isn't stated counts as the worst.

    Args:
        severity: severity of an incident.
        worst: the mildest severity that counts; None: all severities count.
    """
    if severity is None or worst is None or IncidentSeverity.UNKNOWN in (severity, worst):
        return True
    order = list(IncidentSeverity)
    return order.index(severity) <= order.index(worst)


def _hold(
    incident: str, state: IncidentState, reach: IncidentReach, names: frozenset[str], partition: str | None
) -> Hold | None:
    bad = (part for each in reach.tainted if each.dataset.key in names for part in each.parts)
    covering = [part for part in bad if may_be_in(part, partition)]
    if not covering and reach.complete:
        return None
    return Hold(
        incident=incident,
        title=state.title,
        severity=state.severity,
        certainty=surest(part.certainty for part in covering) if covering else Certainty.UNKNOWN,
        why=" ".join(_why(covering, is_complete=reach.complete)),
    )


def may_be_in(part: Part, partition: str | None) -> bool:
    """Return whether a bad part may share rows with partitions; true if the part's own partitions aren't known.

    Args:
        part: part of a dataset.
        partition: partitions as a `key=value/…` path; None: the whole dataset.
    """
    return partition is None or not are_apart(partitions_of(part), [partition])


def _why(covering: list[Part], *, is_complete: bool) -> Iterator[str]:
    if covering:
        times = [part.since for part in covering if part.since is not None]
        since = f", the first since {utc_text(min(times))}" if len(times) == len(covering) else ""
        yield f"{amount(len(covering), 'part')} of the dataset hold{'s' * (len(covering) == 1)} bad data{since}."
        if any(part.kind is PartKind.UNKNOWN for part in covering):
            yield "The extent of some parts isn't known."
    if not is_complete:
        yield "The reach of the incident isn't fully known."
