"""`Visible`: what an asker may see, as conditions that every statement can check."""

from __future__ import annotations

from dataclasses import dataclass

from headwater_graph.keys import scope_key


@dataclass(frozen=True, slots=True)
class Visible:
    """What an asker may see of the graph. None in its place means everything.

    Attributes:
        scopes: scopes of which every asset is visible, but for `hidden`: "dataset:<namespace>", "job:<namespace>",
            "consumer:".
        hidden: keys of assets of these scopes that aren't visible.
        also: keys of visible assets of other scopes.
    """

    scopes: frozenset[str]
    hidden: frozenset[str] = frozenset()
    also: frozenset[str] = frozenset()

    def given(self, tenant: str) -> dict[str, list[str]]:
        """Return it as the parameter `$given.visible` of a statement (`filtered`)."""
        scopes = (each.partition(":") for each in sorted(self.scopes))
        return {
            "scopes": [scope_key(tenant, kind, namespace) for kind, _, namespace in scopes],
            "hidden": sorted(self.hidden),
            "also": sorted(self.also),
        }
