"""Dead letters on a terminal and as documents."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.table import Table

from headwater_consumers.materializer.dead_letters.inspection import Census, Content
from headwater_consumers.materializer.dead_letters.letter import StoredDeadLetter
from headwater_schemas.visible import json_escaped, visible

if TYPE_CHECKING:
    from rich.console import RenderableType


def census_document(found: Census) -> dict[str, Any]:
    """`dlq list --json`."""
    return {
        "letters": found.letters,
        "waiting": found.waiting,
        "acknowledged": found.acknowledged,
        "overtaken": found.overtaken,
        "by_reason": found.by_reason,
        "groups": [
            {
                "reason": group.reason,
                "job": group.job,
                "letters": group.letters,
                "bytes": group.bytes,
                "oldest": _iso(group.oldest),
                "newest": _iso(group.newest),
                "sample": group.sample,
            }
            for group in found.groups
        ],
    }


def census_view(found: Census) -> RenderableType:
    """A row for each reason and job."""
    if not found.groups:
        return "No dead letters."
    table = Table(box=None, pad_edge=False)
    for heading in ("reason", "job"):
        table.add_column(heading, overflow="fold")
    table.add_column("letters", justify="right")
    for heading in ("oldest", "newest", "look at one"):
        table.add_column(heading)
    for group in found.groups:
        table.add_row(
            visible(group.reason),
            visible(group.job or "—"),
            f"{group.letters:,}",
            _time(group.oldest),
            _time(group.newest),
            f"dlq show {group.sample}",
        )
    notes = [f"{found.waiting:,} of {found.letters:,} wait; {found.acknowledged:,} are acknowledged or replayed."]
    if found.overtaken:
        notes.append(f"{found.overtaken:,} more are earlier letters of records that were sent again or replayed.")
    return Group(table, "", *notes)


def letter_document(letter: StoredDeadLetter, content: Content) -> dict[str, Any]:
    """`dlq show --json`."""
    return {
        "at": letter.where,
        "source": None if letter.source is None else str(letter.source),
        "published": _iso(letter.time),
        "job": letter.job,
        "reason": letter.reason,
        "stage": letter.stage,
        "error": letter.error,
        "message": letter.message,
        "event_id": letter.event_id or None,
        "attempt": letter.attempt,
        "replayed_from": letter.replayed_from,
        "left_out_bytes": letter.left_out,
        "headers": {name: None if value is None else _text(value) for name, value in letter.original_headers},
        "value": {
            "bytes": content.bytes,
            "starts": content.starts,
            "problem_now": content.problem,
            "fields": content.fields,
        },
    }


def letter_view(document: dict[str, Any]) -> RenderableType:
    """The letter, then what is in it."""
    value = document["value"]
    table = Table(box=None, pad_edge=False, show_header=False)
    for name in ("at", "source", "published", "job", "reason", "stage", "error", "message", "event_id", "attempt"):
        table.add_row(name.replace("_", " "), visible(str(document[name] if document[name] is not None else "—")))
    for name, text in document["headers"].items():
        table.add_row(f"header {visible(name)}", visible(str(text)))
    if document["left_out_bytes"] is not None:
        table.add_row("left out", f"{document['left_out_bytes']} bytes")
    table.add_row("value", f"{value['bytes']:,} bytes, begins with {value['starts'] or 'nothing'}")
    table.add_row("this release says", visible(value["problem_now"] or "a good event: replay it"))
    if value["fields"] is None:
        return table
    return Group(table, "", json_escaped(json.dumps(value["fields"], indent=2, default=str, ensure_ascii=False)))


def _text(value: bytes) -> str:
    return value.decode("utf-8", "backslashreplace")


def _iso(time: datetime | None) -> str | None:
    return None if time is None else time.isoformat()


def _time(time: datetime | None) -> str:
    return "—" if time is None else f"{time:%Y-%m-%d %H:%M:%S}"
