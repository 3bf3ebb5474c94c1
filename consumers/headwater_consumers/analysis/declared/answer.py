"""Answers about declarations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from headwater_consumers.analysis.sensitivity import level_of


@dataclass(frozen=True, slots=True)
class SetState:
    """What is in the graph of a declaration set.

    Attributes:
        revision: its latest; 0: none is there.
        items: keys of the declarations that it lists.
        missing: those of them that aren't there.
        format, source, document: of that revision.
    """

    revision: int = 0
    items: frozenset[str] = frozenset()
    missing: frozenset[str] = frozenset()
    format: str | None = None
    source: str | None = None
    document: str | None = None


@dataclass(frozen=True, slots=True)
class Declaration:
    """One declaration as it is in the graph.

    Attributes:
        key: of the Declaration.
        set: id of its set.
        subject: key of what it declares.
        subject_type: `dataset`, `job` or `consumer`.
        namespace: of the subject; None: a consumer, which has none.
        name: of the subject.
        values: what it states, by name of the property.
        columns: what it states of columns, by path and name of the property.
    """

    key: str
    set: str
    subject: str
    subject_type: str
    namespace: str | None
    name: str
    values: dict[str, Any] = field(default_factory=dict)
    columns: dict[str, dict[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A property that sets give different values.

    Attributes:
        subject: key of what they declare.
        subject_type: `dataset`, `job` or `consumer`.
        name: of the subject.
        column: path of the column; None: the subject itself.
        property: name of the property.
        values: value by id of the set; the first is the one that is shown.
    """

    subject: str
    subject_type: str
    name: str
    column: str | None
    property: str
    values: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Declared:
    """What is declared of one dataset, job or consumer, by all sets together.

    Attributes:
        sets: ids of the sets that declare it, in code-point order.
        values: by name of the property; of sets that differ, the value of the first.
        columns: by path and name of the property; likewise.
        contradictions: where the sets differ.
    """

    sets: list[str] = field(default_factory=list)
    values: dict[str, Any] = field(default_factory=dict)
    columns: dict[str, dict[str, Any]] = field(default_factory=dict)
    contradictions: list[Contradiction] = field(default_factory=list)

    def sensitivity(self) -> str | None:
        """The greatest of the whole and of its columns; None where none is declared."""
        stated = (values.get("sensitivity") for values in (self.values, *self.columns.values()))
        return max(filter(None, stated), key=level_of, default=None)

    def tags(self) -> Iterator[tuple[str, str, str | None]]:
        """Key, value ('' for none) and column of each tag; None: of the asset itself."""
        for column, values in ((None, self.values), *self.columns.items()):
            for key, value in zip(values.get("tags") or (), values.get("tag_values") or (), strict=True):
                yield key, value, column
