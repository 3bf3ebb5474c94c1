"""Facets of a node that Headwater stores without interpretation."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Facet:
    """An OpenLineage facet that Headwater stores without interpretation.

    Attributes:
        name: name of the facet.
        json: content of the facet, as JSON.
    """

    name: str
    json: str


def facets_of(properties: Mapping[str, Any]) -> tuple[Facet, ...]:
    """Build facets from a node's parallel lists `facet_names` and `facets`."""
    rows = zip(properties.get("facet_names") or (), properties.get("facets") or (), strict=True)
    return tuple(Facet(name, json) for name, json in rows)


def contents(facets: Iterable[Facet]) -> dict[str, Any]:
    """Content of each facet, by name; invalid JSON stays a text; cleared facets are left out."""
    return {facet.name: _content(facet.json) for facet in facets if facet.json}


def member(found: Any, name: str) -> Mapping[str, Any]:
    """Member of a facet, or of a facet's member; empty if it has another form, since facets may have any form."""
    inner = found.get(name) if isinstance(found, Mapping) else None
    return inner if isinstance(inner, dict) else {}


def _content(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
