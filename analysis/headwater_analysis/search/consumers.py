"""Declared consumers by words of their names. The full-text index has only reported names."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from headwater_analysis.declared import declared
from headwater_analysis.reader import Transaction
from headwater_graph.words import words

MOST_FOUND = 20
_MOST_NAMES = 10_000
"""Maximum number of consumers whose names are compared."""
_MOST_FILTERED = 1_000
"""Maximum number of consumers whose owners and tags are compared."""


@dataclass(frozen=True, slots=True)
class FoundConsumer:
    """Found declared consumer.

    Attributes:
        key: key of the node.
        name: name of the consumer.
        type: DASHBOARD, REPORT, API, MODEL, EXPORT, SEARCH_INDEX or TEAM, where declared.
        owners: owners of the consumer.
    """

    key: str
    name: str
    type: str | None
    owners: tuple[str, ...]


def consumers_called(
    tx: Transaction,
    text: str,
    *,
    is_owner: Callable[[str], bool] | None,
    is_tag: Callable[[str, str], bool] | None,
) -> tuple[FoundConsumer, ...]:
    """Declared consumers whose names have words that begin with the words of the text; at most 20.

    Args:
        text: words of the name; '' for any name.
        is_owner: filter of owners; None: any.
        is_tag: filter of tags, by key and value ('' for none); None: any.
    """
    if not tx.declarations:
        return ()
    asked = words(text)
    if text and not asked:
        return ()
    rows = tx.rows("search/consumers", limit=_MOST_NAMES)
    named = [row for row in rows if begins(words(row["name"]), asked)]
    named.sort(key=lambda row: (row["name"].casefold() != text.casefold(), row["name"]))
    any_filter = is_owner is not None or is_tag is not None
    looked_at = named[: _MOST_FILTERED if any_filter else MOST_FOUND]
    about = declared(tx, [row["key"] for row in looked_at]) if looked_at else {}
    found = []
    for row in looked_at:
        stated = about.get(row["key"])
        if stated is None:
            continue
        owners = tuple(stated.values.get("owners") or ())
        if is_owner is not None and not any(is_owner(owner) for owner in owners):
            continue
        if is_tag is not None and not any(is_tag(key, value) for key, value, _ in stated.tags()):
            continue
        found.append(FoundConsumer(row["key"], row["name"], stated.values.get("type"), owners))
    return tuple(found[:MOST_FOUND])


def begins(of_name: Collection[str], asked: Iterable[str]) -> bool:
    """Return whether, for each asked word, a word of a name begins with it."""
    return all(any(word.startswith(each) for word in of_name) for each in asked)
