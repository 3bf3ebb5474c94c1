"""Truth: which micro-batches were committed, where each source ended, what was read and written.

Read by hand, not with capture's own code.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pyarrow.parquet as pq

FILE_ROWS = 4
"""Rows of each file that is fed."""
BATCH_ROWS = 6
"""Rows of each micro-batch of the source that counts up."""


@dataclass(frozen=True)
class Rows:
    """Rows of one micro-batch.

    Attributes:
        written: name of each dataset it writes ⇒ rows.
    """

    read: int
    written: dict[str, int]


@dataclass
class Truth:
    """All that was ever seen in the checkpoints of one folder: Spark forgets what is older than 100 micro-batches.

    Attributes:
        queries: name to Spark's query id.
        ends: of query name and committed batch id, the source's end, as `position` has it.
        sunk: of each batch id in the log of the sink of `files`, the Parquet files that it committed.
    """

    folder: Path
    topics: str = ""
    queries: dict[str, str] = field(default_factory=dict)
    ends: dict[tuple[str, int], Any] = field(default_factory=dict)
    sunk: dict[int, set[str]] = field(default_factory=dict)

    def look(self) -> None:
        """Takes in what the checkpoints have now; nothing may be writing."""
        for checkpoint in (self.folder / "checkpoints").glob("*"):
            if (checkpoint / "metadata").exists():
                self.queries[checkpoint.name] = json.loads((checkpoint / "metadata").read_text())["id"]
            for commit in (checkpoint / "commits").glob("[0-9]*"):
                batch = int(commit.name)
                if (end := _logged(checkpoint, batch)) is not None and (checkpoint.name, batch) not in self.ends:
                    self.ends[checkpoint.name, batch] = _end(checkpoint, end, _logged(checkpoint, batch - 1))
        log = self.folder / "files" / "_spark_metadata"
        parts = {int(part.name.split(".")[0]): part for part in log.glob("[0-9]*")} if log.exists() else {}
        for batch, part in sorted(parts.items()):
            if batch not in self.sunk:
                # A compacted part repeats what is in those before it.
                earlier = set().union(*(paths for before, paths in self.sunk.items() if before < batch))
                self.sunk[batch] = _added(part) - earlier

    def rows(self, query: str, batch: int) -> Rows:
        """Rows that a committed micro-batch read and wrote."""
        end = self.ends[query, batch]
        match query:
            case "copy":
                before = self.ends.get((query, batch - 1), {})
                read = sum(
                    int(offset) - int(before.get(topic, {}).get(partition, 0))
                    for topic, partitions in end.items()
                    for partition, offset in partitions.items()
                )
                return Rows(read, {f"{self.topics}out": read})
            case "files":
                written = sum(_parquet_rows(path) for path in self.sunk.get(batch, ()))
                return Rows(end[0] * FILE_ROWS, {str(self.folder / "files"): written})
            case _:
                # Consecutive numbers: half of them are even.
                each = BATCH_ROWS // 2
                return Rows(BATCH_ROWS, {str(self.folder / "even"): each, str(self.folder / "odd"): each})

    def committed(self, query: str) -> list[int]:
        """Its committed micro-batches, in order."""
        return sorted(batch for name, batch in self.ends if name == query)


def _logged(checkpoint: Path, batch: int) -> Any:
    offsets = checkpoint / "offsets" / str(batch)
    return json.loads(offsets.read_text().split("\n")[2]) if offsets.exists() else None


def _added(part: Path) -> set[str]:
    entries = [json.loads(line) for line in part.read_text().split("\n")[1:] if line]
    return {entry["path"] for entry in entries if entry["action"] == "add"}


def _parquet_rows(path: str) -> int:
    return int(pq.read_metadata(unquote(urlsplit(path).path)).num_rows)


def _end(checkpoint: Path, offset: Any, before: Any) -> Any:
    if "logOffset" not in offset:
        return offset
    # A micro-batch without data, which only moves the watermark, has the offset of the one before it. One that a driver
    # died over between the source's log and the log of offsets is planned again with what has come since: as two.
    first = 0 if before is None else before["logOffset"] + 1
    return _manifest(checkpoint / "sources" / "0", range(first, offset["logOffset"] + 1))


def _manifest(log: Path, numbers: range) -> tuple[int, str]:
    """The digest of the files that were logged under some numbers, or that a compacted log repeats with them."""
    paths = set()
    for part in [*(log / str(number) for number in numbers), *log.glob("*.compact")]:
        for line in part.read_text().split("\n")[1:] if part.exists() else ():
            if line and (entry := json.loads(line))["batchId"] in numbers:
                paths.add(entry["path"])
    return len(paths), hashlib.sha256("".join(f"{path}\n" for path in sorted(paths)).encode()).hexdigest()
