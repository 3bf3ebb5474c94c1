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

from headwater_graph.facts.model import PREFIX

LIST = ";"
_BUFFER_BYTES = 1 << 20


@dataclass(slots=True)
class Sheet:
    """One file.

    Attributes:
        path: where.
        kind: its label or relationship type.
    """

    path: Path
    kind: str
    _file: TextIO = field(init=False, repr=False)

    def add(self, *values: object) -> None:
        """One row."""
        self._file.write(",".join(map(str, values)) + "\n")


class Sheets:
    """All files of one import, open while the block runs."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open = ExitStack()
        self.nodes: list[Sheet] = []
        self.relationships: list[Sheet] = []

    def node(self, label: str, *columns: str) -> Sheet:
        """The file of a label; its columns, after the id, as `name` or `name:type`."""
        return self._sheet(self.nodes, label, (":ID", *columns))

    def relationship(self, type_: str, *columns: str) -> Sheet:
        """The file of a relationship type; its columns, after the two ids, as `name` or `name:type`."""
        return self._sheet(self.relationships, type_, (":START_ID", ":END_ID", *columns))

    def arguments(self) -> list[str]:
        """The import's arguments for them."""
        nodes = [f"--nodes={PREFIX}{sheet.kind}={sheet.path}" for sheet in self.nodes]
        return nodes + [f"--relationships={sheet.kind}={sheet.path}" for sheet in self.relationships]

    def __enter__(self) -> Self:
        """Files are opened as they are declared."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close them all."""
        self._open.close()

    def _sheet(self, kept: list[Sheet], kind: str, columns: tuple[str, ...]) -> Sheet:
        sheet = Sheet(self._folder / f"{kind}.csv", kind)
        sheet._file = self._open.enter_context(sheet.path.open("w", encoding="utf-8", buffering=_BUFFER_BYTES))  # noqa: SLF001
        sheet._file.write(",".join(columns) + "\n")  # noqa: SLF001
        kept.append(sheet)
        return sheet
