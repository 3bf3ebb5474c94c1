"""Answers about declarations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from headwater_analysis.sensitivity import level_of


@dataclass(frozen=True, slots=True)
class SetState:
    """State of a declaration set in the graph.

    Attributes:
        revision: latest revision; 0: no revision.
        items: keys of the declarations that the revision lists.
        missing: keys of listed declarations that the graph doesn't have yet.
        format, source, document: format, location and text of the revision's file.
    """

    revision: int = 0
    items: frozenset[str] = frozenset()
    missing: frozenset[str] = frozenset()
    format: str | None = None
    source: str | None = None
    document: str | None = None


@dataclass(frozen=True, slots=True)
class Declaration:
    """A declaration in the graph.

    Attributes:
        key: key of the Declaration node.
        set: id of its set.
        subject: key of the declared dataset, job or consumer.
        subject_type: `dataset`, `job` or `consumer`.
        namespace: namespace of the subject; None: a consumer, which has none.
        name: name of the subject.
        values: declared values, by name of the property.
        columns: declared values of columns, by path of the column and name of the property.
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
    """A property for which sets declare different values.

    Attributes:
        subject: key of the declared dataset, job or consumer.
        subject_type: `dataset`, `job` or `consumer`.
        name: name of the subject.
        column: path of the column; None: the subject itself.
        property: name of the property.
        values: value by id of the set; the first set's value is shown.
    """

    subject: str
    subject_type: str
    name: str
    column: str | None
    property: str
    values: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Declared:
    """Declarations of one dataset, job or consumer, merged from all sets.

    Attributes:
        sets: ids of the sets that declare it, in code-point order.
        values: values by name of the property; if sets differ, the first set's value.
        columns: values by path of the column and name of the property; if sets differ, the first set's value.
        contradictions: properties for which the sets differ.
    """

    sets: list[str] = field(default_factory=list)
    values: dict[str, Any] = field(default_factory=dict)
    columns: dict[str, dict[str, Any]] = field(default_factory=dict)
    contradictions: list[Contradiction] = field(default_factory=list)

    def sensitivity(self) -> str | None:
        """Greatest sensitivity of the dataset and of its columns; None if no sensitivity is declared."""
        stated = (values.get("sensitivity") for values in (self.values, *self.columns.values()))
        return max(filter(None, stated), key=level_of, default=None)

    def tags(self) -> Iterator[tuple[str, str, str | None]]:
        """Key, value ('' for none) and column of each tag; column None: a tag of the asset itself."""
        for column, values in ((None, self.values), *self.columns.items()):
            for key, value in zip(values.get("tags") or (), values.get("tag_values") or (), strict=True):
                yield key, value, column
