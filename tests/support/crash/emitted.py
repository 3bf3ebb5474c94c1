"""Events that the drivers have emitted: in files, on the topic, and in outboxes whose driver is dead."""

from __future__ import annotations

import shutil
import sqlite3
import struct
import tempfile
from contextlib import closing
from pathlib import Path

from headwater_schemas.codec import Decoder
from headwater_schemas.events import LineageEvent
from support.running import events_on


def in_files(folder: Path) -> list[LineageEvent]:
    """All events that reached their file; one that a kill has cut in two hasn't."""
    decoder = Decoder()
    events = []
    for path in sorted((folder / "events").iterdir()):
        data = path.read_bytes()
        at = 0
        while at + 4 <= len(data):
            (size,) = struct.unpack_from(">I", data, at)
            if at + 4 + size > len(data):
                break
            events.append(decoder.decode(data[at + 4 : at + 4 + size]))
            at += 4 + size
    return events


def on_topic(brokers: str, topic: str) -> list[LineageEvent]:
    """All events that Kafka has; none where nobody has made the topic yet."""
    return events_on(brokers, topic)


def in_outboxes(folder: Path) -> list[LineageEvent]:
    """All that waits for the next driver, read with nothing of the outbox's own; none of them may be damaged."""
    decoder = Decoder()
    events = []
    for path in sorted((folder / "outbox").glob("*/*")):
        assert not path.name.endswith(".damaged"), path
        if path.suffix == ".outbox":
            events += [decoder.decode(value) for value in _values(path)]
    return events


def _values(path: Path) -> list[bytes]:
    """Values in an outbox, read from a copy: opening it would make a writer of its log."""
    with tempfile.TemporaryDirectory() as copies:
        for part in path.parent.glob(f"{path.name}*"):
            shutil.copy(part, copies)
        with closing(sqlite3.connect(Path(copies) / path.name)) as connection:
            if not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
                return []  # killed before its first commit
            return [value for (value,) in connection.execute("SELECT value FROM event ORDER BY number")]
