"""Declared repairs: parts of datasets, runs, and micro-batches whose bad output somebody repaired.

A repair removes the repaired part from the bad data. Data that was derived from this part earlier stays bad, until it
is written again or declared repaired separately.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from headwater_analysis.blast.tainted import Superseded
from headwater_analysis.trace.batches import Batch, Query, same_topic
from headwater_analysis.trace.by_time import ends
from headwater_analysis.trace.context import Context
from headwater_analysis.trace.parts import joined, split_by_file, split_by_partition
from headwater_analysis.trace.traced_parts import Hop, Part, PartKind, StepKind, offsets, spans_of
from headwater_graph.facts.spans import Spans, difference, intersection, union
from headwater_graph.incidents import IncidentState
from headwater_graph.keys import dataset_key, job_key, query_key, run_key
from headwater_graph.words import canonical_path, is_within
from headwater_schemas.events import Certainty, IncidentAction, IncidentClock, IncidentScope
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
        self._stored: dict[tuple[str, int, int], tuple[list[Batch], bool]] = {}
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
            taken: Part | None = None
            if repair.dataset is None and hop is not None:
                is_whole = _is_of(self._context, repair, hop) and not self._is_later(repair, hop, left)
                taken, left = (left, None) if is_whole else self._of_batches(repair, hop, left)
            elif not self._is_later(repair, hop, left):
                taken, left = _of_dataset(repair, left)
            if taken is not None:
                gone.append(Superseded(part=taken, why=repair.why, at=repair.at))
        return left, gone

    def _is_later(self, repair: _Repair, hop: Hop | None, part: Part) -> bool:
        """Return whether some of a part is known to have been written after a repair."""
        times = [part.until or part.since]
        if times == [None] and hop is not None:
            # One micro-batch without a time leaves the part without one.
            times = [_written(batch) for batch in self._batches(hop)[0]]
        return any(time is not None and time > repair.at for time in times)

    def _batches(self, hop: Hop) -> tuple[list[Batch], bool]:
        """Micro-batches of a step, with those to which state spread its records; and whether all of them are listed."""
        query, last = self._query(hop), hop.step.last_spread
        if query is None or hop.step.first_batch is None or last is None:
            return [], False
        asked = query.key, hop.step.first_batch, last
        if asked not in self._stored:
            self._stored[asked] = ends(self._context, query, hop.step.first_batch, last)
        return self._stored[asked]

    def _query(self, hop: Hop) -> Query | None:
        if hop.step.kind is not StepKind.MICRO_BATCHES or hop.step.query_id is None:
            return None
        key = query_key(self._context.tx.tenant, hop.step.query_id)
        return self._context.queries([key]).get(key)

    def _of_batches(self, repair: _Repair, hop: Hop, part: Part) -> tuple[Part | None, Part | None]:
        """Split an output of a step, some of whose micro-batches are repaired: what only these wrote, and the rest."""
        query = self._query(hop)
        if query is None or not _may_have_batches(self._context, repair, query):
            return None, part
        batches, complete = self._batches(hop)
        if not complete:
            return None, part
        repaired = [batch for batch in batches if _has_batch(repair, batch)]
        by_repaired = _outputs(self._context, repaired, part)
        by_others = _outputs(self._context, (batch for batch in batches if batch not in repaired), part)
        exact = [each for each in by_repaired if each.certainty is Certainty.EXACT]
        if part.kind is PartKind.OFFSETS:
            ours, others = (
                spans_of(span for each in found if same_topic(each.topic_id, part.topic_id) for span in each.offsets)
                for found in (exact, by_others)
            )
            return _split_by_offsets(part, difference(ours, others))
        if part.kind is PartKind.FILES:
            if any(each.file_count != len(each.files) for each in by_others):
                return None, part  # another micro-batch may have written files of the same names
            others_paths = {path for each in by_others for path in each.files}
            paths = {path for each in exact for path in each.files} - others_paths
            return split_by_file(part, paths.__contains__)
        return (part, None) if _write(part) in {*map(_write, exact)} - {*map(_write, by_others)} else (None, part)


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
    if part.query is None or step.query_id != part.query or step.first_batch is None or step.last_spread is None:
        return False
    is_in = (part.from_batch or 0) <= step.first_batch
    is_in &= part.to_batch is None or step.last_spread <= part.to_batch
    return is_in and _is_at(part, hop)


def _may_have_batches(context: Context, repair: _Repair, query: Query) -> bool:
    """Return whether some micro-batches of a query may belong to a repair."""
    if repair.job is not None:
        return query.job is not None and query.job.key == repair.job
    if repair.part.run is not None:
        runs = context.runs([run_key(context.tx.tenant, repair.part.run)])
        return any(run.properties.get("_query") == query.key for run in runs)
    return repair.part.query == query.query_id


def _has_batch(repair: _Repair, batch: Batch) -> bool:
    """Return whether a micro-batch of a query of the repair is known to belong to the repair."""
    part, run = repair.part, batch.run
    if (written := _written(batch)) is not None and written > repair.at:
        return False
    if part.run is not None:
        return run is not None and run.run_id == part.run
    if part.code_version is not None and (run is None or run.code_version != part.code_version):
        return False
    is_in = (part.from_batch or 0) <= batch.first and (part.to_batch is None or batch.last <= part.to_batch)
    return is_in and _is_within(part, batch.started_at, batch.ended_at)


def _written(batch: Batch) -> datetime | None:
    return batch.ended_at or batch.started_at


def _outputs(context: Context, batches: Iterable[Batch], part: Part) -> list[Part]:
    """Outputs of each micro-batch to the dataset of a part."""
    written = (part for batch in batches for part in joined([(batch, use) for use in batch.writes()], context.datasets))
    return [each for each in map(context.datasets.shown, written) if each.dataset.key == part.dataset.key]


def _write(part: Part) -> tuple[object, ...]:
    """Identity of a write: its position, and the time of its micro-batch."""
    return part.kind, part.format, part.version, part.text, part.since, part.until


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
    return not _spreads(hop) and _is_within(part, hop.step.started_at, hop.step.ended_at)


def _is_within(part: IncidentScope, began: datetime | None, ended: datetime | None) -> bool:
    """Return whether something began and ended in the part's processing time; True if the part has no time span."""
    if part.since is None and part.until is None:
        return True
    if part.clock is not IncidentClock.PROCESSING or began is None or ended is None:
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
        return (part, None) if _is_within(repaired, part.since, part.until) else (None, part)
    if repaired.offsets is not None:
        given = union((each.partition, each.from_, each.to_exclusive) for each in repaired.offsets)
        return _split_by_offsets(part, given)
    if repaired.files is not None:
        repaired_paths = [canonical_path(path) for path in repaired.files]
        return split_by_file(part, lambda path: any(is_within(canonical_path(path), each) for each in repaired_paths))
    if repaired.version is not None:
        is_this_version = part.kind is PartKind.SNAPSHOT and part.version == repaired.version
        return (part, None) if is_this_version and repaired.partition is None else (None, part)
    if repaired.partition is not None:
        return split_by_partition(part, (repaired.partition,))
    return part, None


def _split_by_offsets(part: Part, given: Spans) -> tuple[Part | None, Part | None]:
    """Split a part into its given offsets, and the rest."""
    if part.kind is not PartKind.OFFSETS:
        return None, part
    bad = spans_of(part.offsets)
    gone, left = intersection(bad, given), difference(bad, given)
    return (
        replace(part, offsets=offsets(gone), rows=None) if gone else None,
        replace(part, offsets=offsets(left), rows=None) if gone and left else None if gone else part,
    )
