"""Answers that come in pages, put together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def pages(question: Callable[..., Any], *given: Any, **asked: Any) -> list[Any]:
    """All pages of an answer, each asked for by the cursor of the one before."""
    found = [question(*given, **asked)]
    while (cursor := found[-1].next_cursor) is not None:
        found.append(question(*given, cursor=cursor, **asked))
    return found


def all_items(question: Callable[..., Any], *given: Any, limit: int, **asked: Any) -> list[Any]:
    """The items of all pages, of which each is full but the last, and states how many there are."""
    found = pages(question, *given, limit=limit, **asked)
    items = [item for page in found for item in page.items]
    assert all(len(page.items) == limit for page in found[:-1])
    assert {page.total for page in found} == {len(items)}
    return items
