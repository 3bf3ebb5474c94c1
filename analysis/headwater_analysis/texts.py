"""Texts of jobs in answers: expressions, SQL, paths of files and checkpoints, errors, and uninterpreted facets.

These texts have their own permission, since they can contain values, and names that the graph doesn't have. A field of
an answer with such a text is marked in its declaration:

    expression: Annotated[str | None, TEXT]
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any, Final, TypeVar, get_type_hints

TEXT: Final = "headwater: text of a job"
"""Mark of a field with a text of a job."""

_T = TypeVar("_T")


def without_texts(answer: _T) -> _T:
    """Return an answer with None (or an empty tuple, for tuples) in its marked fields.

    Args:
        answer: a dataclass, or tuples, lists and dictionaries of dataclasses.
    """
    found: Any = answer
    if isinstance(found, tuple | list):
        return type(found)(map(without_texts, found))  # type: ignore[return-value]
    if isinstance(found, dict):
        return {name: without_texts(value) for name, value in found.items()}  # type: ignore[return-value]
    if not is_dataclass(found) or isinstance(found, type):
        return answer
    marked = marked_fields(type(found))
    left = {
        each.name: _empty(getattr(found, each.name))
        if each.name in marked
        else without_texts(getattr(found, each.name))
        for each in fields(found)
        if each.init
    }
    return replace(found, **left)  # type: ignore[return-value]


@cache
def marked_fields(kind: type[Any]) -> frozenset[str]:
    """Names of a dataclass's fields that are texts of jobs."""
    hints = get_type_hints(kind, include_extras=True)
    return frozenset(name for name, hint in hints.items() if TEXT in getattr(hint, "__metadata__", ()))


def _empty(value: object) -> tuple[()] | None:
    return () if isinstance(value, tuple) else None
