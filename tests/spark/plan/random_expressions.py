"""Random expressions of Spark SQL: the grammar's ways, with columns and what can be reached inside them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from spark.plan.random_grammar import INSIDE, LITERALS, WAYS

_HOLE = re.compile(r"\{(\w+)\}|@(\w+)")


@dataclass(frozen=True, slots=True)
class Value:
    """A column, or a lambda's parameter, in scope."""

    text: str
    type: str


class Expressions:
    """Draws expressions.

    Args:
        random: decides.
        deepest: how many ways are put into each other at most.
    """

    def __init__(self, random: Random, deepest: int = 2) -> None:
        self._random = random
        self._deepest = deepest
        self._parameters = 0

    def value(self, type_: str, scope: Sequence[Value], depth: int | None = None) -> str:
        """An expression of a type, over the columns in `scope`."""
        depth = self._deepest if depth is None else depth
        there = [each.text for each in _reachable(scope) if each.type == type_]
        if depth <= 0 or (there and self._random.random() < 0.35):
            if there:
                return self._random.choice(there)
            literals = LITERALS.get(type_)
            if literals:
                return self._random.choice(literals)
        # The first way of a type with parts builds it of simpler ones, so it ends.
        way = self._random.choice(WAYS[type_] if depth > 0 else WAYS[type_][:1])
        return self.filled(way, scope, depth - 1)

    def filled(self, way: str, scope: Sequence[Value], depth: int) -> str:
        """A way of the grammar, with values of at most this depth."""
        inner = list(scope)
        parameters: list[str] = []
        in_body = False

        def fill(hole: re.Match[str]) -> str:
            nonlocal inner, in_body
            type_, parameter = hole.groups()
            if type_:
                in_body = True
                return self.value(type_, inner, depth)
            if parameter.isdigit():
                return parameters[int(parameter)]
            if in_body:
                # Another lambda begins, or the first.
                inner, in_body = list(scope), False
            self._parameters += 1
            name = f"p{self._parameters}"
            parameters.append(name)
            # Twice as likely as a column to be what the body looks at.
            inner += [Value(name, parameter)] * 2
            return name

        return _HOLE.sub(fill, way)


def _reachable(scope: Sequence[Value]) -> list[Value]:
    return [*scope, *(Value(way.format(v.text), t) for v in scope for way, t in INSIDE.get(v.type, ()))]
