"""CSV files as `neo4j-admin database import` takes them: one for each label and relationship type, its header first.

Ids are the store's own (`--id-type=actual`), so nothing has to be looked up on the way in: nodes are numbered from 0
through all the files, in the order that they are declared in. Nothing that is written here holds a comma or a quote.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self, TextIO

from headwater_consumers.facts.model import PREFIX

LIST = ";"
_BUFFER_BYTES = 1 << 20


@dataclass(slots=True)
class Sheet:
    """One file.

    Attributes:
        path: where.
        kind: its label or relationship type.
        rows: how many were written.
    """

    path: Path
    kind: str
    rows: int = 0
    _file: TextIO = field(init=False, repr=False)

    def add(self, *values: object) -> None:
        """One row."""
        self._file.write(",".join(map(str, values)) + "\n")
        self.rows += 1


class Sheets:
    """All files of one import, open while the block runs."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open = ExitStack()
        self.nodes: list[Sheet] = []
        self.relationships: list[Sheet] = []

    def node(self, label: str, *columns: str) -> Sheet:
        """The file of a label; its columns, after the id, as `name` or `name:type`."""
        return self._sheet(self.nodes, label, label, (":ID", *columns))

    def relationship(self, type_: str, *columns: str, of: str = "") -> Sheet:
        """A file of a relationship type; `of` distinguishes several of one type."""
        return self._sheet(self.relationships, type_, f"{type_}{of}", (":START_ID", ":END_ID", *columns))

    def arguments(self) -> list[str]:
        """The import's arguments for them."""
        nodes = [f"--nodes={PREFIX}{sheet.kind}={sheet.path}" for sheet in self.nodes]
        return nodes + [f"--relationships={sheet.kind}={sheet.path}" for sheet in self.relationships]

    def counts(self) -> dict[str, dict[str, int]]:
        """Nodes by label, relationships by type."""
        counted: dict[str, dict[str, int]] = {"nodes": {}, "relationships": {}}
        for name, sheets in (("nodes", self.nodes), ("relationships", self.relationships)):
            for sheet in sheets:
                counted[name][sheet.kind] = counted[name].get(sheet.kind, 0) + sheet.rows
        return counted

    def __enter__(self) -> Self:
        """Files are opened as they are declared."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close them all."""
        self._open.close()

    def _sheet(self, kept: list[Sheet], kind: str, name: str, columns: tuple[str, ...]) -> Sheet:
        sheet = Sheet(self._folder / f"{name}.csv", kind)
        sheet._file = self._open.enter_context(sheet.path.open("w", encoding="utf-8", buffering=_BUFFER_BYTES))  # noqa: SLF001
        sheet._file.write(",".join(columns) + "\n")  # noqa: SLF001
        kept.append(sheet)
        return sheet
