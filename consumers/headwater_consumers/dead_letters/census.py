"""Census: how many letters there are, by reason and job, and how old."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headwater_consumers.dead_letters.letter import Letter


@dataclass(slots=True)
class Group:
    """Letters of one reason and one job.

    Attributes:
        job: `namespace/name`; None where the records have no key that says it.
        letters: how many.
        bytes: of their keys and values.
        oldest, newest: when the first and the last of them were published.
        sample: where one of them is, for `dlq show`.
    """

    reason: str
    job: str | None
    letters: int = 0
    bytes: int = 0
    oldest: datetime | None = None
    newest: datetime | None = None
    sample: str = ""

    def add(self, letter: Letter) -> None:
        """Count it."""
        self.letters += 1
        self.bytes += letter.record.size
        self.sample = letter.where
        if (time := letter.time) is not None:
            self.oldest = time if self.oldest is None else min(self.oldest, time)
            self.newest = time if self.newest is None else max(self.newest, time)


class Census:
    """Groups of the letters added so far.

    Attributes:
        overtaken: letters besides that were sent twice, or whose record was replayed and has a later letter.
    """

    def __init__(self) -> None:
        self.overtaken = 0
        self._groups: dict[tuple[str, str | None], Group] = {}

    def add(self, letter: Letter) -> None:
        """Count it."""
        of = (letter.reason, letter.job)
        self._groups.setdefault(of, Group(*of)).add(letter)

    @property
    def groups(self) -> list[Group]:
        """The largest first."""
        return sorted(self._groups.values(), key=lambda group: (-group.letters, group.reason, group.job or ""))

    @property
    def letters(self) -> int:
        """How many, of all groups."""
        return sum(group.letters for group in self._groups.values())

    @property
    def by_reason(self) -> dict[str, int]:
        """Letters by reason alone, the most frequent first."""
        counts: dict[str, int] = defaultdict(int)
        for group in self._groups.values():
            counts[group.reason] += group.letters
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
