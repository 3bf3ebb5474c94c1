"""QueryLog: which micro-batches a checkpoint still has, and what it says of each.

    metadata          {"id": "<query id>"}
    offsets/<n>       written when micro-batch n is planned: a version line, its metadata (time, watermark before), and
                      a line for each source with the source's *end* offset, `-` where it has none yet
    commits/<n>       written when micro-batch n is committed

Spark keeps the last 100 of both (`spark.sql.streaming.minBatchesToRetain`).
Format: org.apache.spark.sql.execution.streaming.OffsetSeqLog and CommitLog, version 1.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from headwater_producers.spark.jvm.files import TextFiles

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NO_OFFSET: Final = "-"


class CheckpointError(ValueError):
    """A checkpoint, or one micro-batch of it, can't be read for what it is; the text says which file and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedBatch:
    """One planned micro-batch.

    Attributes:
        batch_id: Spark's.
        planned_at: when Spark planned it, a moment after its trigger began; None with a continuous trigger.
        watermark: the one it ran with; None before any event time was seen.
        ends: the end offset of each source, as its own JSON, parsed; None where a source has none yet.
    """

    batch_id: int
    planned_at: datetime | None
    watermark: datetime | None
    ends: tuple[Any, ...]


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
