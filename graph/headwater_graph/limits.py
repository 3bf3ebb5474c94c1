"""Bound on the writes of one transaction; importable without the writer and the Neo4j driver."""

from __future__ import annotations

from typing import Final

MOST_LINKS: Final = 50_000
"""Maximum number of relationships between datasets in one transaction: 15 s on busy cores. Four times as many
take more memory than Neo4j has with a heap of 1 GB."""


class LinksExceededError(Exception):
    """The events of a transaction give more relationships than allowed (`MOST_LINKS`)."""
