"""One-time export of events as documents: all events, those of a time span, or those related to some datasets.

The events are read twice, and aren't kept in memory. The first pass finds the runs and jobs related to the datasets,
and the cited column lineages. The second pass builds the documents. So a START event without datasets is exported with
the rest of its run, and an event gets its column lineage even if the lineage was published later.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from headwater_consumers.forward.documents import UnsendableError, sendable_documents
from headwater_consumers.forward.plans import PlanCache
from headwater_graph import keys
from headwater_openlineage.errors import Refused
from headwater_openlineage.times import time_of
from headwater_schemas.events import DatasetRef, DatasetUse, JobRef, LineageEvent

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ExportScope:
    """Filter of the events to export.

    Attributes:
        datasets: keys of datasets; None: all events. With keys, the export has the runs and jobs that read or wrote one
            of these datasets, the parents of these runs, and events on the datasets themselves.
        since: earliest event time of documents, inclusive; None: no bound.
        until: latest event time of documents, exclusive; None: no bound.
    """

    tenant: str
    datasets: frozenset[str] | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(slots=True)
class ExportTotals:
    """Counts of an export.

    Attributes:
        exported: events exported as documents.
        documents: number of documents for these events.
        without_document: events without a counterpart in OpenLineage: declarations, retention and incidents.
        unsendable: events with an invalid OpenLineage document or facet.
    """

    read: int = 0
    exported: int = 0
    documents: int = 0
    without_document: int = 0
    unsendable: int = 0


class Exporter:
    """Makes the documents of a scope.

    Args:
        coalesced: True if micro-batches that share an event share a document.
    """

    def __init__(self, scope: ExportScope, plans: PlanCache, *, coalesced: bool = False) -> None:
        self._scope = scope
        self._plans = plans
        self._coalesced = coalesced
        self._related = _RelatedRuns(scope.tenant, scope.datasets or frozenset())
        self.totals = ExportTotals()

    def look_at(self, events: Iterable[LineageEvent]) -> None:
        """Examine all events, in the first pass."""
        for event in events:
            if event.tenant == self._scope.tenant:
                self._plans.remember(event)
                if self._scope.datasets is not None:
                    self._related.look_at(event)

    def documents(self, events: Iterable[LineageEvent]) -> Iterator[Json]:
        """Return the documents of all events, in the second pass, in order."""
        for event in events:
            self.totals.read += 1
            if event.tenant != self._scope.tenant:
                continue
            if self._scope.datasets is not None and not self._related.has(event):
                continue
            if _has_no_document(event):
                self.totals.without_document += 1
                continue
            try:
                documents = sendable_documents(event, self._plans.cited_by(event), coalesced=self._coalesced)
            except UnsendableError:
                self.totals.unsendable += 1
                continue
            found = [document for document, _ in documents if self._is_in_time(document)]
            self.totals.exported += bool(found)
            self.totals.documents += len(found)
            yield from found

    def _is_in_time(self, document: Json) -> bool:
        since, until = self._scope.since, self._scope.until
        if since is None and until is None:
            return True
        try:
            time = time_of(document)
        except Refused:
            return False  # the year is outside 1970 to 9998
        return (since is None or since <= time) and (until is None or time < until)


def _has_no_document(event: LineageEvent) -> bool:
    bodies = (event.run_event, event.interval_event, event.plan_event, event.job_event, event.dataset_event)
    return all(body is None for body in bodies)


@dataclass(slots=True)
class _RelatedRuns:
    """Runs and jobs that read or wrote some datasets."""

    tenant: str
    datasets: frozenset[str]
    runs: set[str] = field(default_factory=set)
    jobs: set[JobRef] = field(default_factory=set)
    _in_scope: dict[DatasetRef, bool] = field(default_factory=dict)

    def look_at(self, event: LineageEvent) -> None:
        if not self._names_dataset(event):
            return
        if event.job is not None:
            self.jobs.add(event.job)
        if event.run is not None:
            self.runs.add(event.run.run_id)
        if (body := event.run_event) is not None:
            self.runs.update(parent.run_id for parent in (body.parent, body.root) if parent is not None)

    def has(self, event: LineageEvent) -> bool:
        if event.run is not None and event.run.run_id in self.runs:
            return True
        if event.job_event is not None and event.job in self.jobs:
            return True
        return self._names_dataset(event)

    def _names_dataset(self, event: LineageEvent) -> bool:
        return any(map(self._is_in_scope, _datasets(event)))

    def _is_in_scope(self, dataset: DatasetRef) -> bool:
        found = self._in_scope.get(dataset)
        if found is None:
            found = keys.dataset_key(self.tenant, dataset.namespace, dataset.name) in self.datasets
            self._in_scope[dataset] = found
        return found


def _datasets(event: LineageEvent) -> Iterator[DatasetRef]:
    """List the datasets that an event describes."""
    if (run := event.run_event) is not None:
        yield from _used(run.inputs, run.outputs)
    if (interval := event.interval_event) is not None:
        for entry in interval.entries:
            yield from _used(entry.inputs, entry.outputs)
    if (plan := event.plan_event) is not None:
        yield from plan.lineage.datasets
    if (job := event.job_event) is not None:
        yield from (*(job.inputs or ()), *(job.outputs or ()))
        if job.lineage is not None:
            yield from job.lineage.datasets
    if (dataset := event.dataset_event) is not None:
        yield dataset.dataset


def _used(inputs: Iterable[DatasetUse], outputs: Iterable[DatasetUse]) -> Iterator[DatasetRef]:
    """List the datasets read and written, and sources of outputs that aren't among the inputs, e.g. a joined table."""
    for use in (*inputs, *outputs):
        yield use.dataset
        yield from use.inputs or ()
