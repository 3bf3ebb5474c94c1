"""Truth: which micro-batches were committed, and where each source ended. Read by hand, not with capture's own code."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Truth:
    """All that was ever seen in the checkpoints of one folder: Spark forgets what is older than 100 micro-batches.

    Attributes:
        queries: name to Spark's query id.
        ends: of query name and committed batch id, the source's end, as `position` has it.
    """

    folder: Path
    queries: dict[str, str] = field(default_factory=dict)
    ends: dict[tuple[str, int], Any] = field(default_factory=dict)

    def look(self) -> None:
        """Takes in what the checkpoints have now; nothing may be writing."""
        for checkpoint in (self.folder / "checkpoints").glob("*"):
            if (checkpoint / "metadata").exists():
                self.queries[checkpoint.name] = json.loads((checkpoint / "metadata").read_text())["id"]
            for commit in (checkpoint / "commits").glob("[0-9]*"):
                batch = int(commit.name)
                if (end := _logged(checkpoint, batch)) is not None and (checkpoint.name, batch) not in self.ends:
                    self.ends[checkpoint.name, batch] = _end(checkpoint, end, _logged(checkpoint, batch - 1))

    def committed(self, query: str) -> list[int]:
        """Its committed micro-batches, in order."""
        return sorted(batch for name, batch in self.ends if name == query)


def _logged(checkpoint: Path, batch: int) -> Any:
    offsets = checkpoint / "offsets" / str(batch)
    return json.loads(offsets.read_text().split("\n")[2]) if offsets.exists() else None


def _end(checkpoint: Path, offset: Any, before: Any) -> Any:
    if "logOffset" not in offset:
        return offset
    # A micro-batch without data, which only moves the watermark, has the offset of the one before it.
    number = -1 if offset == before else offset["logOffset"]
    return _manifest(checkpoint / "sources" / "0", number)


def _manifest(log: Path, number: int) -> tuple[int, str]:
    """The digest of the files that were logged under a number, or that a compacted log repeats with it."""
    paths = set()
    for part in [log / str(number), *log.glob("*.compact")]:
        for line in part.read_text().split("\n")[1:] if part.exists() else ():
            if line and (entry := json.loads(line))["batchId"] == number:
                paths.add(entry["path"])
    return len(paths), hashlib.sha256("".join(f"{path}\n" for path in sorted(paths)).encode()).hexdigest()
