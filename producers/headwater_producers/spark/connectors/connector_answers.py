"""Further answers of connectors, in addition to `Leaf` and `WrittenOutputs`: scans, offset ranges, commits, tables."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, Protocol

from headwater_producers.spark.connectors.context import SessionContext
from headwater_producers.spark.events.writes import Counts, PartitionsRead
from headwater_producers.spark.jvm.scala import class_name, option
from headwater_producers.spark.plan.column import DataType
from headwater_producers.spark.plan.partition import Partition
from headwater_schemas.events import Certainty, OpaqueRange, Position, Storage
from headwater_schemas.facets import AddedFiles


@dataclass(frozen=True, slots=True, kw_only=True)
class Scanned:
    """Positions and partitions that a scan has read.

    Attributes:
        positions: position by dataset name; empty if unknown.
        chosen: partitions that were read, if not all; None if unknown.
    """

    positions: Mapping[str, Position] = field(default_factory=dict)
    names: frozenset[str] = frozenset()
    chosen: PartitionsRead | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeRead:
    """Range of one dataset of a source that a micro-batch read.

    Attributes:
        position: the range; None if unknown.
        dataset: name of the dataset, if the source has several datasets; None: the range covers the whole source.
        most_rows: maximum number of rows in the range; None if the offsets don't bound it.
    """

    position: Position | None
    certainty: Certainty
    dataset: str | None = None
    most_rows: int | None = None

    @classmethod
    def opaque(cls, start: Any, end: Any) -> RangeRead:
        """Return a range of offsets of unknown meaning, as opaque JSON."""
        if end is None:
            return cls(position=None, certainty=Certainty.UNKNOWN)
        position = Position(opaque=OpaqueRange(from_json=_json(start), to_json=_json(end)))
        return cls(position=position, certainty=Certainty.EXACT)


def _json(offset: Any) -> str | None:
    return None if offset is None else json.dumps(offset, sort_keys=True, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class CommittedVersion:
    """Version that a write has committed, its certainty, and the table's counts.

    Attributes:
        position: position of the (last) version; None if there are several candidates.
        counts: counts of all versions together.
        read: position of the input, if the command reads the table itself, or its files.
        partitions: partitions of the written files; empty if there are none, or too many to list.
        keeps: True if the table still has files of other writes; None if unknown.
        added: the files that the version in `position` added, by URI or by path within the table; None if unknown.
    """

    position: Position | None
    certainty: Certainty
    counts: Counts
    read: Position | None = None
    keeps: bool | None = None
    partitions: tuple[Partition, ...] = ()
    added: AddedFiles | None = None


class BatchLog(Protocol):
    """Log of a table with versions, after one batch command.

    Attributes:
        is_counted: True if the counters of Spark's plan count the rows that the command wrote.
        nothing: counts to report for a command that made no commit; None: the counts of Spark's plan.
    """

    is_counted: bool
    nothing: Counts | None

    def schema(self) -> DataType:
        """Return the table's newest schema, as Spark's JSON."""

    def committed(self, columns: Collection[str]) -> CommittedVersion | None:
        """Return the version that the command has committed; None if there is none, or the version is unknown.

        Args:
            columns: names of the table's columns; partitions by other names aren't reported.
        """


@dataclass(frozen=True, slots=True)
class SinkCommit:
    """Commit of a micro-batch in its sink, with the sink's counts.

    Attributes:
        counts: rows, bytes and files written.
        at: time of the last write, by the sink's clock; None if the log doesn't record it.
        added: files that the table version added, as in `CommittedVersion`; None if unknown.
    """

    position: Position
    counts: Counts
    at: datetime | None = None
    added: AddedFiles | None = None


class StreamLog(Protocol):
    """Log of a streaming query's sink."""

    def written(self, query_id: str, batch_id: int) -> SinkCommit | None:
        """Return the commit of a micro-batch; None if the log doesn't have it (any longer)."""


@dataclass(frozen=True)
class V1Table:
    """JVM `CatalogTable`, described for any provider."""

    table: Any
    provider: str | None

    def comment(self) -> str | None:
        """Return the table's comment."""
        found = option(self.table.comment())
        return str(found) if found is not None else None

    def storage(self) -> Storage | None:
        """Return the storage of the table's rows; None if the catalog doesn't record it."""
        return Storage("file", self.provider) if self.provider is not None else None

    def schema(self, _context: SessionContext) -> Any:
        """Return the table's JVM `StructType`."""
        return self.table.schema()

    def was_there(self, _context: SessionContext, is_since_start: Callable[[int], bool]) -> bool:
        """Return True if the table existed before a command that names it was planned.

        Args:
            is_since_start: True for a time in milliseconds at or after the command's planning.
        """
        return not is_since_start(int(self.table.createTime()))


@dataclass(frozen=True)
class V2Table:
    """JVM V2 `Table`, described for any format."""

    table: Any

    @cached_property
    def location(self) -> str | None:
        """Location of the table's data."""
        location = self._properties.get("location")
        return str(location) if location else None

    @cached_property
    def provider(self) -> str | None:
        """Name of the table's format in its catalog: `iceberg`, `delta`, `parquet`."""
        provider = self._properties.get("provider")
        return str(provider) if provider else None

    @cached_property
    def _properties(self) -> Any:
        return self.table.properties()

    def comment(self) -> str | None:
        """Return the table's comment."""
        comment = self._properties.get("comment")
        return str(comment) if comment else None

    def storage(self) -> Storage | None:
        """Return the storage of the table's rows."""
        return Storage(self.provider) if self.provider else None

    def own_name(self, name: str) -> str:
        """Return the table's own name within an identifier that may select a branch or snapshot."""
        return name

    def is_path(self, _name: str) -> bool:
        """Return True if the table is identified only by its path."""
        return False

    def branch(self) -> str | None:
        """Return the selected branch; None: the main branch."""
        return None

    def schema(self) -> DataType:
        """Return the schema as Spark's schema JSON.

        V1 wrappers and old catalogs only have `schema()`, which is deprecated.
        """
        return json.loads(str(self.table.schema().json()))

    def was_made(self, is_since_start: Callable[[int], bool]) -> bool:
        """Return True if the command that just ran created the table; also True if unknown.

        Args:
            is_since_start: True for a time in milliseconds at or after the command's planning.
        """
        # Spark's wrapper around a table of its own catalog.
        is_v1 = class_name(self.table) == "V1Table"
        return is_since_start(int(self.table.v1Table().createTime())) if is_v1 else True

    def is_first_version(self) -> bool:
        """Return True if a REPLACE has replaced no earlier table; also True if unknown."""
        return True
