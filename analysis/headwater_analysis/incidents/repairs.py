"""Declared repairs: parts of datasets, runs, and micro-batches whose bad output somebody repaired.

A repair removes the repaired part from the bad data. Data that was derived from this part earlier stays bad, until it
is written again or declared repaired separately.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from headwater_analysis.blast.tainted import Superseded
from headwater_analysis.trace.context import Context
from headwater_analysis.trace.parts import split_by_file, split_by_partition
from headwater_analysis.trace.traced_parts import Hop, Part, PartKind, offsets, spans_of
from headwater_graph.facts.spans import difference, intersection, union
from headwater_graph.incidents import IncidentState
from headwater_graph.keys import dataset_key, job_key, run_key
from headwater_graph.words import canonical_path, is_within
from headwater_schemas.events import IncidentAction, IncidentClock, IncidentScope
from headwater_schemas.identity import scope_text


@dataclass(frozen=True, slots=True)
class _Repair:
    part: IncidentScope
    dataset: str | None
    job: str | None
    at: datetime
    why: str


class DeclaredRepairs:
    """Repairs of an incident."""

    def __init__(self, context: Context, state: IncidentState) -> None:
        declared = _declarations(state)
        tenant, datasets = context.tx.tenant, context.datasets
        self._context = context
        self._repairs = [
            _Repair(
                part,
                None
                if part.dataset is None
                else datasets.shown_key(dataset_key(tenant, part.dataset.namespace, part.dataset.name)),
                None if part.job is None else job_key(tenant, part.job.namespace, part.job.name),
                *declared[text],
            )
            for text, part in state.repaired.items()
        ]

    def split(self, hop: Hop | None, part: Part) -> tuple[Part | None, list[Superseded]]:
        """Split a part into the part that is still bad (None: nothing), and the repaired parts.

        A repair doesn't cover data that is known to have been written after it.

        Args:
            hop: step that wrote the part; None: the scope names the part.
            part: the part.
        """
        left: Part | None = part
        gone: list[Superseded] = []
        for repair in self._repairs:
            if left is None:
                break
            if (written := left.until or left.since) is not None and written > repair.at:
                continue
            if repair.dataset is not None:
                taken, left = _of_dataset(repair, left)
            elif hop is not None and _is_of(self._context, repair, hop):
                taken, left = left, None
            else:
                continue
            if taken is not None:
                gone.append(Superseded(part=taken, why=repair.why, at=repair.at))
        return left, gone


def _declarations(state: IncidentState) -> Mapping[str, tuple[datetime, str]]:
    """For each part, as text: time and reason of its latest repair."""
    found: dict[str, tuple[datetime, str]] = {}
    for record in state.history:
        if record.event.action is IncidentAction.REPAIRED:
            reason = f": {record.event.reason}" if record.event.reason else "."
            for part in record.event.scope or ():
                found[scope_text(part)] = record.time, f"Declared repaired by {record.event.by}{reason}"
    return found


def _is_of(context: Context, repair: _Repair, hop: Hop) -> bool:
    """Return whether a whole step belongs to the repaired run, job or micro-batches."""
    part, step = repair.part, hop.step
    if part.run is not None:
        return [run.run_id for run in step.runs] == [part.run] and _stays_in_run(context, part.run, hop)
    if repair.job is not None:
        versions = {run.code_version for run in step.runs}
        is_of_job = step.job is not None and step.job.key == repair.job
        if part.code_version is not None:
            is_of_job &= versions == {part.code_version} and _stays_in_run(context, step.runs[0].run_id, hop)
        return is_of_job and _is_at(part, hop)
    if part.query is None or step.query_id != part.query or step.first_batch is None or step.last_batch is None:
        return False
    last = step.last_batch if step.spread_last_batch is None else step.spread_last_batch
    is_in = (part.from_batch or 0) <= step.first_batch and (part.to_batch is None or last <= part.to_batch)
    return is_in and _is_at(part, hop)


def _spreads(hop: Hop) -> bool:
    """Return whether the state of the query spread the step's records to later micro-batches."""
    return hop.step.spread_last_batch != hop.step.last_batch


def _stays_in_run(context: Context, run_id: str, hop: Hop) -> bool:
    """Return whether the state spread the step's records only to micro-batches of this run."""
    if not _spreads(hop):
        return True
    runs = context.runs([run_key(context.tx.tenant, run_id)])
    known = [last for run in runs if (last := run.properties.get("last_batch")) is not None]
    return bool(known) and hop.step.spread_last_batch is not None and hop.step.spread_last_batch <= known[0]


def _is_at(part: IncidentScope, hop: Hop) -> bool:
    """Return whether a step is known to have run in the part's processing time."""
    if part.since is None and part.until is None:
        return True
    began, ended = hop.step.started_at, hop.step.ended_at
    if part.clock is not IncidentClock.PROCESSING or began is None or ended is None or _spreads(hop):
        return False
    return (part.since is None or began >= part.since) and (part.until is None or ended <= part.until)


def _of_dataset(repair: _Repair, part: Part) -> tuple[Part | None, Part | None]:
    """Split a part into the data that the repaired part certainly covers, and the rest; None: nothing."""
    repaired = repair.part
    if part.dataset.key != repair.dataset:
        return None, part
    if repaired.column is not None or repaired.since_last_good:
        return None, part  # other columns may still be bad; the time of the last good run isn't known exactly
    if repaired.since is not None or repaired.until is not None:
        return (part, None) if _is_written_in(repaired, part) else (None, part)
    if repaired.offsets is not None:
        return _offsets(repaired, part)
    if repaired.files is not None:
        repaired_paths = [canonical_path(path) for path in repaired.files]
        return split_by_file(part, lambda path: any(is_within(canonical_path(path), each) for each in repaired_paths))
    if repaired.version is not None:
        is_this_version = part.kind is PartKind.SNAPSHOT and part.version == repaired.version
        return (part, None) if is_this_version and repaired.partition is None else (None, part)
    if repaired.partition is not None:
        return split_by_partition(part, (repaired.partition,))
    return part, None


def _is_written_in(repaired: IncidentScope, part: Part) -> bool:
    if repaired.clock is not IncidentClock.PROCESSING or part.since is None or part.until is None:
        return False
    begun = repaired.since is None or part.since >= repaired.since
    return begun and (repaired.until is None or part.until <= repaired.until)


def _offsets(repaired: IncidentScope, part: Part) -> tuple[Part | None, Part | None]:
    if part.kind is not PartKind.OFFSETS:
        return None, part
    bad = spans_of(part.offsets)
    given = union((each.partition, each.from_, each.to_exclusive) for each in repaired.offsets or ())
    gone, left = intersection(bad, given), difference(bad, given)
    return (
        replace(part, offsets=offsets(gone), rows=None) if gone else None,
        replace(part, offsets=offsets(left), rows=None) if gone and left else None if gone else part,
    )
