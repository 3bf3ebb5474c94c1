"""Mistakes in a file of declarations."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

Path: TypeAlias = tuple[str | int, ...]
"""Keys and indexes that lead to a field."""


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


@dataclass(frozen=True, slots=True)
class FileProblem:
    """A mistake in a file.

    Attributes:
        file: name of the file.
        line: line in the file, from 1.
        path: path of the field; empty: the whole file. Keys of more than 200 characters are cut.
        message: description of the mistake, and the correction; cut after 1,000 characters.
    """

    file: str
    line: int
    path: Path
    message: str

    def __post_init__(self) -> None:
        """Shorten path and message: they quote values of any length, and many mistakes may quote the same value."""
        object.__setattr__(
            self, "path", tuple(_cut(each, 200) if isinstance(each, str) else each for each in self.path)
        )
        object.__setattr__(self, "message", _cut(self.message, 1_000))

    @property
    def field(self) -> str:
        """The path in its written form, e.g. `datasets[0].columns["value.tailnum"].sensitivity`; empty: the file."""
        out = ""
        for step in self.path:
            if isinstance(step, int):
                out += f"[{step}]"
            elif re.fullmatch(r"[\w-]+", step):
                out += f".{step}" if out else step
            else:
                out += json.dumps([step], ensure_ascii=False)
        return out

    @property
    def pointer(self) -> str:
        """The path as a JSON pointer (RFC 6901), e.g. `/datasets/0/columns/value.tailnum`; empty: the file."""
        return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in self.path)

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}: {f'{self.field}: ' if self.path else ''}{self.message}"


class DeclarationError(Exception):
    """A file has mistakes, so none of its declarations is used.

    Attributes:
        problems: mistakes, at least one, in order of line.
    """

    def __init__(self, problems: Sequence[FileProblem]) -> None:
        super().__init__(str(problems[0]))
        self.problems = tuple(sorted(problems, key=lambda problem: (problem.file, problem.line)))
