"""KnownTables: locations of tables that a catalog no longer has, such as a dropped one."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from headwater_producers.spark.plan import DdlChange, PlanDescription
from headwater_schemas.events import DatasetRef, LifecycleChange, Symlink

_LIMIT: Final = 10_000


class KnownTables:
    """Datasets that an application has used, by their names in catalogs."""

    def __init__(self) -> None:
        self._datasets: OrderedDict[DatasetRef, DatasetRef] = OrderedDict()

    def see(self, description: PlanDescription) -> None:
        """Remember all tables that a plan names."""
        # A dataset named by its catalog's name alone is looked up here, and so is the former location of a moved table.
        changed = [each for each in description.changes if not each.by_name and not _is_moved(each)]
        named = [
            *((each.dataset, each.symlinks) for each in description.inputs),
            *((each.dataset, each.symlinks) for each in description.outputs),
            *((each.dataset, each.symlinks) for each in changed),
        ]
        for dataset, symlinks in named:
            self._see(dataset, symlinks)

    def _see(self, dataset: DatasetRef, symlinks: Iterable[Symlink]) -> None:
        for name in (dataset, *(DatasetRef(link.namespace, link.name) for link in symlinks)):
            self._datasets[name] = dataset
            self._datasets.move_to_end(name)
        while len(self._datasets) > _LIMIT:
            self._datasets.popitem(last=False)

    def resolved(self, change: DdlChange) -> DdlChange | None:
        """Return the change with the datasets' locations, where it only has names of a catalog.

        None for a DROP IF EXISTS of a table that the application never used: it may not have existed.
        """
        dataset, previous = change.dataset, change.previous
        if change.if_exists and change.by_name and dataset not in self._datasets:
            return None
        if change.by_name:
            dataset = self._datasets.get(dataset, dataset)
        if change.previous_by_name and previous is not None:
            # The former location of a moved table that keeps its name is only known if it was seen before.
            previous = self._datasets.get(previous, None if _is_moved(change) else previous)
            if _is_moved(change) and previous not in (None, dataset):
                change = replace(change, lifecycle=LifecycleChange.RENAME)
        known = replace(change, dataset=dataset, previous=previous if previous != dataset else None)
        self._forget(known)
        if change.previous_by_name and not change.by_name:
            self._see(known.dataset, known.symlinks)
        return known

    def _forget(self, change: DdlChange) -> None:
        """Forget names that are no dataset's any more: a dropped or moved table's, or an old one."""
        names = {change.dataset, *(DatasetRef(link.namespace, link.name) for link in change.symlinks)}
        is_dropped, is_named = change.lifecycle is LifecycleChange.DROP, bool(change.symlinks)
        for name, dataset in list(self._datasets.items()):
            is_old = dataset == change.dataset and (is_dropped or (is_named and name not in names))
            if is_old or (change.previous is not None and dataset == change.previous):
                del self._datasets[name]


def _is_moved(change: DdlChange) -> bool:
    """Return True if a table has moved to another location under its old name."""
    return change.lifecycle is LifecycleChange.ALTER and change.previous_by_name
