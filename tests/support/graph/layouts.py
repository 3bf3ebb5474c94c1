"""Sizes of a segment of micro-batches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater_graph.segments import segment

if TYPE_CHECKING:
    import pytest


def make_segments_small(patch: pytest.MonkeyPatch) -> None:
    """Make segments so small that a few micro-batches fill blocks, and take several segments."""
    for name, value in (("PLACES", 2), ("BLOCKS", 2), ("SIZE", 4), ("TAIL", 1)):
        patch.setattr(segment, name, value)
