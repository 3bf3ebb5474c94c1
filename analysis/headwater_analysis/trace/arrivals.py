"""Records of a topic by their arrival time in Kafka. Only Kafka has these times."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from headwater_schemas.events import DatasetRef


@dataclass(frozen=True, slots=True)
class ArrivedRange:
    """Records of one partition in a time range, by their timestamps.

    Attributes:
        partition: number of the partition.
        begins: first offset that Kafka still has.
        start: first offset with a timestamp in the range or later; without such a record, the partition's end offset.
        end: first offset with a timestamp at the range's end or later; without such a record, the partition's end
            offset.
    """

    partition: int
    begins: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ArrivedRecords:
    """Records of a topic in a time range, by their timestamps.

    Attributes:
        topic_id: Kafka's id of the topic's incarnation; None if the broker has no topic ids.
        by_broker: True: the broker sets the timestamps, when it appends records. False: the producer does.
    """

    ranges: tuple[ArrivedRange, ...]
    topic_id: str | None
    by_broker: bool


class Arrivals(Protocol):
    """Look-up in Kafka of the records of a topic that arrived in a time range."""

    def __call__(
        self, names: Sequence[DatasetRef], cluster_ids: Collection[str], start: datetime, end: datetime
    ) -> ArrivedRecords:
        """Return the records in `[start, end)`.

        Args:
            names: all names of the topic; the namespace is `kafka://` with its brokers or its cluster's name.
            cluster_ids: ids of the topic's cluster, as brokers reported them; empty if unknown.
            start: first timestamp, included.
            end: timestamp after `start`, excluded.

        Raises:
            ArrivalsUnknownError: the cluster that holds the topic isn't known here, or doesn't answer.
        """
