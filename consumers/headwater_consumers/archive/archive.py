"""Reads the archive of the events topic: records in Parquet files by day, with one day in memory at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headwater_consumers.kafka.records import Partition, Record

if TYPE_CHECKING:
    import pyarrow.dataset

_COORDINATES = ["topic", "topic_id", "partition", "offset"]
_COLUMNS = [*_COORDINATES, "timestamp", "key", "value", "headers"]


class ArchiveError(Exception):
    """There is no archive at the location, or it can't be read."""


@dataclass(frozen=True, slots=True)
class Kept:
    """The offsets of one partition in an archive.

    Attributes:
        partition: a partition of one incarnation of the topic.
        begin: the first offset.
        end: the offset after the last one.
        records: number of offsets from `begin` to `end` that the archive has.
    """

    partition: Partition
    begin: int
    end: int
    records: int

    @property
    def missing(self) -> int:
        """Offsets from `begin` to `end` without a record; a transactional producer's markers count as missing."""
        return self.end - self.begin - self.records


class Archive:
    """An archive at a location that `pyarrow.dataset` can read: `/archive`, `s3://lineage/archive`.

    Args:
        location: path or URI of the archive.

    Raises:
        ArchiveError: there is no archive at the location.
    """

    def __init__(self, location: str) -> None:
        import pyarrow as pa
        import pyarrow.dataset as ds

        self._location = location
        by_day = ds.partitioning(pa.schema([("day", pa.string())]), flavor="hive")
        try:
            # Files and folders that begin with _ aren't read: Spark's logs and checkpoints.
            self._dataset: pyarrow.dataset.Dataset = ds.dataset(location, format="parquet", partitioning=by_day)
        except (OSError, pa.ArrowException) as error:
            raise ArchiveError(f"{location} can't be read: {error}") from error
        if missing := [name for name in (*_COLUMNS, "day") if name not in self._dataset.schema.names]:
            raise ArchiveError(f"{location} is no archive of events: there is no column {', '.join(missing)}.")

    def kept(self) -> list[Kept]:
        """The offsets in the archive, by partition.

        Raises:
            ArchiveError: it can't be read.
        """
        found = self._read(_COORDINATES).group_by(_COORDINATES[:3])
        table = found.aggregate([("offset", "min"), ("offset", "max"), ("offset", "count_distinct")])
        return sorted(
            (
                Kept(
                    Partition(row["topic"], row["partition"], row["topic_id"]),
                    row["offset_min"],
                    row["offset_max"] + 1,
                    row["offset_count_distinct"],
                )
                for row in table.to_pylist()
            ),
            key=lambda kept: kept.partition,
        )

    def records(self, *, key: bytes | None = None, since: str = "") -> Iterator[Record]:
        """Every record, day by day; within a day by partition and offset.

        Args:
            key: key of the records; None: any.
            since: without the days before this one, as ISO 8601 has it.

        Raises:
            ArchiveError: it can't be read.
        """
        import pyarrow.compute as pc

        days = sorted(day for day in set(self._read(["day"])["day"].to_pylist()) if day >= since)
        for day in days:
            only = pc.field("day") == day
            table = self._read(_COLUMNS, only=only if key is None else only & (pc.field("key") == key))
            for batch in table.sort_by([(name, "ascending") for name in _COORDINATES]).to_batches():
                yield from map(_record, batch.to_pylist())

    def _read(self, columns: list[str], only: Any = None) -> Any:
        import pyarrow as pa

        try:
            return self._dataset.to_table(columns=columns, filter=only)
        except (OSError, pa.ArrowException) as error:
            raise ArchiveError(f"{self._location} can't be read: {error}") from error


def _record(row: dict[str, Any]) -> Record:
    return Record(
        Partition(row["topic"], row["partition"], row["topic_id"]),
        row["offset"],
        row["value"],
        row["key"],
        tuple((header["key"], header["value"]) for header in row["headers"] or ()),
        round(row["timestamp"].timestamp() * 1_000),
    )
