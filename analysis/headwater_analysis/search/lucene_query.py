"""Queries to the full-text index, in the language of Lucene's classic query parser.

`graph.words` cuts texts into words, just like the names in the index, so queries contain only letters and digits.
Queries use only the operators, fields and wildcards of this example:

    +_words:t_fe98b07b1ba6b3a2^0 +_words:(n_9c35… (+(flights^4 flights*) +(dep^4 dep*)))
"""

from __future__ import annotations

from headwater_graph.words import tenant_mark, text_words, whole_mark, words

MOST_WORDS = 24
"""Maximum number of words of a searched text; further words are ignored. Lucene takes 1,024 clauses."""

_SHORTEST_PREFIX = 2
_SHORTEST_FUZZY = 4
_SHORTEST_FUZZIER = 8
_LONGEST_JOINED = 64


def whole(tenant: str, name: str) -> str:
    """Query for nodes with exactly this name or title; once in 2^64 it may match another name."""
    return _of_tenant(tenant, f"+_words:{whole_mark(name)}")


def containing(tenant: str, name: str) -> str | None:
    """Query for nodes whose words include all words of a name; None for a name without words."""
    clause = has_words("_words", name)
    return _of_tenant(tenant, clause) if clause else None


def beginnings(tenant: str, text: str, *narrowed: str) -> str:
    """Query for nodes with a word that begins with each word of the text; exact words rank first.

    Args:
        tenant: tenant of the nodes.
        text: words of names; without words, all nodes match.
    """
    asked = words(text)[:MOST_WORDS]
    each = " ".join(f"+({_beginning(word)})" for word in asked)
    named = f"+_words:({whole_mark(text)}^9{f' ({each})' if each else ''})" if text else ""
    return _of_tenant(tenant, named, *narrowed)


def similar(tenant: str, text: str, *narrowed: str) -> str | None:
    """Query for nodes with words similar to the text's, or to all its words joined. None for a text without words."""
    asked = words(text)[:MOST_WORDS]
    if not asked:
        return None
    each = " ".join(f"+({_beginning(word)}{_fuzzy(word)})" for word in asked)
    return _of_tenant(tenant, f"+_words:(({each}){_joined(asked)})", *narrowed)


def any_similar(tenant: str, text: str) -> str | None:
    """Query for nodes with a word similar to one of the text's, most matches first. None for a text without words."""
    asked = words(text)[:MOST_WORDS]
    if not asked:
        return None
    each = " ".join(f"({_beginning(word)}{_fuzzy(word)})" for word in asked)
    return _of_tenant(tenant, f"+_words:({each}{_joined(asked)})")


def has_words(field: str, text: str) -> str:
    """Clause for `narrowed`: the index's field `field`, a constant, has all words of the text."""
    asked = text_words([text]).split(" ")[:MOST_WORDS]
    return " ".join(f"+{field}:{word}" for word in asked if word)


def labelled(tenant: str, text: str, *narrowed: str) -> str | None:
    """Query for nodes whose owners, or whose tags, have all words of the text. None for a text without words."""
    owners, tags = (has_words(field, text) for field in ("_owner_words", "_tag_words"))
    return _of_tenant(tenant, f"+(({owners}) ({tags}))", *narrowed) if owners else None


def _of_tenant(tenant: str, *clauses: str) -> str:
    return " ".join([f"+_words:{tenant_mark(tenant)}^0", *filter(None, clauses)])


def _beginning(word: str) -> str:
    return f"{word}^4 {word}*" if len(word) >= _SHORTEST_PREFIX else f"{word}^4"


def _fuzzy(word: str) -> str:
    if len(word) < _SHORTEST_FUZZY or word.isdigit():
        return ""
    return f" {word}~{2 if len(word) >= _SHORTEST_FUZZIER else 1}"


def _joined(asked: list[str]) -> str:
    joined = "".join(asked)
    return f" {joined}{_fuzzy(joined)}" if len(asked) > 1 and len(joined) <= _LONGEST_JOINED else ""
