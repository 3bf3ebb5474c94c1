"""What connectors answer beside a `Leaf` and `Written`: what was scanned, read and committed, and how tables are."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, Protocol

from headwater_producers.spark.connectors.context import Context
from headwater_producers.spark.events.writes import Counts, PartitionsRead
from headwater_producers.spark.jvm.scala import class_name, option
from headwater_producers.spark.plan.column import DataType
from headwater_producers.spark.plan.partition import Partition
from headwater_schemas.events import Certainty, FileSet, Position, Storage
from headwater_schemas.facets import AddedFiles


@dataclass(frozen=True, slots=True, kw_only=True)
class Scanned:
    """What a scan has read.

    Attributes:
        positions: by the names of their datasets; empty where they aren't known.
        names: more that the dataset may be called.
        chosen: partitions that it read alone; None where that isn't known.
    """

    positions: Mapping[str, Position] = field(default_factory=dict)
    names: frozenset[str] = frozenset()
    chosen: PartitionsRead | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedSource:
    """What a checkpoint has of a micro-batch of a streaming source, in the source's own folder.

    Attributes:
        first: the offset at which the source began, as its own JSON, parsed; None: it isn't logged, or isn't needed.
        files: of a source of files, those of the micro-batch.
    """

    first: Any = None
    files: FileSet | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeRead:
    """What a micro-batch read of one dataset of a source.

    Attributes:
        position: the range; None where it isn't known.
        certainty: of `position`.
        dataset: its name, where the source has several; None: the range is of the source as a whole.
        most_rows: how many rows it has at the most; None where the offsets don't bound them.
    """

    position: Position | None
    certainty: Certainty
    dataset: str | None = None
    most_rows: int | None = None


@dataclass(frozen=True, slots=True)
class Committed:
    """A version that a write has made, how sure that is, and what the table counted of it.

    Attributes:
        position: of several, the last; None: there are some, and which is the write's isn't known.
        certainty: of `position`.
        counts: of all of them.
        read: what it was made from, where the command's input is the table itself, or its files.
        partitions: of files, those that they are in; empty where there are none, or too many to list.
        keeps: whether the table still has files that this write didn't make; None where that isn't known.
        added: the files that the version in `position` added, by whole paths or within the table; None where that
            isn't known.
    """

    position: Position | None
    certainty: Certainty
    counts: Counts
    read: Position | None = None
    keeps: bool | None = None
    partitions: tuple[Partition, ...] = ()
    added: AddedFiles | None = None


class BatchLog(Protocol):
    """The log of a table with versions, as one batch command has left it.

    Attributes:
        is_counted: whether the counters of Spark's plan are the command's.
        nothing: what the command counted where it has left no commit; None: as Spark has counted.
    """

    is_counted: bool
    nothing: Counts | None

    def schema(self) -> DataType:
        """The table's newest schema, as Spark's JSON."""

    def committed(self, columns: Collection[str]) -> Committed | None:
        """The version that the command has made; None where it made none, or that isn't known.

        Args:
            columns: names of the table's columns; partitions by others aren't reported.
        """


@dataclass(frozen=True, slots=True)
class SinkCommit:
    """What a micro-batch has written, and what the sink counted of it.

    Attributes:
        position: what was written.
        counts: of it.
        at: when the last of it was written, by the sink's clock, where the log has that.
        added: of a table's version, the files that it added, as in `Committed`; None where that isn't known.
    """

    position: Position
    counts: Counts
    at: datetime | None = None
    added: AddedFiles | None = None


class StreamLog(Protocol):
    """The log of a streaming query's sink."""

    def written(self, query_id: str, batch_id: int) -> SinkCommit | None:
        """What a committed micro-batch has written; None where the log doesn't have it (any more)."""


@dataclass(frozen=True)
class V1Table:
    """A JVM `CatalogTable`, and what holds for one of any provider."""

    table: Any
    provider: str | None

    def comment(self) -> str | None:
        """Its comment, for people."""
        found = option(self.table.comment())
        return str(found) if found is not None else None

    def storage(self) -> Storage | None:
        """How it stores its rows; None where the catalog doesn't record it."""
        return Storage("file", self.provider) if self.provider is not None else None

    def schema(self, _context: Context) -> Any:
        """Its JVM `StructType`."""
        return self.table.schema()

    def was_there(self, _context: Context, is_since_start: Callable[[int], bool]) -> bool:
        """Whether it was there before a command that names it was planned.

        Args:
            is_since_start: whether a time in milliseconds is after that.
        """
        return not is_since_start(int(self.table.createTime()))


@dataclass(frozen=True)
class V2Table:
    """A JVM V2 `Table`, and what holds for one of any format."""

    table: Any

    @cached_property
    def location(self) -> str | None:
        """Where its data is."""
        location = self._properties.get("location")
        return str(location) if location else None

    @cached_property
    def provider(self) -> str | None:
        """What its catalog calls its format: `iceberg`, `delta`, `parquet`."""
        provider = self._properties.get("provider")
        return str(provider) if provider else None

    @cached_property
    def _properties(self) -> Any:
        return self.table.properties()

    def comment(self) -> str | None:
        """Its comment, for people."""
        comment = self._properties.get("comment")
        return str(comment) if comment else None

    def storage(self) -> Storage | None:
        """How it stores its rows."""
        return Storage(self.provider) if self.provider else None

    def own_name(self, name: str) -> str:
        """The table's name, of an identifier that may select a part of it."""
        return name

    def is_path(self, _name: str) -> bool:
        """Whether it is named by its path alone."""
        return False

    def branch(self) -> str | None:
        """The branch that it is."""
        return None

    def schema(self) -> DataType:
        """As Spark's schema JSON. V1 wrappers and old catalogs only have `schema()`, which is deprecated."""
        return json.loads(str(self.table.schema().json()))

    def was_made(self, is_since_start: Callable[[int], bool]) -> bool:
        """Whether the command made it that ran just now; True also where that isn't known.

        Args:
            is_since_start: whether a time in milliseconds is after the command was planned.
        """
        # Spark's wrapper of a table of its own catalog.
        is_v1 = class_name(self.table) == "V1Table"
        return is_since_start(int(self.table.v1Table().createTime())) if is_v1 else True

    def is_first_version(self) -> bool:
        """Whether nothing was there that a REPLACE has replaced; True also where that isn't known."""
        return True
