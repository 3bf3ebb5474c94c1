"""Choice: which letters are meant."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from headwater_consumers.dead_letters.letter import Letter, Source


@dataclass(frozen=True, slots=True)
class Choice:
    """A letter is meant where everything that is set agrees with it.

    Attributes:
        reasons: one of these.
        job: of this job or dataset: `namespace/name`, or the name alone.
        since: published then or later.
        until: published before.
    """

    reasons: frozenset[str] = frozenset()
    job: str | None = None
    since: datetime | None = None
    until: datetime | None = None

    def takes(self, letter: Letter) -> bool:
        """Whether the letter is meant. One without a time is meant only where no time is asked for."""
        if self.reasons and letter.reason not in self.reasons:
            return False
        if self.job is not None and not _is_called(letter.job, self.job):
            return False
        if self.since is None and self.until is None:
            return True
        time = letter.time
        return (
            time is not None
            and (self.since is None or time >= self.since)
            and (self.until is None or time < self.until)
        )


class Standing:
    """Which letters of a topic stand for themselves: sent once, and not overtaken by a later one of the same record.

    A crash may send a letter twice, and a replay that fails makes another letter of the same bytes. Of each record the
    last letter stands.
    """

    def __init__(self, letters: Iterable[Letter]) -> None:
        self._last: dict[Source, str] = {}
        self._overtaken: set[str] = set()
        for letter in letters:
            if letter.source is not None:
                self._last[letter.source] = letter.where
            if letter.replayed_from is not None:
                self._overtaken.add(letter.replayed_from)

    def stands(self, letter: Letter) -> bool:
        """Whether it is the last of its record."""
        if letter.source is None:
            return True
        return self._last[letter.source] == letter.where and named(letter.source) not in self._overtaken


def named(source: Source) -> str:
    """A source in a header: the topic's incarnation, where it has one, the partition, the offset."""
    return f"{source.partition.topic_id or source.partition.topic}/{source.partition.number}/{source.offset}"


def _is_called(job: str | None, name: str) -> bool:
    return job is not None and (job == name or job.partition("/")[2] == name or job.endswith(f"/{name}"))
