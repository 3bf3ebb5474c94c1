"""Statements for askers who may not see everything: each statement matches only what the asker may see.

    MATCH (j:HwJob)-[:READS]->(d) WHERE d.key = $given.key

becomes, with CONDITION (see `condition`) for the variable before it,

    MATCH (j:HwJob WHERE CONDITION)-[:READS]->(d WHERE CONDITION) WHERE d.key = $given.key

Every pattern of a node gets the condition. So does every pattern of a relationship that a job made (FEEDS, DERIVES,
INFLUENCES, GENERATES): the property `job` of the relationship names its asset. So no statement can forget the
condition, and an answer is computed as if hidden assets didn't exist: counts, limits and cursors included. A node
without an asset matches nothing, except:

- micro-batches and summaries are visible if their query is;
- names of datasets (aliases), declaration sets, days of retention, and the graph's own nodes have no asset: they are
  only reached from, and only lead to, nodes that are checked.

An incident concerns several assets, and is no exception: restricted askers see no incident.

Hits of a full-text index have no score: the weight of a word depends on the number of names with the word, including
hidden names.

A bare name, such as `(d)`, isn't checked again if an earlier pattern of the same scope has checked it. Cypher is read
as tokens and brackets, not parsed: statements are ours, and `tests/integration/server` asks the database whether it
accepts each of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Final, LiteralString

FREE: Final = frozenset({"HwAlias", "HwDeclarationSet", "HwRetention", "HwProgress", "HeadwaterGraph"})
"""Labels of nodes that belong to no asset."""
OF_QUERIES: Final = frozenset({"HwSegment", "HwSummary"})
"""Labels of nodes that belong to the asset of their query."""
TO_QUERIES: Final = frozenset({"CONSUMED", "PRODUCED", "READ", "WROTE", "IN_RUN", "IN_QUERY", "NEXT"})
"""Types of relationships that nodes with the labels of `OF_QUERIES` have."""
OF_JOBS: Final = frozenset({"FEEDS", "DERIVES", "INFLUENCES", "GENERATES"})
"""Types of relationships that belong to the job that made them."""

_TOKEN: Final = re.compile(
    r"(?P<space>\s+|//[^\n]*)|(?P<text>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`)"
    r"|(?P<word>[A-Za-z_]\w*)|(?P<number>\d+(?:\.\d+)?)|(?P<mark>.)",
    re.DOTALL,
)
_OPENING: Final = {"(": ")", "[": "]", "{": "}"}
_SUBQUERIES: Final = frozenset({"EXISTS", "COUNT", "COLLECT"})


def condition(name: str, asset: str = "_asset") -> str:
    """Condition that a node or relationship is visible.

    Args:
        asset: property with the key of the asset that decides.
    """
    return (
        f"({name}._scope IN $given.visible.scopes AND NOT {name}.{asset} IN $given.visible.hidden "
        f"OR {name}.{asset} IN $given.visible.also)"
    )


@cache
def filtered(text: LiteralString) -> LiteralString:
    """Return the statement that matches only what `$given.visible` (maps of lists: scopes, hidden, also) allows.

    Raises:
        ValueError: a relationship without a type, which can't be checked; or unbalanced brackets.
    """
    return _Filter(text).result()


@dataclass(slots=True)
class _Token:
    text: str
    is_word: bool
    before: str = ""  # text to insert before the token


class _Filter:
    def __init__(self, text: str) -> None:
        self._pieces = [_Token(found.group(), found.lastgroup == "word") for found in _TOKEN.finditer(text)]
        skipped = [found.lastgroup == "space" for found in _TOKEN.finditer(text)]
        self._tokens = [piece for piece, is_space in zip(self._pieces, skipped, strict=True) if not is_space]
        self._closing = self._matched()
        self._made = 0

    def result(self) -> str:
        self._scope(0, len(self._tokens), set())
        return "".join(piece.before + piece.text for piece in self._pieces)

    def _matched(self) -> dict[int, int]:
        found: dict[int, int] = {}
        stack: list[int] = []
        for at, token in enumerate(self._tokens):
            if token.text in _OPENING:
                stack.append(at)
            elif token.text in _OPENING.values():
                if not stack or _OPENING[self._tokens[stack[-1]].text] != token.text:
                    raise ValueError(f"{token.text} matches nothing")
                found[stack.pop()] = at
        if stack:
            raise ValueError("a bracket isn't closed")
        return found

    def _at(self, at: int) -> str:
        return self._tokens[at].text if 0 <= at < len(self._tokens) else ""

    def _scope(self, at: int, end: int, known: set[str]) -> None:
        """Filter the tokens between two positions; checked names are added to `known`."""
        outer = set(known)
        while at < end:
            text = self._at(at)
            if text == "{" and (inherited := self._inherited(at, known)) is not None:
                self._scope(at + 1, self._closing[at], inherited)
                at = self._closing[at]
            elif text == "(" and self._is_node(at):
                self._node(at, known)
                self._scope(at + 1, self._closing[at], known)
                at = self._closing[at]
            elif text == "[" and self._at(at - 1) == "-":
                self._relationship(at)
            elif text == "[":
                self._scope(at + 1, self._closing[at], set(known))
                at = self._closing[at]
            elif text.upper() == "UNION" and self._tokens[at].is_word:
                known.clear()
                known |= outer
            elif text.upper() == "YIELD" and self._at(at + 1) == "node":
                self._yielded(at, known)
            at += 1

    def _inherited(self, at: int, known: set[str]) -> set[str] | None:
        """Names that are checked before a subquery begins; None if the bracket doesn't begin a subquery."""
        before = self._at(at - 1)
        if before.upper() in _SUBQUERIES:
            return set(known)
        if before == ")":
            opening = next(one for one, other in self._closing.items() if other == at - 1)
            if self._at(opening - 1).upper() == "CALL":
                return known & {self._at(each) for each in range(opening + 1, at - 1)}
        return None

    def _is_node(self, at: int) -> bool:
        """Return whether a bracket is a node's pattern, not a call, a group or a list of names."""
        end = self._closing[at]
        inside = at + 1
        if self._tokens[inside].is_word:
            inside += 1
        while self._at(inside) in {":", "|"}:
            inside += 2
        if self._at(inside) == "{":
            inside = self._closing[inside] + 1
        if inside != end and self._at(inside).upper() != "WHERE":
            return False
        before, after = self._at(at - 1), self._at(end + 1)
        follows = before == "-" and self._at(at - 2) == "]"
        follows |= before == ">" and self._at(at - 2) == "-" and self._at(at - 3) == "]"
        leads = (after == "-" and self._at(end + 2) == "[") or (after == "<" and self._at(end + 2) == "-")
        # Next to a repeated part of a path: (a) (()-[r]->()){1,3} (b).
        leads |= after == "(" and self._at(end + 2) == "("
        follows |= before == "}" and self._at(at - 2).isdecimal()
        return follows or leads or before.upper() == "MATCH"

    def _node(self, at: int, known: set[str]) -> None:
        end = self._closing[at]
        name = self._at(at + 1) if self._tokens[at + 1].is_word else ""
        labels = {self._at(each + 1) for each in range(at + 1, end) if self._at(each) in {":", "|"}}
        if name in known and at + 2 == end:
            return
        if labels & FREE:
            known.add(name)
            return
        if not name:
            name = self._name()
            self._tokens[at + 1].before += name
        of_query = f"EXISTS {{ ({name})-[:IN_QUERY]->({name}_q:HwQuery WHERE {condition(f'{name}_q')}) }}"
        if labels & OF_QUERIES:
            self._add(at, end, of_query)
        elif not labels and self._types_at(at) & TO_QUERIES:
            self._add(at, end, f"({condition(name)} OR {name}._asset IS NULL AND {of_query})")
        else:
            self._add(at, end, condition(name))
        known.add(name)

    def _types_at(self, at: int) -> set[str]:
        """Types and names of the relationships on both sides of a node's pattern."""
        end = self._closing[at]
        left = next((each for each in (at - 2, at - 3) if self._at(each) == "]"), None)
        right = next((each for each in (end + 2, end + 3) if self._at(each) == "["), None)
        begins = [] if left is None else [next(one for one, other in self._closing.items() if other == left)]
        begins += [] if right is None else [right]
        return {self._at(each) for begin in begins for each in range(begin + 1, self._closing[begin])}

    def _relationship(self, at: int) -> None:
        end = self._closing[at]
        inside = [self._at(each) for each in range(at + 1, end)]
        if ":" not in inside:
            if inside and self._tokens[at + 1].is_word and len(inside) == 1:
                return  # a name that was matched before
            raise ValueError("a relationship has no type")
        if not OF_JOBS & set(inside):
            return
        if "*" in inside:
            raise ValueError("a path of several relationships has to be written as a part that repeats: {1,3}")
        name = inside[0] if self._tokens[at + 1].is_word else ""
        if not name:
            name = self._name()
            self._tokens[at + 1].before += name
        self._add(at, end, condition(name, "job"))

    def _yielded(self, at: int, known: set[str]) -> None:
        """Filter `YIELD node AS n, score WHERE …`: the condition comes first."""
        name = self._at(at + 3)
        known.add(name)
        if self._at(at + 4) == "," and self._at(at + 5) == "score":
            self._tokens[at + 4].text = " "
            self._tokens[at + 5].text = f"WITH {name}, 0.0 AS score"
        if any("headwater_alias_words" in self._at(each) for each in range(max(0, at - 20), at)):
            return
        while self._at(at).upper() not in {"WHERE", "MATCH", "RETURN", "WITH"}:
            at += 1
        if self._at(at).upper() == "WHERE":
            self._tokens[at + 1].before += f"{condition(name)} AND "
        else:
            self._tokens[at].before += f"WHERE {condition(name)}\n"

    def _add(self, at: int, end: int, checked: str) -> None:
        has_condition = any(self._at(each).upper() == "WHERE" for each in range(at + 1, end))
        self._tokens[end].before += f" AND {checked}" if has_condition else f" WHERE {checked}"

    def _name(self) -> str:
        self._made += 1
        return f"v{self._made}_"
