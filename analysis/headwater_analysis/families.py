"""Nested columns: structs and topics' payloads, and their fields. Reading a parent reads its fields, and vice versa.

A job that copies `value` doesn't name `value.email`, and its plan has no edge from this field. So data of a column also
flows along the edges of its parents and of its fields. Fields that a plan writes separately are an exception: the plan
has their edges.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from headwater_analysis.reader import Transaction


@dataclass(frozen=True, slots=True)
class Relatives:
    """Parents and fields of some columns, by id.

    Attributes:
        wholes: for each parent, the requested columns that are its fields.
        fields: for each field, the requested columns that contain it.
    """

    wholes: dict[int, list[int]]
    fields: dict[int, list[int]]

    @property
    def every(self) -> list[int]:
        """Ids of all parents and fields."""
        return [*self.wholes, *self.fields]

    def of(self, node: int) -> list[int]:
        """Requested columns of which this node is a parent or a field."""
        return [*self.wholes.get(node, ()), *self.fields.get(node, ())]


class Families:
    """Lookup of parents and fields of columns; the columns of each dataset are looked up once."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self._dataset: dict[int, int | None] = {}
        self._names: dict[int, str] = {}
        self._columns: dict[int, dict[str, int]] = {}
        self._made: set[int] = set()

    @staticmethod
    def of(tx: Transaction) -> Families:
        """Return the transaction's lookup, which all parts of a question share."""
        return tx.common(Families)

    def relatives(self, nodes: Sequence[int], *, every_field: bool = False) -> Relatives:
        """Return the parents and fields of columns; these may themselves be among `nodes`.

        Args:
            nodes: ids of columns. Aliases aren't looked up: pass them, too (`Identities.expanded`). Ids of datasets are
                ignored.
            every_field: whether to include fields that a plan writes separately.
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

    def copied(self, copies: Sequence[tuple[int, int, int]]) -> dict[tuple[int, int, int], int]:
        """Find the target of each field that is copied together with its parent column.

        Args:
            copies: ids of field, parent and target; the target holds a copy of the parent. A triple whose second id
                isn't a parent of its first is skipped.

        Returns:
            For each triple, the id of the copied field: `payload.email` if the field is `value.email`, the parent
            `value` and the target `payload`. Triples whose target has no such field are left out.
        """
        self._look_up([node for copy in copies for node in copy])
        found: dict[tuple[int, int, int], int] = {}
        for field, whole, target in copies:
            dataset, name, parent = self._dataset[target], self._names.get(field), self._names.get(whole)
            if dataset is not None and name is not None and parent is not None and name.startswith(f"{parent}."):
                copy = self._columns[dataset].get(f"{self._names[target]}{name.removeprefix(parent)}")
                if copy is not None:
                    found[field, whole, target] = copy
        return found

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
