"""Search of records: a filter of lines, one at a time. The lines aren't verified."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from headwater_audit.file import PlacedLine
from headwater_audit.record import Kind, utc_text

_RECORDS = (Kind.INTENT, Kind.OUTCOME)


class Outcome(StrEnum):
    """End of a request or a command."""

    DONE = "done"
    """The request was answered, or the command succeeded."""
    REFUSED = "refused"
    """The request was refused: HTTP status 401 or 403, or the decision is `deny`."""
    FAILED = "failed"
    """The request ended with a status of 400 or more other than 401 and 403, or no status is recorded; or the command's
    exit status isn't 0."""


@dataclass(frozen=True, slots=True)
class AuditQuery:
    """Filter of records. Fields with None match everything.

    Attributes:
        subject: exact subject, or source and subject as in `token:ci`.
        since: earliest time, included.
        until: latest time, excluded.
        operation: exact operation of the API, or command.
        dataset: text in the value of any parameter, such as a dataset's name or key.
    """

    subject: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    operation: str | None = None
    outcome: Outcome | None = None
    dataset: str | None = None

    def matching(self, lines: Iterable[PlacedLine]) -> Iterator[tuple[PlacedLine, dict[str, Any]]]:
        """Yield the matching records in the order of the lines, each with its line."""
        since = None if self.since is None else utc_text(self.since)
        until = None if self.until is None else utc_text(self.until)
        for line in lines:
            record = _record(line.data)
            if record is None:
                continue
            time = record["time"]
            if (since is not None and time < since) or (until is not None and time >= until):
                continue
            if self._matches(record):
                yield line, record

    def _matches(self, record: dict[str, Any]) -> bool:
        subject = record.get("subject")
        if self.subject is not None and self.subject not in (subject, f"{record.get('source')}:{subject}"):
            return False
        if self.operation is not None and self.operation not in (record.get("operation"), record.get("command")):
            return False
        if self.outcome is not None and self.outcome is not outcome_of(record):
            return False
        return self.dataset is None or any(self.dataset in value for _, value in parameters_of(record))


def outcome_of(record: dict[str, Any]) -> Outcome | None:
    """End of a record's request or command; None for an intent."""
    if record["kind"] != Kind.OUTCOME:
        return None
    status, ended = record.get("status"), record.get("exit")
    if record.get("decision") == "deny" or status in (401, 403):
        return Outcome.REFUSED
    if isinstance(status, int):
        return Outcome.FAILED if status >= 400 else Outcome.DONE
    return Outcome.DONE if ended == 0 else Outcome.FAILED


def _record(data: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or found.get("kind") not in _RECORDS or not isinstance(found.get("time"), str):
        return None
    return found


def parameters_of(record: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Names and values of a record's parameters. Parameters in a form that the audit doesn't write are left out."""
    filters = record.get("filters")
    for name, values in filters.items() if isinstance(filters, dict) else ():
        for value in values if isinstance(values, list) else ():
            yield name, str(value)
