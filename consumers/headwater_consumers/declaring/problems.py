"""What is wrong with a file of declarations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong.

    Attributes:
        file: where.
        line: of the file, from 1.
        field: path of the field, e.g. `datasets[0].columns.origin.sensitivity`; empty: the file.
        message: what is wrong, and what would be right.
    """

    file: str
    line: int
    field: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}: {f'{self.field}: ' if self.field else ''}{self.message}"


class DeclarationError(Exception):
    """A file isn't taken.

    Attributes:
        problems: at least one, in order of line.
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__(str(problems[0]))
        self.problems = tuple(sorted(problems, key=lambda problem: (problem.file, problem.line)))
