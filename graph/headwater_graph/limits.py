"""Limit of the writes of one transaction. Importing this module doesn't import the writer and the Neo4j driver."""

from __future__ import annotations

from typing import Final

MOST_LINKS: Final = 50_000
"""Maximum number of relationships between datasets in one transaction. Writing this many takes 15 s on busy cores. Four
times as many exceed a heap of 1 GB."""


class LinksExceededError(Exception):
    """The events of a transaction give more relationships than allowed (`MOST_LINKS`)."""
