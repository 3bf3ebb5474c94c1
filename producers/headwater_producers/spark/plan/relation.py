"""Where the rows and columns at one point of a plan come from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Relation:
    """To be filled."""
