"""Positions: parts of datasets that runs and micro-batches consume or produce.

A `Position` has exactly one of its fields set. It is a record of nullable fields, not an Avro union of records, because
an old reader skips a field it doesn't know but fails on an unknown union branch.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from headwater_schemas.events.common import DatasetRef, Natural, Natural32, Text, Time


class Certainty(StrEnum):
    """Certainty of a position.

    EXACT: reported or read from a manifest. INFERRED: follows from other facts (a new partition starts at its
    earliest offset). UPPER_BOUND: certainly contains the truth and may contain more. UNKNOWN: nothing is claimed.
    """

    UNKNOWN = "UNKNOWN"
    EXACT = "EXACT"
    INFERRED = "INFERRED"
    UPPER_BOUND = "UPPER_BOUND"


class OffsetRange(msgspec.Struct, frozen=True, order=True, gc=False, rename={"from_": "from"}):
    """The half-open range `[from_, to_exclusive)` of one Kafka partition; empty if both are equal."""

    partition: Natural32
    from_: Natural
    to_exclusive: Natural


class KafkaRanges(msgspec.Struct, frozen=True):
    """Offset ranges of one topic, ordered by partition, each partition at most once.

    Attributes:
        topic_id: Kafka's id of this incarnation of the topic, if known: a recreated topic has a new id, and its offsets
            begin again.
    """

    topic: Text
    ranges: tuple[OffsetRange, ...]
    topic_id: str | None = None


class TableSnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """One snapshot of a table, read or written: Iceberg's snapshot id, Delta's version.

    Attributes:
        format: `iceberg`, `delta`, …
        snapshot_id: id as the format writes it, in text.
        operation: name of the operation in the format, e.g. `append`, `overwrite`.
        partitions: touched partitions, as `key=value/…` paths; empty if unknown.
    """

    format: str
    snapshot_id: str
    parent_id: str | None = None
    operation: str | None = None
    partitions: tuple[str, ...] = ()


class TableRange(msgspec.Struct, frozen=True, kw_only=True, rename={"from_": "from"}):
    """The changes of a table stream after `from_` (None: the beginning) up to and including `to`.

    Both are versions as the format writes them. A bound within a version has a colon and the number of the version's
    files before the bound: the range from `3` to `5:2` has version 4 and the first two files of 5. Iceberg's bounds
    always have a colon.
    """

    format: str
    from_: str | None = None
    to: str


class FileSet(msgspec.Struct, frozen=True, kw_only=True):
    """A set of files.

    Attributes:
        bytes: total size of the files.
        manifest_digest: SHA-256, in hex, of the sorted paths, each followed by a newline.
        paths: all paths, or only the first in sorted order if `len(paths) < count`.
        pattern: a glob that matches exactly these files, if any; with it all files can be listed.
    """

    count: Natural
    bytes: int | None = None
    manifest_digest: str | None = None
    paths: tuple[str, ...] = ()
    pattern: str | None = None


class CdcPosition(msgspec.Struct, frozen=True, kw_only=True, rename={"from_": "from"}):
    """A range of a change-data-capture log (LSN, SCN, GTID set …) of `system`, as the system writes it."""

    system: str
    from_: str | None = None
    to: str


class ApiCursor(msgspec.Struct, frozen=True, kw_only=True, rename={"from_": "from"}):
    """A range of an API's pages by its own cursor."""

    from_: str | None = None
    to: str


class TimeRange(msgspec.Struct, frozen=True, kw_only=True, rename={"from_": "from"}):
    """A half-open range of event time."""

    from_: Time
    to_exclusive: Time


class OpaqueRange(msgspec.Struct, frozen=True, kw_only=True):
    """A source's offsets before and after, as verbatim JSON: their meaning is unknown."""

    from_json: str | None = None
    to_json: str | None = None


class Position(msgspec.Struct, frozen=True, kw_only=True):
    """Position in a dataset: exactly one field is set; later versions may add fields."""

    kafka: KafkaRanges | None = None
    table_snapshot: TableSnapshot | None = None
    table_range: TableRange | None = None
    files: FileSet | None = None
    cdc: CdcPosition | None = None
    api_cursor: ApiCursor | None = None
    time_range: TimeRange | None = None
    opaque: OpaqueRange | None = None


class DatasetUse(msgspec.Struct, frozen=True, kw_only=True):
    """Use of one dataset by a run or micro-batch that read or wrote it.

    Attributes:
        dataset: namespace and name.
        position: part of the dataset; None if it isn't known.
        certainty: certainty of `position`; UNKNOWN if `position` is None.
        rows, bytes, files: counts of the read or written data; None if unknown.
        facets: OpenLineage facets that have no field here, name to JSON text, verbatim.
        inputs: for an output: its source datasets. None: every input of the run or micro-batch is a source, or, with
            `possible`, may be one. The sources in several reports of one output add up.
        possible: for an output without `inputs`: True if each input is only a possible source, because the producer
            doesn't record sources. A report that lists `inputs` takes precedence.
        schema_digest: schema of the dataset when it was read or written: `identity.schema_digest` of the `schema` that
            its DatasetEvents report. None if unknown, or if the dataset has no schema.
    """

    dataset: DatasetRef
    position: Position | None = None
    certainty: Certainty = Certainty.UNKNOWN
    rows: int | None = None
    bytes: int | None = None
    files: int | None = None
    facets: dict[str, str] = {}
    inputs: tuple[DatasetRef, ...] | None = None
    possible: bool = False
    schema_digest: str | None = None
