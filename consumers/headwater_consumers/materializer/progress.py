"""Progress of the consumers in the events topic, stored in the graph for questions.

Readers of the graph may have no access to Kafka. So each consumer writes its progress in each of its partitions every
few seconds, as nodes `HwProgress`, which aren't part of the lineage graph. A node with an old time belongs to a stopped
consumer. `headwater_analysis.freshness` reads these nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from headwater_consumers.kafka.offsets import PartitionOffsets
from headwater_consumers.kafka.records import FetchedRecord, Partition


@dataclass(frozen=True, slots=True)
class PartitionProgress:
    """Progress of the consumer group in one partition.

    Attributes:
        next_offset: offset before which all records are in the graph, or are dead letters.
        end_offset: offset of the partition's next record, at the consumer's last fetch.
        last_record_ms: timestamp (ms since the epoch) of the last record before `next_offset`; None if this consumer
            has read none.
        group: the consumer group; empty if unknown.
    """

    partition: Partition
    next_offset: int
    end_offset: int
    last_record_ms: int | None = None
    group: str = ""

    def row(self) -> dict[str, Any]:
        """Parameters of the statement `progress`."""
        properties = {
            "topic": self.partition.topic,
            "partition": self.partition.number,
            "topic_id": self.partition.topic_id,
            "next_offset": self.next_offset,
            "end_offset": self.end_offset,
            "group": self.group,
        }
        if self.last_record_ms is not None:
            properties["last_record_ms"] = self.last_record_ms
        return {"key": f"{self.partition.topic}/{self.partition.number}", "properties": properties}


class ProgressTracker:
    """Timestamps of the last records that were applied or dead-lettered, by partition."""

    def __init__(self, group: str) -> None:
        self._group = group
        self._last_ms: dict[Partition, int] = {}

    def through(self, records: Iterable[FetchedRecord]) -> None:
        """Record the timestamps of a batch that is written and whose dead letters are acknowledged."""
        for record in records:
            if record.timestamp_ms is not None:
                self._last_ms[record.partition] = record.timestamp_ms

    def progress(
        self, standing: Iterable[PartitionOffsets], written: Mapping[Partition, int]
    ) -> list[PartitionProgress]:
        """Return the progress in each assigned partition.

        Args:
            written: offsets to commit; all earlier records are written.
        """
        return [
            PartitionProgress(
                each.partition,
                max(each.begin, each.committed or 0, written.get(each.partition, 0)),
                each.end,
                self._last_ms.get(each.partition),
                self._group,
            )
            for each in standing
        ]
