"""Logs of Spark's file sources and sinks: one text file per batch, with the files that the batch added.

`<checkpoint>/sources/<i>/<n>` lists the files a file source took, `<sink>/_spark_metadata/<n>` those a file sink wrote:
a version line, then one JSON object per line. Each tenth file (`spark.sql.streaming.fileSource.log.compactInterval`,
`…fileSink…`) is `<n>.compact` and repeats the lines of all logs before it. A source's line has the number of its batch.
A sink's line doesn't: the batch of a compacted sink log added the files that the earlier logs lack. Format:
org.apache.spark.sql.execution.streaming.CompactibleFileStreamLog.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from headwater_producers.spark.connectors.connector_answers import SinkCommit
from headwater_producers.spark.events.writes import Counts
from headwater_producers.spark.jvm.files import TextFolder
from headwater_producers.spark.jvm.scala import instant
from headwater_producers.spark.plan.settings import MAX_PATHS
from headwater_schemas.events import FileSet, Position
from headwater_schemas.identity import manifest_digest

# Number of predecessors of a compacted batch to search: Spark compacts every 10 by default.
_MAX_LOOK_BACK: Final = 100


SOURCE: Final = "FileStreamSource"
"""Name of a file source in a progress, followed by its path in brackets."""


def log_offset(offset: object) -> int | None:
    """Return the log batch of a file source's offset, `{"logOffset": 3}`; None for an offset of another source."""
    number = offset.get("logOffset") if isinstance(offset, dict) else None
    return int(number) if isinstance(number, int | str) else None


@dataclass(frozen=True, slots=True)
class LoggedFile:
    """Line of a log. Sinks record `size` and `modified` (milliseconds since 1970), sources `log_batch`."""

    path: str
    size: int | None
    log_batch: int | None
    modified: int | None = None


def parse_log(text: str) -> tuple[LoggedFile, ...]:
    """Parse the files that a log batch adds; a sink's lines for deleted files are left out.

    Raises:
        ValueError: the log has another version, or is cut short.
    """
    version, *lines = text.splitlines()
    if version.strip("\0 ") != "v1":
        raise ValueError(f"log version {version[:20]!r}; only v1 is known")
    entries = (json.loads(line) for line in lines if line.strip())
    return tuple(
        LoggedFile(entry["path"], entry.get("size"), entry.get("batchId"), entry.get("modificationTime"))
        for entry in entries
        if entry.get("action", "add") == "add"
    )


def sink_files(sink: TextFolder, batch_id: int) -> tuple[LoggedFile, ...] | None:
    """List the files that a micro-batch added to a file sink; None if the log doesn't have it (any longer)."""
    folder = sink.folder("_spark_metadata")
    if (text := folder.read(f"{batch_id}")) is not None:
        return parse_log(text)
    if (text := folder.read(f"{batch_id}.compact")) is None:
        return None
    before: set[str] = set()
    for earlier in range(batch_id - 1, max(-1, batch_id - 1 - _MAX_LOOK_BACK), -1):
        if (delta := folder.read(f"{earlier}")) is not None:
            before.update(file.path for file in parse_log(delta))
        elif (compacted := folder.read(f"{earlier}.compact")) is not None:
            before.update(file.path for file in parse_log(compacted))
            break
        else:
            return None  # a gap in the log: earlier additions can't be separated
    return tuple(file for file in parse_log(text) if file.path not in before)


def source_files(log: TextFolder, after: int | None, up_to: int) -> FileSet | None:
    """List the files that a file source took in log batches `(after, up_to]`; None if the log lacks them."""
    taken: list[LoggedFile] = []
    for number in range(0 if after is None else after + 1, up_to + 1):
        text = log.read(f"{number}")
        if text is None and (text := log.read(f"{number}.compact")) is None:
            return None
        taken += [file for file in parse_log(text) if file.log_batch == number]
    return file_set(taken)


def a_file(log: TextFolder, up_to: int) -> str | None:
    """Return one of the latest files that a file source read; None if its log names none."""
    for number in range(up_to, -1, -1):
        for name in (f"{number}", f"{number}.compact"):
            if (text := log.read(name)) is not None and (logged := parse_log(text)):
                return logged[0].path
    return None


def file_set(logged: Iterable[LoggedFile]) -> FileSet:
    """Build a position from files. Paths are as Spark writes them, sorted."""
    by_path = {file.path: file for file in logged}
    paths = sorted(by_path)
    sizes = [size for file in by_path.values() if (size := file.size) is not None]
    return FileSet(
        count=len(paths),
        bytes=sum(sizes) if len(sizes) == len(paths) else None,
        manifest_digest=manifest_digest(paths),
        paths=tuple(paths[:MAX_PATHS]),
    )


class SinkLog:
    """Log of a streaming query's file sink; see `StreamLog`."""

    def __init__(self, sink: TextFolder) -> None:
        self._sink = sink

    def written(self, _query_id: str, batch_id: int) -> SinkCommit | None:
        """Return the files of a micro-batch, from the log with the micro-batch's number."""
        logged = sink_files(self._sink, batch_id)
        if logged is None:
            return None
        added = file_set(logged)
        last = max((file.modified for file in logged if file.modified is not None), default=None)
        at = None if last is None else instant(last)
        return SinkCommit(Position(files=added), Counts(bytes=added.bytes, files=added.count), at)
