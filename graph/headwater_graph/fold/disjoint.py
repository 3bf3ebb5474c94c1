"""Split of a batch into parts without common jobs or datasets: their transactions don't wait for each other's locks.

The split only saves time: if two parts have something in common, one writer waits. So events that name no job or
dataset may be in any part.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from headwater_graph.keys import dataset_key, incident_key, job_key
from headwater_schemas.events import (
    DatasetRef,
    DatasetUse,
    IncidentEvent,
    IncidentScope,
    LineageEvent,
    QualityResult,
)

_LEAST_COST = 100
"""Minimum cost of a part: the statements of a smaller part take longer than the parallel write saves."""

_COST_OF_OTHER_KINDS = 3


def disjoint(events: Sequence[LineageEvent], most: int, *, least: int = _LEAST_COST) -> list[Sequence[LineageEvent]]:
    """Split events into at most `most` parts of similar cost; events keep their order.

    Events that share a job or dataset, directly or through other events, are in one part.

    Args:
        most: maximum number of parts, 1 or more.
        least: minimum cost of a part, in micro-batches; if any part would cost less, there is one part.
    """
    if most == 1:
        return [events]
    sets = _DisjointSets()
    roots = [sets.join(event) for event in events]
    groups: dict[int, _Part] = {}
    for at, (event, root) in enumerate(zip(events, roots, strict=True)):
        groups.setdefault(sets.find(root), _Part()).add([at], _cost(event))
    parts = [_Part() for _ in range(most)]
    for group in sorted(groups.values(), key=lambda group: group.cost, reverse=True):
        min(parts, key=lambda part: part.cost).add(group.events, group.cost)
    if min(part.cost for part in parts) < least:
        return [events]
    return [[events[at] for at in sorted(part.events)] for part in parts]


def _cost(event: LineageEvent) -> int:
    """Estimate the database's cost of an event, in micro-batches."""
    return 1 if event.interval_event is not None else _COST_OF_OTHER_KINDS


@dataclass(slots=True)
class _Part:
    events: list[int] = field(default_factory=list)
    cost: int = 0

    def add(self, events: Sequence[int], cost: int) -> None:
        self.events += events
        self.cost += cost


class _DisjointSets:
    """Disjoint sets of job and dataset keys that events name together.

    https://en.wikipedia.org/wiki/Disjoint-set_data_structure
    """

    def __init__(self) -> None:
        self._indexes: dict[str, int] = {}
        self._parents: list[int] = []

    def find(self, index: int) -> int:
        """Return the representative of a set."""
        parents = self._parents
        while parents[index] != index:
            parents[index] = index = parents[parents[index]]
        return index

    def join(self, event: LineageEvent) -> int:
        """Merge the sets of all names of an event, and return the index of the merged set."""
        names = _named(event)
        one = self._index(next(names, ""))
        for name in names:
            other = self._index(name)
            if other != one:
                self._parents[other] = one
        return one

    def _index(self, name: str) -> int:
        index = self._indexes.get(name)
        if index is None:
            index = self._indexes[name] = len(self._parents)
            self._parents.append(index)
            return index
        return self.find(index)


def _named(event: LineageEvent) -> Iterator[str]:
    """Keys of jobs, datasets and incidents that an event names."""
    tenant = event.tenant
    if event.job is not None:
        yield job_key(tenant, event.job.namespace, event.job.name)
    if (run := event.run_event) is not None:
        for parent in (run.parent, run.root):
            if parent is not None:
                yield job_key(tenant, parent.job.namespace, parent.job.name)
    if (incident := event.incident_event) is not None:
        yield incident_key(tenant, incident.incident)
        for part in _parts(incident):
            if part.job is not None:
                yield job_key(tenant, part.job.namespace, part.job.name)
    for dataset in _datasets(event):
        yield dataset_key(tenant, dataset.namespace, dataset.name)


def _datasets(event: LineageEvent) -> Iterator[DatasetRef]:
    if (run := event.run_event) is not None:
        yield from _used(run.inputs, run.outputs, run.quality)
    elif (interval := event.interval_event) is not None:
        for entry in interval.entries:
            yield from _used(entry.inputs, entry.outputs, entry.quality)
    elif (described := event.dataset_event) is not None:
        yield described.dataset
        if described.previous is not None:
            yield described.previous
        yield from (DatasetRef(link.namespace, link.name) for link in described.symlinks or ())
    elif (plan := event.plan_event) is not None:
        yield from plan.lineage.datasets
    elif (job := event.job_event) is not None:
        yield from (*(job.inputs or ()), *(job.outputs or ()))
        if job.lineage is not None:
            yield from job.lineage.datasets
    elif (incident := event.incident_event) is not None:
        yield from (part.dataset for part in _parts(incident) if part.dataset is not None)
        yield from (reached.dataset for reached in incident.reached or ())


def _parts(incident: IncidentEvent) -> Iterator[IncidentScope]:
    """Scopes that an action adds or removes. Relationships to nodes of removed scopes are deleted."""
    yield from (*(incident.scope or ()), *(incident.removed or ()))


def _used(
    inputs: Iterable[DatasetUse], outputs: Iterable[DatasetUse], quality: Iterable[QualityResult]
) -> Iterator[DatasetRef]:
    for use in (*inputs, *outputs):
        yield use.dataset
        yield from use.inputs or ()
    yield from (result.dataset for result in quality if result.dataset is not None)
