"""Evidence in an Iceberg table's metadata of a write whose driver ended without reporting the write's end.

A snapshot's summary has the id of the application that made the snapshot. The candidates are this application's
snapshots since the write began, without snapshots that other runs claim. A single candidate counts as the write's
snapshot, INFERRED: the snapshot names the application, not the write. Only snapshots on a branch or the main line
count: a staged snapshot isn't published.

Metadata are read as files if the files show which one is current, as in a Hadoop catalog: there
`metadata/v7.metadata.json` exists only once it is committed. Any other catalog has the pointer to the current file, and
a killed driver may have left a file that never became current. Therefore the catalog itself is asked for the current
metadata, through a Spark session that is configured with it.
Format: https://iceberg.apache.org/spec/, "Table Metadata" and "File System Tables".
"""

from __future__ import annotations

import json
import re
from typing import Any, Final, Protocol

from headwater_producers.spark.connectors.iceberg.snapshots import MARK
from headwater_producers.spark.events.left_writes import (
    LeftWrite,
    WriteFate,
    WriteOutcome,
    WriteTarget,
    nothing,
    unknown,
)
from headwater_producers.spark.events.writes import Counts
from headwater_producers.spark.jvm.files import TextFolder
from headwater_producers.spark.jvm.scala import instant
from headwater_schemas.events import Certainty, Position, TableSnapshot

_OF_HADOOP: Final = re.compile(r"v(\d+)(?:\.gz)?\.metadata\.json(?:\.gz)?")
_OF_CATALOG: Final = re.compile(r"\d+-.*\.metadata\.json")
_SKEW_MILLIS: Final = 600_000


class CurrentMetadata(Protocol):
    """Lookup of tables' current metadata in catalogs."""

    def of(self, target: WriteTarget) -> dict[str, Any] | None:
        """Return a table's metadata; None if no catalog has the table."""


def left_in_iceberg(table: TextFolder, write: LeftWrite, current: CurrentMetadata | None) -> WriteOutcome:
    """Determine the outcome of a write by the table's metadata.

    Args:
        write: the write whose driver is gone.
        current: lookup in a session's catalogs; None without a session.

    Raises:
        OSError, ValueError, Py4JError: the metadata can't be read.
    """
    names = table.names("metadata")
    versions = {int(found[1]): name for name in names if (found := _OF_HADOOP.fullmatch(name))}
    is_of_catalog = any(map(_OF_CATALOG.fullmatch, names))
    if versions and not is_of_catalog:
        newest = versions[max(versions)]
        if ".gz" in newest:
            return unknown(f"the table's current metadata file, {newest}, is compressed")
        return left_in_metadata(json.loads(table.read(f"metadata/{newest}") or "{}"), write)
    # A catalog may keep metadata elsewhere, too.
    metadata = current.of(write.targets[0]) if current is not None else None
    if metadata is not None:
        return left_in_metadata(metadata, write)
    if is_of_catalog:
        asked = ", and no catalog of the session has the table" if current is not None else ""
        return unknown(f"only the table's catalog knows which of its metadata files is current{asked}")
    return nothing("the table that the write was to change doesn't exist")


def left_in_metadata(metadata: dict[str, Any], write: LeftWrite) -> WriteOutcome:
    """Determine the outcome of a write by a table's current metadata."""
    snapshots = {int(each["snapshot-id"]): each for each in metadata.get("snapshots", ())}
    begin = int(write.started_at.timestamp() * 1000)
    published, reaches_back = _published(metadata, snapshots, begin - _SKEW_MILLIS)
    mine = [
        each
        for each in published
        if int(each["timestamp-ms"]) >= begin
        and each["summary"].get("spark.app.id") == write.application
        and each["summary"].get(MARK) in (None, write.app_run)
        and str(each["snapshot-id"]) not in write.claimed
    ]
    if len(mine) > 1:
        return unknown(f"{len(mine)} snapshots of the table since the write's start may be the write's")
    if not mine:
        if not reaches_back:
            return unknown("snapshots of the table since the write's start have expired")
        return nothing("the table has no snapshot of the write")
    [snapshot] = mine
    return WriteOutcome(
        verdict=WriteFate.COMMITTED,
        at=instant(int(snapshot["timestamp-ms"])),
        position=_position(snapshot),
        certainty=Certainty.INFERRED,
        counts=_counts(snapshot["summary"]),
    )


def _published(
    metadata: dict[str, Any], snapshots: dict[int, dict[str, Any]], since: int
) -> tuple[list[dict[str, Any]], bool]:
    """Return the snapshots of the branches since a time, and True if none of these snapshots has expired."""
    heads = {int(ref["snapshot-id"]) for ref in metadata.get("refs", {}).values() if ref.get("type") == "branch"}
    if (current := metadata.get("current-snapshot-id")) not in (None, -1):
        heads.add(int(current))
    found: dict[int, dict[str, Any]] = {}
    reaches_back = True
    for head in heads:
        number: int | None = head
        while number is not None and number not in found:
            snapshot = snapshots.get(number)
            if snapshot is None:
                reaches_back = False
                break
            if int(snapshot["timestamp-ms"]) < since:
                break
            found[number] = snapshot
            parent = snapshot.get("parent-snapshot-id")
            number = None if parent is None else int(parent)
    return list(found.values()), reaches_back


def _position(snapshot: dict[str, Any]) -> Position:
    parent = snapshot.get("parent-snapshot-id")
    return Position(
        table_snapshot=TableSnapshot(
            format="iceberg",
            snapshot_id=str(snapshot["snapshot-id"]),
            parent_id=None if parent is None else str(parent),
            operation=snapshot["summary"].get("operation"),
        )
    )


def _counts(summary: dict[str, str]) -> Counts:
    number = {name: int(summary[name]) for name in summary if name.startswith("added-") and summary[name].isdecimal()}
    return Counts(
        rows=number.get("added-records"), bytes=number.get("added-files-size"), files=number.get("added-data-files")
    )
