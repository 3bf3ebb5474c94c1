"""Archive of the events topic: Parquet files by day, which the job `spark_jobs/lineage/archive.py` writes.

`Archive` reads the records, with one day in memory at a time. `ArchiveSource` gives the records to the materializer.
`archived_micro_batches` finds single micro-batches of a query.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

from headwater_consumers.kafka.offsets import PartitionOffsets
from headwater_consumers.kafka.records import FetchedRecord, Partition
from headwater_consumers.kafka.source import Polled, SourceListener
from headwater_graph.facts.nodes import IntervalFacts
from headwater_graph.fold import fold, reject_decoded
from headwater_schemas.codec import Decoder
from headwater_schemas.errors import DecodeError
from headwater_schemas.events import JobRef, LineageEvent
from headwater_schemas.identity import job_record_key

if TYPE_CHECKING:
    import pyarrow.dataset

_COORDINATES = ["topic", "topic_id", "partition", "offset"]
_COLUMNS = [*_COORDINATES, "timestamp", "key", "value", "headers"]


class ArchiveError(Exception):
    """The archive at a location is missing or unreadable."""


@dataclass(frozen=True, slots=True)
class ArchivedOffsets:
    """The offsets of one partition in an archive.

    Attributes:
        partition: partition, with the id of its topic: a recreated topic has another id.
        records: number of offsets from `begin` to `end` that the archive has.
    """

    partition: Partition
    begin: int
    end: int
    records: int

    @property
    def missing(self) -> int:
        """Number of offsets from `begin` to `end` without a record; markers of transactions count as missing, too."""
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
            # `pyarrow` ignores files and folders that begin with _: Spark's logs and checkpoints.
            self._dataset: pyarrow.dataset.Dataset = ds.dataset(location, format="parquet", partitioning=by_day)
        except (OSError, pa.ArrowException) as error:
            raise ArchiveError(f"{location} can't be read: {error}") from error
        if missing := [name for name in (*_COLUMNS, "day") if name not in self._dataset.schema.names]:
            raise ArchiveError(f"{location} is no archive of events: there is no column {', '.join(missing)}.")

    def kept(self) -> list[ArchivedOffsets]:
        """List the offsets in the archive, by partition.

        Raises:
            ArchiveError: the archive can't be read.
        """
        found = self._read(_COORDINATES).group_by(_COORDINATES[:3])
        table = found.aggregate([("offset", "min"), ("offset", "max"), ("offset", "count_distinct")])
        return sorted(
            (
                ArchivedOffsets(
                    Partition(row["topic"], row["partition"], row["topic_id"]),
                    row["offset_min"],
                    row["offset_max"] + 1,
                    row["offset_count_distinct"],
                )
                for row in table.to_pylist()
            ),
            key=lambda kept: kept.partition,
        )

    def records(self, *, key: bytes | None = None, since: str = "") -> Iterator[FetchedRecord]:
        """Yield every record, day by day; within a day by partition and offset.

        Args:
            key: key of the records; None: any.
            since: first day to read (ISO 8601).

        Raises:
            ArchiveError: the archive can't be read.
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


def _record(row: dict[str, Any]) -> FetchedRecord:
    return FetchedRecord(
        Partition(row["topic"], row["partition"], row["topic_id"]),
        row["offset"],
        row["value"],
        row["key"],
        tuple((header["key"], header["value"]) for header in row["headers"] or ()),
        round(row["timestamp"].timestamp() * 1_000),
    )


class ArchiveSource:
    """A `kafka.source.RecordSource` of all records in an archive, with all partitions assigned to its only member.

    Attributes:
        kept: archived offsets.
    """

    reachable = True

    def __init__(self, archive: Archive) -> None:
        self.kept: list[ArchivedOffsets] = archive.kept()
        self._records: Iterator[FetchedRecord] = archive.records()
        self._committed: dict[Partition, int] = {}
        self._listener: SourceListener | None = None
        self._assigned = self._paused = self._commit_requested = False

    def subscribe(self, listener: SourceListener) -> None:
        """Store the listener. The first poll assigns all partitions."""
        self._listener = listener

    def poll(self, *, max_records: int, max_bytes: int, timeout_seconds: float) -> Polled:
        """Return the next records; empty once all have been read.

        Raises:
            ArchiveError: the archive can't be read.
        """
        if self._listener is not None and not self._assigned:
            self._assigned = True
            self._listener.assigned(frozenset(kept.partition for kept in self.kept))
        if self._listener is not None and self._commit_requested:
            self._commit_requested = False
            self._listener.committed(None)
        records: list[FetchedRecord] = []
        size = 0
        for record in () if self._paused else islice(self._records, max_records):
            records.append(record)
            size += record.size
            if size >= max_bytes:
                break
        if not records:
            time.sleep(timeout_seconds)  # like a poll of Kafka without records
        return Polled(tuple(records))

    def commit(self, offsets: Mapping[Partition, int]) -> None:
        """Remember the offsets; the next poll calls the listener."""
        self.commit_now(offsets)
        self._commit_requested = True

    def commit_now(self, offsets: Mapping[Partition, int]) -> None:
        """Remember the offsets."""
        # Records are read day by day, so offsets of records published around midnight may be out of order.
        for partition, offset in offsets.items():
            self._committed[partition] = max(offset, self._committed.get(partition, 0))

    def pause(self) -> None:
        """Pause: polls return no records."""
        self._paused = True

    def resume(self) -> None:
        """Resume: polls return records again."""
        self._paused = False

    def positions(self) -> list[PartitionOffsets]:
        """Return the archived offsets of each partition, with the committed offset."""
        return [
            PartitionOffsets(kept.partition, kept.begin, kept.end, self._committed.get(kept.partition))
            for kept in self.kept
        ]

    def standing(self) -> list[PartitionOffsets]:
        """Return `positions`, because all partitions are assigned."""
        return self.positions()

    def close(self) -> None:
        """Close the source: all partitions are revoked."""
        if self._listener is not None and self._assigned:
            self._listener.revoked(frozenset(kept.partition for kept in self.kept))


def archived_micro_batches(
    archive: Archive,
    decoder: Decoder,
    *,
    tenant: str,
    job: JobRef,
    query_id: str,
    batches: range,
    count: int,
    since: str,
) -> Sequence[IntervalFacts]:
    """Build micro-batches from their events in the archive, by batch id.

    Days are read from `since` to the day on which the last wanted micro-batch is found. Repeated reports on later days
    are ignored.

    Args:
        decoder: decoder with the schemas of the archive's records.
        job: job of the query; all events of the job have the same record key.
        query_id: Spark's id of the query.
        batches: ids of the wanted micro-batches.
        count: number of micro-batches to find.
        since: first day to read (ISO 8601); no wanted micro-batch was published earlier.

    Raises:
        ArchiveError: the archive can't be read.
        TransientError: a schema can't be looked up now.
    """
    events: list[LineageEvent] = []
    seen: set[int] = set()
    until: str | None = None
    for record in archive.records(key=job_record_key(tenant, job), since=since):
        day = _day(record.timestamp_ms)
        if until is not None and day > until:
            break
        try:
            event = decoder.decode(record.value)
        except DecodeError:
            continue
        body = event.interval_event
        if body is None or body.query_id != query_id or reject_decoded(event) is not None:
            continue
        if found := {entry.batch_id for entry in body.entries}.intersection(batches):
            events.append(event)
            seen |= found
            if len(seen) == count:
                until = day
    intervals = fold(events).intervals.values()
    return sorted((each for each in intervals if each.batch_id in batches), key=lambda each: each.batch_id)


def _day(timestamp_ms: int | None) -> str:
    return datetime.fromtimestamp((timestamp_ms or 0) / 1_000, UTC).date().isoformat()
