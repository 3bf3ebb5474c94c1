"""Rules of declaration sets: which declarations hold, which are missing, and their relationships."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from headwater_graph.facts.declarations import Revision
from headwater_graph.facts.model import RelType
from headwater_graph.facts.nodes import Link
from headwater_graph.facts.registers import Props

ITEMS = "_items"
"""Property of a DeclarationSet: keys of the declarations that its revision lists."""
MISSING = "_missing"
"""Property of a DeclarationSet: keys of listed declarations whose event is missing."""
REVISED = "_revised"
"""Property of a DeclarationSet: stamp of its revision."""
OWN = "_own"
"""Property of READS, WRITES and FEEDS: true if the job itself declares the relationship (`derive.declared_links`)."""


@dataclass(frozen=True, slots=True)
class DeclarationState:
    """Declarations of a set that hold, and declarations that are missing.

    Attributes:
        items: keys that the revision lists, ascending.
        missing: listed keys whose event is missing, ascending.
    """

    items: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def held(self) -> frozenset[str]:
        """Keys of the declarations that hold."""
        return frozenset(self.items) - frozenset(self.missing)


def declaration_state(items: Iterable[str], there: Collection[str]) -> DeclarationState:
    """Return the state of the listed declarations, given the keys of the stored declarations."""
    listed = tuple(items)
    return DeclarationState(listed, tuple(item for item in listed if item not in there))


def set_properties(revision: Revision | None, state: DeclarationState) -> dict[str, Any]:
    """Properties of a set's node that follow from its revision; a property with the value None is absent."""
    if revision is None:
        return {}
    return {
        "revision": revision.number,
        "declarations": len(state.items),
        "missing": len(state.missing) or None,
        ITEMS: list(state.items),
        MISSING: list(state.missing) or None,
        REVISED: revision.stamp,
        **revision.properties,
    }


def declaration_links(properties: Mapping[str, Any]) -> Iterator[Link]:
    """Relationships of a declaration while it holds."""
    subject = str(properties["subject"])
    inputs, outputs = _keys(properties, "inputs"), _keys(properties, "outputs")
    for key in inputs:
        yield Link(RelType.READS, subject, key)
    for key in outputs:
        yield Link(RelType.WRITES, subject, key)
    for pair in _keys(properties, "_feeds"):
        yield Link(RelType.FEEDS, pair[:32], pair[32:], subject)
    for key in _keys(properties, "_consumes"):
        yield Link(RelType.CONSUMES, subject, key)


def feeds_of(inputs: Collection[str], outputs: Collection[str], pairs: Collection[tuple[str, str]]) -> Props:
    """Properties of a job's declaration: datasets that the job reads and writes, and pairs that feed each other.

    All arguments are keys of datasets; the declared column lineage connects `pairs`.
    """
    feeds = {(source, target) for source in inputs for target in outputs} | set(pairs)
    out: Props = {}
    for name, keys in (
        ("inputs", {*inputs, *(source for source, _ in pairs)}),
        ("outputs", {*outputs, *(target for _, target in pairs)}),
        ("_feeds", {source + target for source, target in feeds}),
    ):
        if keys:
            out[name] = sorted(keys)
    return out


def _keys(properties: Mapping[str, Any], name: str) -> list[str]:
    values = properties.get(name)
    return list(values) if values else []
