"""Merge of several sets' declarations of one subject; a contradiction is never merged silently.

The sets are in code-point order of their ids. The first set's value of a property is shown; a different value of
another set is a contradiction. Glossary terms, marks, tags and a consumer's reads add up. Two sets contradict each
other in tags only if they give one key different values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, Final

from headwater_analysis.declared.declaration import Contradiction, Declaration, Declared
from headwater_analysis.declared.types import agree
from headwater_schemas.naming import spelling

PARALLEL: Final = {
    "owners": ("owner_types",),
    "approval_by": ("approval_covers", "approval_sensitivity", "approval_reason", "approval_until"),
}
"""Property with a list ⇒ properties whose lists have one item for each item of that list."""
MARKS: Final = ("marks", "mark_versions", "mark_spreads", "mark_reasons")
"""Parallel lists: marks and their properties."""
_TYPE: Final = "type"
"""Type of a column: two spellings of one type don't contradict each other."""
_TAGS: Final = "tags"
_TAG_VALUES: Final = "tag_values"
_ADDING_UP: Final = frozenset({"glossary", "reads"})
"""Lists that add up: each set may have its own entries."""
_OWN: Final = frozenset({"plan"})
"""Property that adds up although it is no list: column lineage."""


def merge(declarations: Iterable[Declaration]) -> Declared:
    """Merge declarations of one subject."""
    ordered = sorted(declarations, key=lambda one: (one.set, one.key))
    out = Declared(sets=list(dict.fromkeys(one.set for one in ordered)))
    if not ordered:
        return out
    first = ordered[0]
    times = Counter(one.set for one in ordered)
    # A set that declares one dataset under two names may contradict itself.
    labels = [one.set if times[one.set] == 1 else f"{one.set} ({_spelled(one)})" for one in ordered]
    out.values.update(
        _merged(first, None, [(of, one.values) for of, one in zip(labels, ordered, strict=True)], out.contradictions)
    )
    for path in sorted({path for one in ordered for path in one.columns}):
        rows = [(set_, one.columns[path]) for set_, one in zip(labels, ordered, strict=True) if path in one.columns]
        out.columns[path] = _merged(first, path, rows, out.contradictions)
    return out


def merged(declarations: Iterable[Declaration]) -> dict[str, Declared]:
    """Merge declarations of several subjects, by key of the subject."""
    found: dict[str, list[Declaration]] = {}
    for one in declarations:
        found.setdefault(one.subject, []).append(one)
    return {subject: merge(each) for subject, each in found.items()}


def contradictions(declared: Iterable[Declared]) -> list[Contradiction]:
    """Contradictions between sets, in order of type and name."""
    every = [one for each in declared for one in each.contradictions]
    return sorted(every, key=lambda one: (one.subject_type, one.name, one.column or "", one.property))


def _merged(
    subject: Declaration,
    column: str | None,
    rows: Sequence[tuple[str, Mapping[str, Any]]],
    contradictions: list[Contradiction],
) -> dict[str, Any]:
    parallel = {name for names in PARALLEL.values() for name in names}
    names = sorted({name for _, values in rows for name in values} - parallel - {_TAGS, _TAG_VALUES, *MARKS})
    out: dict[str, Any] = {}

    def differ(property_: str, values: dict[str, Any]) -> None:
        of_types = column is not None and property_ == _TYPE
        if not (_are_one_type(values.values()) if of_types else len({repr(value) for value in values.values()}) == 1):
            contradictions.append(
                Contradiction(subject.subject, subject.subject_type, subject.name, column, property_, values)
            )

    for name in names:
        given = {set_: values for set_, values in reversed(rows) if name in values}
        given = dict(reversed(given.items()))
        if name in _ADDING_UP:
            out[name] = sorted({term for values in given.values() for term in values[name]})
            continue
        shown = next(iter(given.values()))
        out[name] = shown[name]
        out |= {other: shown[other] for other in PARALLEL.get(name, ()) if other in shown}
        if name not in _OWN:
            differ(name, {set_: values[name] for set_, values in given.items()})
    tags: dict[str, dict[str, str]] = {}
    for set_, values in rows:
        for key, value in zip(values.get(_TAGS, ()), values.get(_TAG_VALUES, ()), strict=True):
            tags.setdefault(key, {}).setdefault(set_, value)
    out |= _marks(values for _, values in rows)
    if tags:
        out[_TAGS] = sorted(tags)
        out[_TAG_VALUES] = [next(iter(tags[key].values())) for key in sorted(tags)]
        for key in sorted(tags):
            differ(f"tags.{key}", dict(tags[key]))
    return out


def _spelled(declaration: Declaration) -> str:
    return declaration.name if declaration.namespace is None else spelling(declaration.namespace, declaration.name)


def _are_one_type(types: Iterable[str]) -> bool:
    return all(agree(one, other) or agree(other, one) for one, other in combinations(types, 2))


def _marks(rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    found = sorted({mark for values in rows for mark in zip(*(values.get(name, ()) for name in MARKS), strict=True)})
    return {name: [mark[number] for mark in found] for number, name in enumerate(MARKS)} if found else {}
