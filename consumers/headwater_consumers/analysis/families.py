"""Structs and topics' payloads, and their fields: whoever takes the whole takes each field, and the other way round.

A job that copies `value` names no `value.email`, and its plan has no edge from there. So what leaves a column also
leaves by the columns that it is part of, and by its fields, those that no plan makes by themselves: what a plan does
with a field of its own it states of that field.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from headwater_consumers.analysis.reader import Transaction


@dataclass(frozen=True, slots=True)
class Relatives:
    """Columns that some others are part of, and fields of these, by id.

    Attributes:
        wholes: of each whole, the columns asked about that are part of it.
        fields: of each field, the columns asked about that it is part of.
    """

    wholes: dict[int, list[int]]
    fields: dict[int, list[int]]

    @property
    def every(self) -> list[int]:
        """Ids of all relatives."""
        return [*self.wholes, *self.fields]

    def of(self, node: int) -> list[int]:
        """The columns asked about that a node is a relative of."""
        return [*self.wholes.get(node, ()), *self.fields.get(node, ())]


class Families:
    """Looks up the relatives of columns, those of a dataset once.

    Args:
        tx: to look up in.
    """

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self._dataset: dict[int, int | None] = {}
        self._names: dict[int, str] = {}
        self._columns: dict[int, dict[str, int]] = {}
        self._made: set[int] = set()

    @staticmethod
    def of(tx: Transaction) -> Families:
        """Those of a transaction: every part of a question shares them."""
        return tx.common(Families)

    def relatives(self, nodes: Sequence[int], *, every_field: bool = False) -> Relatives:
        """The relatives of columns; some may be among these themselves.

        Args:
            nodes: ids of columns and datasets, under the names that they have in the graph.
            every_field: whether fields count that a plan makes by themselves.
        """
        self._look_up(nodes)
        wholes: dict[int, list[int]] = defaultdict(list)
        fields: dict[int, list[int]] = defaultdict(list)
        for node in nodes:
            dataset = self._dataset.get(node)
            if dataset is None:
                continue
            columns, name = self._columns[dataset], self._names[node]
            for whole in _wholes(name):
                if (found := columns.get(whole)) is not None:
                    wholes[found].append(node)
            for other, field in columns.items():
                if other.startswith(f"{name}.") and (every_field or field not in self._made):
                    fields[field].append(node)
        return Relatives(dict(wholes), dict(fields))

    def _look_up(self, nodes: Sequence[int]) -> None:
        new = [node for node in dict.fromkeys(nodes) if node not in self._dataset]
        if not new:
            return
        self._dataset |= dict.fromkeys(new)
        rows: list[Any] = self._tx.rows("families/columns", nodes=new)
        for row in rows:
            columns = self._columns.setdefault(row["dataset"], {})
            for node, name, is_made in row["columns"]:
                columns[name] = node
                self._names[node] = name
                self._dataset[node] = row["dataset"]
                if is_made:
                    self._made.add(node)


def _wholes(name: str) -> Iterable[str]:
    parts = name.split(".")
    return (".".join(parts[:end]) for end in range(1, len(parts)))
