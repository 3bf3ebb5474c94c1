"""A checkpoint written by hand, as Spark 4.0 writes it, into DictFiles."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from support.capture import DictFiles

QUERY = "5b0e7f3a-0000-4000-8000-00000000000a"
BEGAN_MS = 1_700_000_000_000


class HandWritten:
    """Micro-batches one after the other; `purge` forgets as Spark does."""

    def __init__(self, location: str = "file:/cp") -> None:
        self.location = location
        self.files = DictFiles({f"{location}/metadata": json.dumps({"id": QUERY})})

    def first(self, source: int, offset: Any) -> None:
        self.files.texts[f"{self.location}/sources/{source}/0"] = f"\0v1\n{json.dumps(offset)}"

    def plan(self, batch: int, *ends: Any, watermark_ms: int = 0) -> None:
        about = {"batchWatermarkMs": watermark_ms, "batchTimestampMs": BEGAN_MS + batch * 1_000, "conf": {}}
        lines = ["-" if end is None else json.dumps(end) for end in ends]
        self.files.texts[f"{self.location}/offsets/{batch}"] = "\n".join(["v1", json.dumps(about), *lines])
        self.files.texts[f"{self.location}/offsets/.{batch}.crc"] = "crc"

    def commit(self, batch: int, watermark_ms: int = 0) -> None:
        text = json.dumps({"nextBatchWatermarkMs": watermark_ms})
        self.files.texts[f"{self.location}/commits/{batch}"] = f"v1\n{text}"

    def run(self, batch: int, *ends: Any, watermark_ms: int = 0) -> None:
        self.plan(batch, *ends, watermark_ms=watermark_ms)
        self.commit(batch, watermark_ms)

    def set_back(self, to: int) -> None:
        """Somebody has the query go on after `to`, or begin anew with -1."""
        for name in list(self.files.texts):
            folder, _, number = name.removeprefix(f"{self.location}/").partition("/")
            if folder in {"offsets", "commits"} and number.isdecimal() and int(number) > to:
                del self.files.texts[name]

    def purge(self, below: int) -> None:
        for batch in range(below):
            self.files.texts.pop(f"{self.location}/offsets/{batch}", None)
            self.files.texts.pop(f"{self.location}/commits/{batch}", None)


def kafka_checkpoint(batches: int) -> HandWritten:
    """Each micro-batch took 10 records of `in`, partition 0, from 5 on."""
    made = HandWritten()
    made.first(0, {"in": {"0": 5}})
    for batch in range(batches):
        made.run(batch, {"in": {"0": 15 + 10 * batch}})
    return made


def written(made: HandWritten, folder: Path) -> Path:
    """Write a checkpoint as files of this machine."""
    for name, text in made.files.texts.items():
        path = folder / name.removeprefix(f"{made.location}/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder
