"""A streaming query's checkpoint: which micro-batches it has, and what it records of each.

    metadata          {"id": "<query id>"}
    offsets/<n>       written when micro-batch n is planned: a version line, its metadata (time, watermark before, the
                      session's settings), and a line for each source with the source's *end* offset, `-` where it has
                      none yet
    commits/<n>       written when micro-batch n is committed; holds the watermark that it set
    sources/<i>/0     where source i began (Kafka: offsets; files: the first log batch)
    sources/<i>/offsets/0   the same of Iceberg: JSON alone

Each is a version line and then JSON. Kafka's first offsets have a zero byte in front, for the sake of old Sparks.
Sources are numbered in the order of the plan, each once, here as in the progress. Spark keeps the last 100 of `offsets`
and `commits` (`spark.sql.streaming.minBatchesToRetain`).
Format: org.apache.spark.sql.execution.streaming.OffsetSeqLog and CommitLog, version 1.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from headwater_producers.spark.connectors.files.log import SOURCE, log_offset, source_files
from headwater_producers.spark.connectors.iceberg.connector import is_offset as is_iceberg
from headwater_producers.spark.connectors.kafka.connector import KafkaOffsets, kafka_offsets
from headwater_producers.spark.jvm.files import TextFiles
from headwater_producers.spark.streaming.progress import Progress
from headwater_schemas.events import FileSet

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NO_OFFSET: Final = "-"
_MAX_SOURCES: Final = 64


class CheckpointError(ValueError):
    """A checkpoint, or one micro-batch of it, can't be read for what it is; the text names the file and the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedBatch:
    """One planned micro-batch.

    Attributes:
        batch_id: Spark's.
        planned_at: when Spark planned it, a moment after its trigger began; None with a continuous trigger.
        watermark: the one it ran with; None before any event time was seen.
        ends: the end offset of each source, as its own JSON, parsed; None where a source has none yet.
        settings: those of the session's that Spark keeps with a query.
    """

    batch_id: int
    planned_at: datetime | None
    watermark: datetime | None
    ends: tuple[Any, ...]
    settings: Mapping[str, str] = field(default_factory=dict)


class QueryLog:
    """The logs of one streaming query. Files are read when asked for; the listings once, at the first question.

    Args:
        location: root of the checkpoint.
        files: to read it with.
    """

    def __init__(self, location: str, files: TextFiles) -> None:
        self.location = location.rstrip("/")
        self._files = files
        self._planned: list[int] | None = None
        self._committed: list[int] | None = None

    def query_id(self) -> str:
        """Spark's id of the query.

        Raises:
            CheckpointError: there is no checkpoint, or not of a streaming query.
        """
        text = self._files.read(f"{self.location}/metadata")
        if text is None:
            raise CheckpointError(f"{self.location} is no checkpoint of a streaming query: it has no file `metadata`")
        try:
            return str(json.loads(text)["id"])
        except (ValueError, KeyError, TypeError) as error:
            raise CheckpointError(f"{self.location}/metadata names no query") from error

    def committed(self) -> list[int]:
        """The committed micro-batches that are still there, in order."""
        if self._committed is None:
            self._committed = self._numbers("commits")
        return self._committed

    def planned(self) -> list[int]:
        """The planned micro-batches that are still there, in order; the last one may not be committed."""
        if self._planned is None:
            self._planned = self._numbers("offsets")
        return self._planned

    def sources(self) -> int:
        """How many sources have written something of their own; some never do."""
        return len(self._numbers("sources"))

    def batch(self, batch_id: int) -> LoggedBatch:
        """One planned micro-batch.

        Raises:
            CheckpointError: it isn't there (any more), or not in a form that is known.
        """
        name = f"{self.location}/offsets/{batch_id}"
        text = self._files.read(name)
        if text is None:
            raise CheckpointError(f"{name} isn't there any more")
        # Not splitlines: JSON may hold separators that it takes for the end of a line.
        version, _, body = text.partition("\n")
        if version.strip() != "v1":
            raise CheckpointError(f"{name} has version {version[:20]!r}; only v1 is known")
        metadata, *offsets = body.split("\n")
        try:
            about = json.loads(metadata) if metadata.strip() else {}
            ends = tuple(_offset(line) for line in offsets if line)
            return LoggedBatch(
                batch_id=batch_id,
                planned_at=_time(about.get("batchTimestampMs")),
                watermark=_time(about.get("batchWatermarkMs")),
                ends=ends,
                settings=about.get("conf") or {},
            )
        except (ValueError, TypeError, AttributeError) as error:
            raise CheckpointError(f"{name} is no offset log: {error}") from error

    def before(self, batch_id: int) -> int | None:
        """The planned micro-batch before this one, as far back as it may be; None where none is retained."""
        return max((number for number in self.planned() if number < batch_id), default=None)

    def _numbers(self, folder: str) -> list[int]:
        # Beside them are Hadoop's checksums and files being written: `.7.crc`, `.7.<uuid>.tmp`.
        names = self._files.names(f"{self.location}/{folder}")
        return sorted(int(name) for name in names if name.isascii() and name.isdigit())


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One query's checkpoint; `location` is its root, as Spark resolved it."""

    location: str
    files: TextFiles

    def watermark_after(self, batch_id: int) -> datetime | None:
        """The watermark that a committed micro-batch set; None where there is none, or no event time so far."""
        document = self._json(f"commits/{batch_id}")
        millis = document.get("nextBatchWatermarkMs") if isinstance(document, dict) else None
        return _time(millis)

    def topics(self, sources: int) -> dict[int, frozenset[str]]:
        """The topics of each Kafka source, when the query began and when it was planned last, as far as that is logged.

        Args:
            sources: how many the query has; one that it uses twice counts once.
        """
        newest = self._newest()
        ends = newest.ends if newest is not None else ()
        found: dict[int, frozenset[str]] = {}
        for index in range(min(sources, _MAX_SOURCES)):
            offsets = [self._json(f"sources/{index}/0")]
            if len(ends) == sources:
                offsets.append(ends[index])
            if known := [topics for offset in offsets if (topics := kafka_offsets(offset)) is not None]:
                found[index] = frozenset(topic for topics in known for topic in topics)
        return found

    def setting(self, name: str) -> str | None:
        """One of the session's settings that Spark keeps with a query, from its first start on; None before that."""
        newest = self._newest()
        return newest.settings.get(name) if newest is not None else None

    def first_offsets(self, progress: Progress) -> dict[int, KafkaOffsets]:
        """Where the Kafka sources that have no start in `progress` began, by their index in it."""
        found: dict[int, KafkaOffsets] = {}
        for index, source in enumerate(progress.sources):
            if source.start is None and (end := kafka_offsets(source.end)) is not None:
                first = self._first(index, end)
                if first is not None:
                    found[index] = first
        return found

    def initial_offsets(self, progress: Progress) -> dict[int, Any]:
        """Where the Iceberg sources that have no start in `progress` began, by their index in it."""
        found: dict[int, Any] = {}
        for index, source in enumerate(progress.sources):
            if source.start is None and is_iceberg(source.end):
                text = self.files.read(f"{self.location}/sources/{index}/offsets/0")
                if text is not None:
                    found[index] = json.loads(text)
        return found

    def files_taken(self, progress: Progress) -> dict[int, FileSet]:
        """The files of a micro-batch, by the index of each file source."""
        taken: dict[int, FileSet] = {}
        for index, source in enumerate(progress.sources):
            if source.description.startswith(SOURCE) and (up_to := log_offset(source.end)) is not None:
                folder = f"{self.location}/sources/{index}"
                files = source_files(self.files, folder, log_offset(source.start), up_to)
                if files is not None:
                    taken[index] = files
        return taken

    def _newest(self) -> LoggedBatch | None:
        """The micro-batch that was planned last; None where there is none, or not in a form that is known."""
        log = QueryLog(self.location, self.files)
        try:
            return log.batch(log.planned()[-1]) if log.planned() else None
        except CheckpointError:
            return None

    def _first(self, index: int, end: KafkaOffsets) -> KafkaOffsets | None:
        first = kafka_offsets(self._json(f"sources/{index}/0"))
        return first if first is not None and _can_lead_to(first, end) else None

    def _json(self, name: str) -> object:
        text = self.files.read(f"{self.location}/{name}")
        if text is None:
            return None
        _, _, body = text.partition("\n")
        line = body.strip().partition("\n")[0]
        return json.loads(line) if line.startswith("{") else None


def _can_lead_to(first: KafkaOffsets, end: KafkaOffsets) -> bool:
    return all(
        topic in end and partition in end[topic] and offset <= end[topic][partition]
        for topic, parts in first.items()
        for partition, offset in parts.items()
    )


def _offset(line: str) -> Any:
    """As the progress has it: JSON where it is any, else the text."""
    if line == _NO_OFFSET:
        return None
    try:
        return json.loads(line)
    except json.JSONDecodeError:
        return line


def _time(millis: int | None) -> datetime | None:
    return _EPOCH + timedelta(milliseconds=millis) if millis else None
