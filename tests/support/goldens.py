"""Golden events: each kind as JSON for people and as the bytes that stand on the topic.

Bytes of a released schema never change, so a golden file is only ever written for a new field's sake:

    PYTHONPATH=tests uv run python -m support.goldens --refresh
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import msgspec

from headwater_schemas.codec import encode
from headwater_schemas.events import LineageEvent
from headwater_schemas.identity import record_key
from support.events import FULL_EVENTS

FOLDER = Path(__file__).parents[1] / "contract" / "schemas" / "golden"


def document(event: LineageEvent) -> dict[str, Any]:
    """What a golden file holds."""
    return {
        "record_key": record_key(event).decode(),
        "event": json.loads(msgspec.json.encode(event)),
        "value_hex": encode(event).hex(" ", -32).split(" "),
    }


def event_of(content: dict[str, Any]) -> LineageEvent:
    """The event that a golden file describes."""
    return msgspec.convert(content["event"], LineageEvent)


def value_of(content: dict[str, Any]) -> bytes:
    """The bytes that a golden file holds."""
    return bytes.fromhex("".join(content["value_hex"]))


def refresh() -> None:
    """Write every file anew."""
    for name, make in FULL_EVENTS.items():
        text = json.dumps(document(make()), indent=2, ensure_ascii=False)
        (FOLDER / f"{name}.json").write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--refresh", action="store_true", required=True, help="write every golden file anew")
    parser.parse_args()
    refresh()
