"""Bound on what one transaction writes; for those, too, that do without the writer and its driver."""

from __future__ import annotations

from typing import Final

MOST_LINKS: Final = 50_000
"""Relationships between datasets that come of the events of one transaction: 15 s on busy cores. Four times as many
take more memory than Neo4j has with a heap of 1 GB."""


class LinksExceededError(Exception):
    """More relationships come of a transaction's events than it may have (`MOST_LINKS`)."""
