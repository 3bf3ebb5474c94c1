"""Neo4j's times ⇒ Python's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datetime import datetime


def moment(time: Any) -> datetime | None:
    """A `neo4j.time.DateTime` of a row as an aware `datetime`; the graph's times are microseconds in UTC."""
    return None if time is None else time.to_native()
