"""Records of a topic by the time when they arrived in Kafka, which Kafka alone knows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from headwater_schemas.events import DatasetRef


@dataclass(frozen=True, slots=True)
class ArrivedRange:
    """Records of one partition by their timestamps.

    Attributes:
        partition: its number.
        begins: the first offset that Kafka still has.
        start: the first record at the start of the time or later; the end of the partition where there is none.
        end: the same of the end of the time.
    """

    partition: int
    begins: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ArrivedRecords:
    """Records of a topic by their timestamps.

    Attributes:
        ranges: of each partition.
        topic_id: the topic's incarnation, by Kafka's id; None where the broker has none.
        by_broker: whether timestamps are when the broker appended a record, and not what its producer set.
    """

    ranges: tuple[ArrivedRange, ...]
    topic_id: str | None
    by_broker: bool


class Arrivals(Protocol):
    """Asks Kafka which records of a topic arrived in a time."""

    def __call__(
        self, names: Sequence[DatasetRef], cluster_ids: Collection[str], start: datetime, end: datetime
    ) -> ArrivedRecords:
        """The records from `start` up to, and without, `end`.

        Args:
            names: all names of the topic, `kafka://` and its brokers or its cluster's name.
            cluster_ids: ids that brokers have reported of its cluster; none where that isn't known.
            start: a time.
            end: a later one.

        Raises:
            ArrivalsUnknownError: the cluster that holds the topic isn't known here, or doesn't answer.
        """
