"""Names of columns over time: columns that were renamed, or dropped and added again. Pure.

A RENAME COLUMN changes only a table's schema: values that were written as `nm` are read as `full_name`. A column that
is dropped and added again is a different column, without the values of the first one. So a column is identified by all
its names, each for a span of time:

    nm → full_name at 10:00            full_name: nm until 10:00, full_name since
    label dropped at 10:00, added      label: label since 10:00; label until 10:00 was another column
    a → x, b → a, x → b, at 10, 11, 12 b: a until 10, x until 12, b since; a: b until 11, a since
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple


class ColumnNameChange(NamedTuple):
    """A column that was renamed, or dropped.

    Attributes:
        at: time of the change.
        path: path before the change.
        renamed_to: path after the change; None: the column was dropped.
    """

    at: datetime
    path: str
    renamed_to: str | None = None


class NamedFor(NamedTuple):
    """A column that had a path from `since` to `until`; None: no bound.

    Attributes:
        shown: current path of the column.
    """

    shown: str
    since: datetime | None
    until: datetime | None


@dataclass(slots=True)
class _Column:
    """Paths of one column, with the start time of each; the time when its last path ended; whether it was dropped."""

    begun: list[tuple[str, datetime | None]]
    ended: datetime | None = None
    dropped: bool = False

    def spans(self) -> Iterator[tuple[str, datetime | None, datetime | None]]:
        ends = [*(since for _, since in self.begun[1:]), self.ended]
        for (path, since), until in zip(self.begun, ends, strict=True):
            yield path, since, until


@dataclass(slots=True)
class ColumnNames:
    """Names of a dataset's columns.

    Attributes:
        columns: by path, the columns that had this path; without a time, the last column counts.
        paths: all paths of a column, by its current path, which is the first.
        former: by path, the end time of the last other column with this name.
        dropped: paths in `former` whose column was dropped; the other columns were renamed.
    """

    columns: dict[str, list[NamedFor]] = field(default_factory=dict)
    paths: dict[str, list[str]] = field(default_factory=dict)
    former: dict[str, datetime] = field(default_factory=dict)
    dropped: set[str] = field(default_factory=set)

    def of(self, path: str) -> list[NamedFor]:
        """Columns that had a path: mostly the column of this name."""
        return self.columns.get(path) or [NamedFor(path, None, None)]

    def all_of(self, shown: str) -> list[str]:
        """All paths of a column, by its current path, which is the first."""
        return self.paths.get(shown) or [shown]


def column_names(changes: Iterable[ColumnNameChange], paths: Collection[str], current: Collection[str]) -> ColumnNames:
    """Derive the names of a dataset's columns from their changes.

    Args:
        changes: changes in any order. A change of a column also changes its nested fields.
        paths: paths of all columns that the dataset is known to have had.
        current: paths of its current columns.
    """
    ordered = sorted(changes, key=lambda change: (change.at, change.path))
    if not ordered:
        return ColumnNames()
    live = {path: _Column([(path, None)]) for path in {*paths, *(change.path for change in ordered)}}
    former: list[_Column] = []
    for index, change in enumerate(ordered):
        for path in [path for path in live if _within(path, change.path)]:
            if change.renamed_to is None and not _is_back(path, ordered[index + 1 :], current):
                # Dropped, and no other column has had the name since.
                continue
            column = live[path]
            live[path] = _Column([(path, change.at)])
            moved = None if change.renamed_to is None else change.renamed_to + path[len(change.path) :]
            if moved is None:
                column.ended, column.dropped = change.at, True
                former.append(column)
                continue
            if (displaced := live.get(moved)) is not None:
                displaced.ended = change.at
                former.append(displaced)
            column.begun.append((moved, change.at))
            live[moved] = column
    return _names(live, former, current)


def _names(live: dict[str, _Column], former: Iterable[_Column], current: Collection[str]) -> ColumnNames:
    names = ColumnNames()
    named: dict[str, list[NamedFor]] = defaultdict(list)
    for shown, column in live.items():
        spans = list(column.spans())
        names.paths[shown] = list(dict.fromkeys([shown, *(path for path, *_ in spans)]))
        for path, since, until in spans:
            named[path].append(NamedFor(shown, since, until))
    for path, found in named.items():
        # A name that no column has now refers to the column that had it last.
        found.sort(key=lambda each: ((each.shown == path) == (path in current), _last(each)))
        names.columns[path] = found
    for column in former:
        *_, (path, _, ended) = column.spans()
        if ended is not None and ended >= names.former.get(path, ended):
            names.former[path] = ended
            names.dropped.discard(path)
            if column.dropped:
                names.dropped.add(path)
    return names


def _last(each: NamedFor) -> float:
    return float("inf") if each.until is None else each.until.timestamp()


def _is_back(path: str, later: Iterable[ColumnNameChange], current: Collection[str]) -> bool:
    """Return whether another column got the name of a dropped column later."""
    return path in current or any(
        _within(path, change.path) or (change.renamed_to is not None and _within(path, change.renamed_to))
        for change in later
    )


def _within(path: str, other: str) -> bool:
    return path == other or path.startswith(f"{other}.")
