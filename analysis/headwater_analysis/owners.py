"""Owners of a dataset, a job or a consumer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any


@dataclass(frozen=True, slots=True)
class OwnerName:
    """Owner of an asset.

    Attributes:
        name: name of the owner: `team:flights`.
        type: type of ownership, where known.
    """

    name: str
    type: str | None


def owners_of(properties: Mapping[str, Any]) -> tuple[OwnerName, ...]:
    """Build owners from a node's parallel lists `owners` and `owner_types`."""
    pairs = zip_longest(properties.get("owners") or (), properties.get("owner_types") or (), fillvalue="")
    return tuple(OwnerName(name, type_ or None) for name, type_ in pairs if name)
