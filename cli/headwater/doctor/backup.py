"""Backup check: the graph can be rebuilt from the topic, or from the topic and its archive."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from headwater.doctor.finding import DoctorFinding, FindingSeverity, SubjectCheck
from headwater_consumers.archive import Archive
from headwater_consumers.kafka.offsets import PartitionOffsets


@dataclass(frozen=True, slots=True)
class SeenArchive:
    """Observed archive of the topic.

    Attributes:
        missing: number of offsets within the archive's ranges without a record.
        lost: number of offsets between the archive's end and the topic's current beginning, over all partitions.
        waiting: number of offsets that only the topic has.
    """

    location: str
    records: int
    missing: int
    lost: int
    waiting: int


def look(location: str, positions: Sequence[PartitionOffsets]) -> SeenArchive:
    """Compare an archive with the topic.

    Raises:
        ArchiveError: the archive doesn't exist or can't be read.
    """
    kept = {(each.partition.number, each.partition.topic_id): each for each in Archive(location).kept()}
    found = {each: kept.get((each.partition.number, each.partition.topic_id)) for each in positions}
    ends = {position: 0 if archived is None else archived.end for position, archived in found.items()}
    return SeenArchive(
        location,
        sum(each.records for each in kept.values()),
        sum(each.missing for each in kept.values()),
        sum(max(0, position.begin - end) for position, end in ends.items()),
        sum(max(0, position.end - max(position.begin, end)) for position, end in ends.items()),
    )


def judge(archive: SeenArchive | None, *, topic: str, begins: int, expires: bool) -> Iterator[DoctorFinding]:
    """Findings on the sources of a rebuild.

    Args:
        begins: number of expired records of the topic.
    """
    rebuild = SubjectCheck("backup", topic)
    if archive is None:
        if begins or expires:
            yield rebuild.finding(
                FindingSeverity.FAIL if begins else FindingSeverity.WARN,
                f"{begins:,} records have expired." if begins else "Records of the topic expire.",
                "Name the archive with --archive; `spark_jobs/lineage/archive.py` makes one (docs/materializer.md).",
            )
        else:
            yield rebuild.ok("All records are still on the topic: `headwater graph rebuild` needs no archive.")
    elif archive.lost:
        yield SubjectCheck("backup", archive.location).fail(
            f"{archive.lost:,} records expired on {topic} before they were archived.",
            "Run the archive job more often than records expire.",
        )
    elif archive.missing:
        yield SubjectCheck("backup", archive.location).risk(
            f"{archive.missing:,} offsets between its records are missing; markers of transactions count as missing.",
            "Read the logs of spark_jobs/lineage/archive.py.",
        )
    else:
        yield SubjectCheck("backup", archive.location).ok(
            f"{archive.records:,} records, without a gap to {topic}; {archive.waiting:,} wait there to be archived."
        )
    yield SubjectCheck("backup", "Neo4j").unknown(
        "This command can't see backups of the database; `headwater graph rebuild` makes the graph from the topic.",
        "Archive the topic (spark_jobs/lineage/archive.py); a dump of Neo4j only saves the time of rebuilding.",
    )
