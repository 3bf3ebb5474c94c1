"""Parts of a batch that have no job or dataset in common, so that their transactions don't wait for each other's locks.

It only saves time: two writers may have anything in common, and then one waits. So whatever names no job or dataset, or
names them in other ways, may be in any part.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from headwater_consumers.graph.keys import dataset_key, job_key
from headwater_schemas.events import DatasetRef, DatasetUse, LineageEvent, QualityResult

_WORTH_IT = 100
"""Of a part that costs less, the further statements take longer than is saved."""

_OTHERS = 3


def disjoint(events: Sequence[LineageEvent], most: int, *, least: int = _WORTH_IT) -> list[Sequence[LineageEvent]]:
    """At most so many parts, of much the same size; events stay in their order.

    Events that name a job or dataset in common, directly or by way of others, are in one part.

    Args:
        events: of a batch.
        most: how many parts, 1 or more.
        least: what each must cost to be worth a transaction, in micro-batches; or there is one part.
    """
    if most == 1:
        return [events]
    names = _Names()
    places = [names.of_event(event) for event in events]
    groups: dict[int, _Part] = {}
    for at, (event, place) in enumerate(zip(events, places, strict=True)):
        groups.setdefault(names.first(place), _Part()).add([at], _cost(event))
    parts = [_Part() for _ in range(most)]
    for group in sorted(groups.values(), key=lambda group: group.cost, reverse=True):
        min(parts, key=lambda part: part.cost).add(group.places, group.cost)
    if min(part.cost for part in parts) < least:
        return [events]
    return [[events[at] for at in sorted(part.places)] for part in parts]


def _cost(event: LineageEvent) -> int:
    """What the database takes for it, about, in micro-batches."""
    return 1 if event.interval_event is not None else _OTHERS


@dataclass(slots=True)
class _Part:
    places: list[int] = field(default_factory=list)
    cost: int = 0

    def add(self, places: Sequence[int], cost: int) -> None:
        self.places += places
        self.cost += cost


class _Names:
    """Which names go together: a forest of disjoint sets, https://en.wikipedia.org/wiki/Disjoint-set_data_structure."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._above: list[int] = []

    def first(self, place: int) -> int:
        """The one that stands for all that go together with it."""
        above = self._above
        while above[place] != place:
            above[place] = place = above[above[place]]
        return place

    def of_event(self, event: LineageEvent) -> int:
        """The place of its names, which go together from now on."""
        names = _named(event)
        one = self._place(next(names, ""))
        for name in names:
            other = self._place(name)
            if other != one:
                self._above[other] = one
        return one

    def _place(self, name: str) -> int:
        place = self._places.get(name)
        if place is None:
            place = self._places[name] = len(self._above)
            self._above.append(place)
            return place
        return self.first(place)


def _named(event: LineageEvent) -> Iterator[str]:
    """Keys of jobs and datasets that an event names."""
    tenant = event.tenant
    if event.job is not None:
        yield job_key(tenant, event.job.namespace, event.job.name)
    if (run := event.run_event) is not None:
        for parent in (run.parent, run.root):
            if parent is not None:
                yield job_key(tenant, parent.job.namespace, parent.job.name)
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


def _used(
    inputs: Iterable[DatasetUse], outputs: Iterable[DatasetUse], quality: Iterable[QualityResult]
) -> Iterator[DatasetRef]:
    for use in (*inputs, *outputs):
        yield use.dataset
        yield from use.inputs or ()
    yield from (result.dataset for result in quality if result.dataset is not None)
