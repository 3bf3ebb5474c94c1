"""KnownTables: where the tables lie that a catalog no longer tells of, such as one that is dropped."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from headwater_schemas.events import DatasetRef

if TYPE_CHECKING:
    from headwater_producers.spark.plan import DatasetChange, PlanDescription

_LIMIT: Final = 10_000


class KnownTables:
    """The datasets that an application has met, by the names that catalogs have for them."""

    def __init__(self) -> None:
        self._datasets: OrderedDict[DatasetRef, DatasetRef] = OrderedDict()

    def see(self, description: PlanDescription) -> None:
        """Remembers all tables that a plan names."""
        named = [
            *((each.dataset, each.symlinks) for each in description.inputs),
            *((each.dataset, each.symlinks) for each in description.outputs),
            *((each.dataset, each.symlinks) for each in description.changes),
        ]
        for dataset, symlinks in named:
            for link in symlinks:
                name = DatasetRef(link.namespace, link.name)
                self._datasets[name] = dataset
                self._datasets.move_to_end(name)
        while len(self._datasets) > _LIMIT:
            self._datasets.popitem(last=False)

    def resolved(self, change: DatasetChange) -> DatasetChange:
        """The same change of the datasets themselves, where only their catalog's names are known of it."""
        dataset, previous = change.dataset, change.previous
        if change.by_name:
            dataset = self._datasets.get(dataset, dataset)
        if change.previous_by_name and previous is not None:
            previous = self._datasets.get(previous, previous)
        return replace(change, dataset=dataset, previous=previous if previous != dataset else None)
