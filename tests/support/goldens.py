"""Golden events: each kind as JSON for people and as the bytes that stand on the topic, a folder for each version.

A file is written once, with the version that it is of, and stays: what is on a topic doesn't change either. This writes
those that aren't there, after a new version of the contract was added:

    PYTHONPATH=tests uv run python -m support.goldens --add
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import msgspec

from headwater_schemas.avro_schema import current_schema
from headwater_schemas.codec import encode
from headwater_schemas.events import LineageEvent
from headwater_schemas.identity import record_key
from support.events import FULL_EVENTS

FOLDER = Path(__file__).parents[1] / "contract" / "schemas" / "golden"


def document(event: LineageEvent) -> dict[str, Any]:
    """Content of a golden file of the current version."""
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


def files(version: int) -> dict[str, Path]:
    """Kind ⇒ its golden file of a version."""
    return {name: FOLDER / str(version) / f"{name}.json" for name in FULL_EVENTS}


def add() -> list[Path]:
    """Write the files of the current version that aren't there, and return them."""
    added = {name: file for name, file in files(current_schema().version).items() if not file.exists()}
    for name, file in added.items():
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(document(FULL_EVENTS[name]()), indent=2, ensure_ascii=False) + "\n", "utf-8")
    return list(added.values())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--add", action="store_true", required=True, help="write the files that aren't there")
    parser.parse_args()
    for written in add():
        print(written.relative_to(Path.cwd()))  # noqa: T201  the answer of a maintainer's command
