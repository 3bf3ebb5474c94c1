"""A streaming query's checkpoint: facts that the progress of a micro-batch doesn't have.

    sources/<i>/0     where source i began (Kafka: offsets; files: the first log batch)
    sources/<i>/offsets/0   the same of Iceberg: JSON alone
    commits/<n>       written when micro-batch n is committed; holds the watermark that it set

Each is a version line and then JSON. Kafka's first offsets have a zero byte in front, for the sake of old Sparks.
Sources are numbered in the order of the plan, each once, here as in the progress.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from headwater_producers.spark.connectors.files.log import source_files
from headwater_producers.spark.connectors.kafka.offsets import KafkaOffsets, kafka_offsets
from headwater_producers.spark.connectors.table_offsets import is_iceberg
from headwater_producers.spark.jvm.files import TextFiles

if TYPE_CHECKING:
    from headwater_producers.spark.streaming.progress import Progress, SourceProgress
    from headwater_schemas.events import FileSet

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MAX_SOURCES: Final = 64


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One query's checkpoint; `location` is its root, as Spark resolved it."""

    location: str
    files: TextFiles

    def watermark_after(self, batch_id: int) -> datetime | None:
        """The watermark that a committed micro-batch set; None where there is none, or no event time so far."""
        document = self._json(f"commits/{batch_id}")
        millis = document.get("nextBatchWatermarkMs") if isinstance(document, dict) else None
        return _EPOCH + timedelta(milliseconds=millis) if millis else None

    def topics(self, sources: int) -> dict[int, frozenset[str]]:
        """The topics of each Kafka source, when the query began and when it was planned last, as far as that is logged.

        Args:
            sources: how many the query has; one that it uses twice counts once.
        """
        ends = self._last_plan()[2:]
        found: dict[int, frozenset[str]] = {}
        for index in range(min(sources, _MAX_SOURCES)):
            offsets = [self._json(f"sources/{index}/0")]
            if len(ends) == sources and ends[index].startswith("{"):
                offsets.append(json.loads(ends[index]))
            if known := [topics for offset in offsets if (topics := kafka_offsets(offset)) is not None]:
                found[index] = frozenset(topic for topics in known for topic in topics)
        return found

    def setting(self, name: str) -> str | None:
        """One of the session's settings that Spark keeps with a query, from its first start on; None before that."""
        about = self._last_plan()[1:2]
        settings = json.loads(about[0]).get("conf", {}) if about and about[0].startswith("{") else {}
        return settings.get(name)

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
            if (up_to := _log_offset(source.end)) is not None and _is_file_source(source):
                folder = f"{self.location}/sources/{index}"
                files = source_files(self.files, folder, _log_offset(source.start), up_to)
                if files is not None:
                    taken[index] = files
        return taken

    def _last_plan(self) -> list[str]:
        """Lines of the newest `offsets/<n>`: version, metadata, the end of each source."""
        numbers = [int(name) for name in self.files.names(f"{self.location}/offsets") if name.isdecimal()]
        text = self.files.read(f"{self.location}/offsets/{max(numbers)}") if numbers else None
        return (text or "").split("\n")

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


def _log_offset(offset: object) -> int | None:
    return int(offset["logOffset"]) if isinstance(offset, dict) and "logOffset" in offset else None


def _is_file_source(source: SourceProgress) -> bool:
    return source.description.startswith("FileStreamSource")
