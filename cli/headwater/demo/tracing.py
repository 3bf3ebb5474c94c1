"""Which columns lead back to a dataset, over the column lineage in the graph.

An edge says that its target is made from, or influenced by, its source. Where the source or target is a dataset, that
holds for the dataset as a whole: as a target, for each of its columns; as a source, for its rows, and so for whatever
any of its columns came from.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ColumnGraph:
    """Column lineage, by node keys.

    Attributes:
        datasets: The dataset of each column.
        edges: Pairs of source and target, each a column or a dataset.
    """

    datasets: Mapping[str, str]
    edges: Iterable[tuple[str, str]]

    def untraceable(self, columns: Iterable[str], origin: str) -> list[str]:
        """Those of the columns from which no way leads back to the dataset `origin`, in their order."""
        reached = self._led_to_by(origin)
        return [column for column in columns if column not in reached]

    def _led_to_by(self, origin: str) -> set[str]:
        columns = defaultdict(list)
        for column, dataset in self.datasets.items():
            columns[dataset].append(column)
        targets = defaultdict(list)
        for source, target in self.edges:
            targets[source].append(target)

        # Forwards from the origin: what it reaches is what can be traced back to it.
        reached: set[str] = set()
        waiting = [origin, *columns[origin]]
        while waiting:
            node = waiting.pop()
            if node in reached:
                continue
            reached.add(node)
            waiting += targets[node]
            if node in self.datasets:
                # What is made from a dataset as a whole is made from this column's dataset, too.
                waiting += targets[self.datasets[node]]
            else:
                waiting += columns[node]
        return reached
