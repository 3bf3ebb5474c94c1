"""Difference of a scope and a part: whole parts, or offsets, files, micro-batches and times of parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from headwater_analysis.errors import QuestionError
from headwater_analysis.incidents.scope import part_line
from headwater_graph.scope_difference import without
from headwater_schemas.events import IncidentScope
from headwater_schemas.identity import scope_text


@dataclass(frozen=True, slots=True)
class ScopeChange:
    """Change of a scope.

    Attributes:
        removed: parts of the scope that it no longer has.
        added: parts that remain of those of which only some data was removed.
    """

    removed: tuple[IncidentScope, ...] = ()
    added: tuple[IncidentScope, ...] = ()


def scope_change(scope: Mapping[str, IncidentScope], removed: Iterable[IncidentScope]) -> ScopeChange:
    """Determine the change of a scope from which parts are removed.

    A part that isn't in the scope takes its offsets, files, micro-batches or times out of the parts that equal it in
    everything else.

    Args:
        scope: parts by their text.
        removed: parts to remove, one after the other.

    Raises:
        QuestionError: a part is none of the scope, and has no data of one.
    """
    left = dict(scope)
    for part in removed:
        if left.pop(scope_text(part), None) is not None:
            continue
        cut = {text: rest for text, one in left.items() if (rest := without(one, part)) is not None}
        if not cut:
            parts = "; ".join(map(part_line, scope.values())) or "none"
            raise QuestionError(f"No part of the scope is {part_line(part)}. It has: {parts}.", field="removed")
        rest = [one for pieces in cut.values() for one in pieces]
        left = {text: one for text, one in left.items() if text not in cut} | {scope_text(one): one for one in rest}
    return ScopeChange(
        removed=tuple(one for text, one in scope.items() if text not in left),
        added=tuple(one for text, one in left.items() if text not in scope),
    )
