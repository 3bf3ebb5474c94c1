"""A graph of what a file declares, and of the events beside it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from headwater_analysis.declaring.reading import read_set
from headwater_schemas.events import LineageEvent
from support.graph.writing import store

if TYPE_CHECKING:
    from neo4j import Driver

_TIME = datetime(2026, 1, 1, tzinfo=UTC)


def declare(
    driver: Driver, text: str, *, name: str = "s", revision: int = 1, more: Iterable[LineageEvent] = ()
) -> None:
    """Write the set `name` of a file's text, without its first lines, and other events."""
    declared = read_set("f.yaml", f"set: {name}\nnamespace: n\n{text}")
    events = list(declared.events(revision, tenant="default", event_time=_TIME))
    store(driver, [*events, *more])
