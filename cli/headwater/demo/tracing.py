"""Column lineage check: the columns that lead back to a dataset, over the edges in the graph.

An edge means that its target is made from (DERIVES), or influenced by (INFLUENCES), its source. Where the source or
target is a dataset, that holds for the dataset as a whole: as a target, for each of its columns; as a source, for its
rows, and so for whatever any of its columns came from.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

Edge = tuple[str, str]


@dataclass(frozen=True, slots=True)
class ColumnGraph:
    """Column lineage, by node keys.

    Attributes:
        datasets: The dataset of each column.
        derives: Pairs of source and target, each a column or a dataset: value dependencies.
        influences: Pairs of source and target: dependencies that decide which rows there are, or where they go.
    """

    datasets: Mapping[str, str]
    derives: Sequence[Edge]
    influences: Sequence[Edge] = ()

    def untraceable(self, columns: Iterable[str], origin: str) -> list[str]:
        """List the columns that can't be traced back to the dataset `origin`, in their order.

        A column is traced by its sources. Influence alone, which a single filter gives to every column of its
        output, counts only for one that is made from another source entirely, as `rain` is from the weather.
        """
        made = self._led_to_by(origin, self.derives)
        influenced = self._led_to_by(origin, [*self.derives, *self.influences])
        written = {self._dataset(target) for _, target in (*self.derives, *self.influences)}

        def from_elsewhere(column: str) -> bool:
            # A column that lost its source is in a dataset that something else is still written into.
            roots = self._made_from(column)
            return bool(roots) and not any(self._dataset(root) in {origin, *written} for root in roots)

        return [
            column
            for column in columns
            if column not in made
            and not (column in influenced and from_elsewhere(column) and not self._shares_source(column, origin))
        ]

    def _shares_source(self, column: str, origin: str) -> bool:
        """Return True if the column has a source in common with the origin, and so may have bypassed it."""
        upstream = {self._dataset(root) for own in self._columns()[origin] for root in self._made_from(own)}
        return any(self._dataset(root) in upstream for root in self._made_from(column))

    def _made_from(self, column: str) -> set[str]:
        """List the first columns and datasets among a column's sources, over any number of steps; never itself."""
        sources = defaultdict(list)
        for source, target in self.derives:
            sources[target].append(source)
        found, roots, waiting = set(), set(), [column]
        while waiting:
            node = waiting.pop()
            if node in found:
                continue
            found.add(node)
            waiting += sources[node]
            if not sources[node]:
                roots.add(node)
        return roots - {column}

    def _led_to_by(self, origin: str, edges: Iterable[Edge]) -> set[str]:
        columns = self._columns()
        targets = defaultdict(list)
        for source, target in edges:
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
                # A target of a dataset as a whole is a target of this column's dataset, too.
                waiting += targets[self.datasets[node]]
            else:
                waiting += columns[node]
        return reached

    def _columns(self) -> defaultdict[str, list[str]]:
        columns = defaultdict(list)
        for column, dataset in self.datasets.items():
            columns[dataset].append(column)
        return columns

    def _dataset(self, node: str) -> str:
        return self.datasets.get(node, node)
