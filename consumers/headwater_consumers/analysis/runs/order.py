"""Runs in order of when they began, then of key: how pages go on, and what "after" means."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from headwater_consumers.analysis import cursor as cursors
from headwater_schemas.identity import micros

if TYPE_CHECKING:
    from headwater_consumers.analysis.runs.answer import RunItem

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
"""Stands for a time that isn't known. A parameter of the statements: made for each row it costs 2 µs."""

PROBED = 100
"""Micro-batches of a streaming run that are looked at for a dataset, before the run is said not to have used it."""


def place(run: RunItem) -> dict[str, Any]:
    """The run as the statements' `$given.began` and `$given.key`. One of unknown time counts as the oldest."""
    return {"began": run.began or EPOCH, "key": run.key}


def encoded(began: datetime | None, key: str, *, question: object) -> str:
    """The cursor of the page after a node of that time and key."""
    return cursors.encode((micros(began or EPOCH), key), question=question)


def decoded(cursor: str | None, *, question: object) -> tuple[datetime | None, str]:
    """Where a page begins: after nothing for the first.

    Raises:
        QuestionError: the cursor is none of this question.
    """
    if cursor is None:
        return None, ""
    at, key = cursors.decode(cursor, question=question, kinds=(int, str))
    try:
        return EPOCH + timedelta(microseconds=at), key
    except OverflowError as error:
        raise cursors.malformed() from error
