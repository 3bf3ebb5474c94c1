"""`AuditRecord`: one request or command, or a part of it, with bounded and redacted texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final

from headwater_schemas.redacted_values import redacted_json
from headwater_schemas.redaction import redact

LONGEST_VALUE: Final = 1_000
"""Maximum number of characters of a parameter's value in a record."""
MOST_VALUES: Final = 50
"""Maximum number of values of parameters in a record."""
MOST_CHARACTERS: Final = 16_384
"""Maximum number of characters of parameters in a record, names and values together. Redacting a megabyte would take
seconds, in which a server does nothing else. The longest name of a dataset has fewer characters."""
_LONGEST_NAME: Final = 200
_LONGEST_SUBJECT: Final = 500


class Kind(StrEnum):
    """Kinds of lines."""

    OPENED = "OPENED"
    """The first line of a chain."""
    INTENT = "INTENT"
    """A change is about to be made. The outcome has the same `request`."""
    OUTCOME = "OUTCOME"
    """A question was answered, a change was made, or a request was refused."""
    LOST = "LOST"
    """Number of records that couldn't be written, with the times of the first and the last."""
    HEAD = "HEAD"
    """Signature of all lines of the chain so far."""
    CLOSED = "CLOSED"
    """Last line of a chain whose process ended regularly; also a signature."""


SIGNED: Final = frozenset({Kind.OPENED, Kind.HEAD, Kind.CLOSED})
"""Kinds with a signature, if there is a key."""


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """Content of a line. Members with the value None are left out.

    Attributes:
        kind: INTENT or OUTCOME.
        time: time of the record, with a time zone.
        request: random id of the request or the command's run.
        source: how the identity was established; `command` for commands.
        subject: name that is unique within the source; the user of the operating system for commands.
        tenant: tenant of the graph that was asked or changed.
        address: address of the client; name of the machine for commands.
        route: template of the route's path; None if there is no such route.
        operation: `operation_id` of the route.
        tool: MCP tool that sent the request; None if the client sent it itself.
        command: command of `headwater`, for example `dlq replay`.
        filters: parameters by name, from `filters_of`.
        left_out: number of values that `filters` leaves out.
        results: number of items in the answer; None if the answer has no items to count.
        decision: `allow` or `deny` of the authorisation; None if it wasn't evaluated.
        milliseconds: time from the arrival of the request to the beginning of its answer.
    """

    kind: Kind
    time: datetime
    request: str
    source: str
    subject: str
    tenant: str | None = None
    address: str | None = None
    method: str | None = None
    route: str | None = None
    operation: str | None = None
    tool: str | None = None
    command: str | None = None
    filters: Mapping[str, list[str]] = field(default_factory=dict)
    left_out: int = 0
    results: int | None = None
    status: int | None = None
    exit: int | None = None
    decision: str | None = None
    rules: tuple[str, ...] = ()
    milliseconds: float | None = None

    def members(self) -> dict[str, Any]:
        """Members of the line, with values of JSON."""
        found: dict[str, Any] = {
            "kind": self.kind.value,
            "time": utc_text(self.time),
            "request": self.request,
            "source": self.source,
            "subject": _cut(self.subject, _LONGEST_SUBJECT),
            "tenant": _cut(self.tenant, _LONGEST_SUBJECT),
            "address": _cut(self.address, _LONGEST_NAME),
            "method": _cut(self.method, _LONGEST_NAME),
            "route": self.route,
            "operation": self.operation,
            "tool": self.tool,
            "command": self.command,
            "filters": dict(self.filters) or None,
            "left_out": self.left_out or None,
            "results": self.results,
            "status": self.status,
            "exit": self.exit,
            "decision": self.decision,
            "rules": [_cut(rule, _LONGEST_NAME) for rule in self.rules[:MOST_VALUES]] or None,
            "milliseconds": None if self.milliseconds is None else round(self.milliseconds, 3),
        }
        return {name: value for name, value in found.items() if value is not None}


def utc_text(time: datetime) -> str:
    """Format a time in UTC with milliseconds, `2026-11-28T05:00:00.123Z`: these texts sort like the times."""
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def filters_of(parameters: Iterable[tuple[str, str]]) -> tuple[dict[str, list[str]], int]:
    """Return parameters of a question without likely credentials, by name, and the number of left-out values.

    A value is redacted by the parameter's name and by its own text, and only then cut to `LONGEST_VALUE` characters,
    with `…` at its end: an earlier cut could expose half a secret. If there are more than `MOST_VALUES` values or
    `MOST_CHARACTERS` characters, the first ones are kept.

    Args:
        parameters: names and values; a name may occur several times.
    """
    found: dict[str, list[str]] = {}
    kept = left_out = characters = 0
    for name, value in parameters:
        size = len(name) + len(value)
        if kept >= MOST_VALUES or characters + size > MOST_CHARACTERS:
            left_out += 1
            continue
        kept += 1
        characters += size
        # Name and value are redacted together, since a name such as `password` makes any value a secret.
        (safe,) = redacted_json({name: value})[0].values()
        found.setdefault(redact(name, max_chars=_LONGEST_NAME), []).append(_cut(safe, LONGEST_VALUE))
    return found, left_out


def _cut(text: Any, most: int) -> Any:
    if isinstance(text, str) and len(text) > most:
        return f"{text[: most - 1]}…"
    return text
