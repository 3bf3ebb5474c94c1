"""`Visible`: the part of a graph that an asker may see, as conditions that every statement can check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from headwater_graph.keys import scope_key


@dataclass(frozen=True, slots=True)
class Visible:
    """Part of the graph that an asker may see. In place of an instance, None means everything.

    Attributes:
        scopes: scopes whose assets are visible except `hidden`: "dataset:<namespace>", "job:<namespace>", "consumer:".
        hidden: keys of assets of these scopes that aren't visible.
        also: keys of visible assets of other scopes.
    """

    scopes: frozenset[str]
    hidden: frozenset[str] = frozenset()
    also: frozenset[str] = frozenset()

    def shows_dataset(self, key: str, namespace: str) -> bool:
        """Return whether a dataset is visible."""
        return key in self.also or (f"dataset:{namespace}" in self.scopes and key not in self.hidden)

    def given(self, tenant: str) -> Mapping[str, list[str]]:
        """Return this object as a statement's `$given.visible` (`filtered`). The result is shared: don't change it."""
        return _given(self, tenant)


@lru_cache(maxsize=64)
def _given(visible: Visible, tenant: str) -> Mapping[str, list[str]]:
    scopes = (each.partition(":") for each in sorted(visible.scopes))
    return {
        "scopes": [scope_key(tenant, kind, namespace) for kind, _, namespace in scopes],
        "hidden": sorted(visible.hidden),
        "also": sorted(visible.also),
    }
