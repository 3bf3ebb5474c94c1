"""Checkpoint of a streaming query: records of its micro-batches and sources.

    metadata          {"id": "<query id>"}
    offsets/<n>       written when micro-batch n is planned: a version line, its metadata (time, watermark before, the
                      session's settings), and a line for each source with the source's *end* offset, `-` where it has
                      none yet
    commits/<n>       written when micro-batch n is committed; has the watermark that it set
    sources/<i>/      source i's own files: its first offset, or the files that it took; its connector reads them

Files in `commits` and `sources` have a version line, too, and then JSON. Sources are numbered in the order of the plan,
here and in the query's progress; a source that is used twice has one number. Spark keeps the last 100 of `offsets` and
`commits` (`spark.sql.streaming.minBatchesToRetain`).
Format: org.apache.spark.sql.execution.streaming.OffsetSeqLog and CommitLog, version 1.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from headwater_producers.spark.common.errors import CheckpointError
from headwater_producers.spark.connectors.registry import REGISTRY, first_answer
from headwater_producers.spark.jvm.files import TextFiles, TextFolder

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NO_OFFSET: Final = "-"
_MAX_SOURCES: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedBatch:
    """Planned micro-batch.

    Attributes:
        batch_id: Spark's id of the micro-batch.
        planned_at: time of planning, a moment after the trigger began; None with a continuous trigger.
        watermark: watermark of the micro-batch; None before any event time was seen.
        ends: end offset of each source, parsed from the source's own JSON; None if a source has no offset yet.
        settings: session settings that Spark keeps with a query.
    """

    batch_id: int
    planned_at: datetime | None
    watermark: datetime | None
    ends: tuple[Any, ...]
    settings: Mapping[str, str] = field(default_factory=dict)


class QueryLog:
    """Logs of one streaming query. Files are read on each request, listings once, on the first request."""

    def __init__(self, location: str, files: TextFiles) -> None:
        self.root = TextFolder(location.rstrip("/"), files)
        self._listed: dict[str, list[int]] = {}

    @property
    def location(self) -> str:
        """Path of the root."""
        return self.root.path

    def query_id(self) -> str:
        """Return Spark's id of the query.

        Raises:
            CheckpointError: the folder has no checkpoint of a streaming query.
        """
        text = self.root.read("metadata")
        if text is None:
            raise CheckpointError(f"{self.location} is no checkpoint of a streaming query: it has no file `metadata`")
        try:
            return str(json.loads(text)["id"])
        except (ValueError, KeyError, TypeError) as error:
            raise CheckpointError(f"{self.location}/metadata names no query") from error

    def committed(self) -> list[int]:
        """Return the ids of the committed micro-batches that the checkpoint still has, in order."""
        return self._numbers("commits")

    def planned(self) -> list[int]:
        """Return the ids of the retained planned micro-batches, in order; the last one may not be committed."""
        return self._numbers("offsets")

    def sources(self) -> int:
        """Return the number of sources with files in the checkpoint; some sources never write files there."""
        return len(self._numbers("sources"))

    def batch(self, batch_id: int) -> LoggedBatch:
        """Return one planned micro-batch.

        Raises:
            CheckpointError: the checkpoint doesn't have the micro-batch (any longer), or its file has an unknown form.
        """
        name = f"{self.location}/offsets/{batch_id}"
        text = self.root.read(f"offsets/{batch_id}")
        if text is None:
            raise CheckpointError(f"{name} isn't there any more")
        # `splitlines` would also split at separators that JSON may contain.
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
        """Return the nearest retained micro-batch planned before this one; None if there is none."""
        return max((number for number in self.planned() if number < batch_id), default=None)

    def _numbers(self, folder: str) -> list[int]:
        if folder not in self._listed:
            # The folder also has Hadoop's checksums and unfinished files: `.7.crc`, `.7.<uuid>.tmp`.
            names = self.root.names(folder)
            self._listed[folder] = sorted(int(name) for name in names if name.isascii() and name.isdigit())
        return self._listed[folder]


class StreamCheckpoint:
    """Checkpoint of one query.

    Args:
        location: path of its root, as Spark resolved it.
    """

    def __init__(self, location: str, files: TextFiles) -> None:
        self.root = TextFolder(location, files)

    @property
    def location(self) -> str:
        """Path of the root."""
        return self.root.path

    def watermark_after(self, batch_id: int) -> datetime | None:
        """Return the watermark that a committed micro-batch set; None if there is none, or no event time so far."""
        document = self.root.logged_json(f"commits/{batch_id}") or {}
        return _time(document.get("nextBatchWatermarkMs"))

    def topics(self, sources: int) -> dict[int, frozenset[str]]:
        """Return the topics of each source that has any, by its number.

        These are the topics at the query's start and in its last planned micro-batch, where these are logged.

        Args:
            sources: number of the query's sources; a source that is used twice counts once.
        """
        newest = self._newest()
        ends = newest.ends if newest is not None and len(newest.ends) == sources else (None,) * sources
        found = {}
        for index in range(min(sources, _MAX_SOURCES)):
            folder = self.root.folder(f"sources/{index}")
            topics = first_answer(each.subscribed(ends[index], folder) for each in REGISTRY)
            if topics is not None:
                found[index] = topics
        return found

    def setting(self, name: str) -> str | None:
        """Return a session setting that Spark has kept with a query since its first start; None if it isn't kept."""
        newest = self._newest()
        return newest.settings.get(name) if newest is not None else None

    def _newest(self) -> LoggedBatch | None:
        """Return the last planned micro-batch; None if there is none, or its form is unknown."""
        log = QueryLog(self.location, self.root.files)
        try:
            return log.batch(log.planned()[-1]) if log.planned() else None
        except CheckpointError:
            return None


def _offset(line: str) -> Any:
    """Parse an offset: None for `-`; JSON if it is valid, else the text."""
    if line == _NO_OFFSET:
        return None
    try:
        return json.loads(line)
    except json.JSONDecodeError:
        return line


def _time(millis: int | None) -> datetime | None:
    return _EPOCH + timedelta(milliseconds=millis) if millis else None
