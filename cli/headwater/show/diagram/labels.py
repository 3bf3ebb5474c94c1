"""What nodes and edges are called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.console import shortened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater_consumers.analysis.assets import Asset

MOST_LABEL = 80
_MOST_NAMES = 3


def asset_label(asset: Asset) -> str:
    """`flights.departed#value.carrier`."""
    column = "" if asset.column is None else f"#{shortened(asset.column, MOST_LABEL)}"
    return shortened(asset.title or asset.name, MOST_LABEL) + column


def some(names: Sequence[str], total: int | None = None) -> str:
    """The first of them, and how many more there are."""
    shown = [shortened(name, MOST_LABEL) for name in names[:_MOST_NAMES]]
    more = (len(names) if total is None else total) - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more else "")
