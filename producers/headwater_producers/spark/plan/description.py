"""Plan description: frozen value that capture reads from a Spark plan, the base of its events.

A description is made once per distinct plan by `describe` (a batch query) or `describe_streaming` (a started streaming
query), away from the query's own thread. It holds no py4j object, so it may be kept and passed between threads.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from headwater_producers.spark.plan.column import DataType
from headwater_producers.spark.plan.names import PlanNames
from headwater_producers.spark.plan.partition import Partition, PartitionChange
from headwater_producers.spark.plan.relation import Relation
from headwater_schemas.events import (
    Certainty,
    ColumnLineage,
    DatasetRef,
    LifecycleChange,
    Position,
    SchemaDefinition,
    Storage,
    Symlink,
)
from headwater_schemas.facets import ColumnChanges


class SourceKind(StrEnum):
    """Kind of source or sink of a plan; it decides how a position is read from progress or plan."""

    KAFKA = "KAFKA"
    FILE = "FILE"
    TABLE = "TABLE"
    JDBC = "JDBC"
    MEMORY = "MEMORY"
    """Rows that the program handed over or wrote as VALUES, named by their temporary view. Rows without a view are no
    dataset, and have no `PlanInput`."""
    PYTHON = "PYTHON"
    """A Python data source."""
    RDD = "RDD"
    """An RDD of unknown origin, or a foreachBatch frame without an `upstream`."""
    GENERATED = "GENERATED"
    """Spark's own test sources and sinks: rate, socket, console, memory, noop."""
    CALLBACK = "CALLBACK"
    """A sink that hands each micro-batch or row to code: foreachBatch, foreach."""
    UNKNOWN = "UNKNOWN"


class WriteMode(StrEnum):
    """Write mode: the fate of the rows that existed before."""

    APPEND = "APPEND"
    OVERWRITE = "OVERWRITE"
    OVERWRITE_PARTITIONS = "OVERWRITE_PARTITIONS"
    CREATE = "CREATE"
    REPLACE = "REPLACE"
    UPDATE = "UPDATE"
    COMPLETE = "COMPLETE"
    ERROR_IF_EXISTS = "ERROR_IF_EXISTS"
    IGNORE = "IGNORE"
    UNKNOWN = "UNKNOWN"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanInput:
    """Dataset that a plan reads; one for each dataset and streaming source.

    Attributes:
        type: OpenLineage's dataset type: TOPIC, FILE, TABLE, VIEW, STREAM.
        schema: the fields as this reader sees them. A reader's view of a topic's payload isn't authoritative: a known
            writer's schema should win.
        position: range that a *batch* plan reads, if the plan has it: file set, snapshot, Kafka offsets.
        source_index: index into `StreamingQueryProgress.sources` of the source that this dataset belongs to, in a
            streaming plan; several datasets may share one (`subscribe` to two topics).
        source_description: that source's `description` in the progress; None if unknown.
        bootstrap_servers: Kafka's servers, for naming further topics of a subscribed pattern.
        topic_pattern: Kafka's subscribed pattern: the progress may name topics that weren't there yet.
        from_beginning: True if a streamed table without a log of its first offset is read from its beginning.
    """

    dataset: DatasetRef
    kind: SourceKind
    type: str | None = None
    schema: SchemaDefinition | None = None
    storage: Storage | None = None
    symlinks: tuple[Symlink, ...] = ()
    position: Position | None = None
    certainty: Certainty | None = None
    source_index: int | None = None
    source_description: str | None = None
    bootstrap_servers: str | None = None
    topic_pattern: str | None = None
    from_beginning: bool = False
    connection: tuple[tuple[str, str], ...] = field(default=(), repr=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanOutput:
    """Dataset that a plan writes.

    Attributes:
        schema: the written fields, including those of a topic's payload (`value.carrier`) if they are known.
        mode: fate of the rows that existed before.
        format: `parquet`, `kafka`, `iceberg`, …
        partition: single partition that gets all rows, as far as the statement names it: values of some or all of the
            partition columns. None is a value, too: Spark's `__HIVE_DEFAULT_PARTITION__`.
        overwritten: partition that an overwrite empties first; `()`: every partition that gets rows; None: only some
            rows are replaced, or the partition is unknown.
        branch: branch of an Iceberg table that got the rows; None for the main branch.
        lifecycle: CREATE, OVERWRITE …, if the command implies it.
        connection: connection options `kafka.…` of a Kafka source or sink, without that prefix. They may hold
            credentials: they are never shown, and never leave the driver.
    """

    dataset: DatasetRef
    kind: SourceKind
    type: str | None = None
    schema: SchemaDefinition | None = None
    mode: WriteMode = WriteMode.UNKNOWN
    format: str | None = None
    partition_columns: tuple[str, ...] = ()
    partition: Partition = ()
    overwritten: Partition | None = None
    branch: str | None = None
    storage: Storage | None = None
    symlinks: tuple[Symlink, ...] = ()
    lifecycle: LifecycleChange | None = None
    connection: tuple[tuple[str, str], ...] = field(default=(), repr=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class DdlChange:
    """DDL change of one dataset.

    Attributes:
        type, schema, storage, symlinks, description: for a DatasetEvent, values after the change.
        lifecycle: CREATE, DROP, RENAME, ALTER, TRUNCATE.
        previous: for RENAME, the previous dataset; for ALTER, the name of a moved table in the catalog, which becomes a
            RENAME if its former location is known.
        partitions: changed partitions; None: the whole table.
        by_name, previous_by_name: `dataset` or `previous` is the catalog's name, which no longer shows the location:
            the table last seen under this name is meant.
        if_exists: True if perhaps no dataset of that name existed, and nothing happened.
    """

    dataset: DatasetRef
    lifecycle: LifecycleChange
    type: str | None = None
    schema: SchemaDefinition | None = None
    storage: Storage | None = None
    symlinks: tuple[Symlink, ...] = ()
    description: str | None = None
    previous: DatasetRef | None = None
    partitions: PartitionChange | None = None
    columns: ColumnChanges | None = None
    by_name: bool = False
    previous_by_name: bool = False
    if_exists: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamingLink:
    """Link from a plan to its streaming query.

    Attributes:
        query_id, batch_id: set if the plan itself names them (`WriteToMicroBatchDataSource`).
        sink: class or short name of the sink: `ForeachBatchSink`, `FileStreamSink`, `kafka`.
        sink_kind: CALLBACK: the writes happen in the user's function, and reach capture as batch queries of their own.
        source_descriptions: `description` of each of `StreamingQueryProgress.sources`, in order, where known.
        pattern_sources: indices of the sources that subscribe to a pattern of topics. Before the first progress their
            topics and inputs are unknown; each new topic adds an input.
    """

    query_id: str | None = None
    batch_id: int | None = None
    sink: str | None = None
    sink_kind: SourceKind = SourceKind.UNKNOWN
    source_descriptions: tuple[str, ...] = ()
    pattern_sources: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Upstream:
    """Lineage of a plan's output rows, for a later plan that starts from them.

    A foreachBatch frame is a `LogicalRDD` whose attributes keep the expression ids of the streaming plan's output: give
    the streaming plan's `PlanDescription.upstream` to `describe` of the writes inside. Opaque to callers.

    Attributes:
        relation: columns by expression id, influences and datasets of the plan's output.
        inputs: datasets behind the frame, which become inputs of the inner write.
        problems: parts that weren't understood, which are missing in the later plan too.
    """

    relation: Relation
    inputs: tuple[PlanInput, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanDescription:
    """Description of a plan: inputs, outputs, lineage, DDL changes.

    Attributes:
        inputs: datasets read, in the order of the plan, each dataset (and streaming source) once.
        outputs: datasets written; empty for a query that only collects.
        lineage: columns of `outputs` to columns of `inputs`; with `complete=False` and a reason if something wasn't
            understood. Its digest is `identity.plan_digest(lineage)`.
        command: simple class name of the command at the plan's root: `InsertIntoHadoopFsRelationCommand`; None for a
            query that only collects.
        streaming: link to the streaming query, None for a batch plan.
        changes: changes of datasets without writing rows: CREATE, ALTER, DROP, RENAME.
        staged: True if the written table is made by an enclosing CREATE TABLE AS, which reports this write as its own.
        writes_unknown: True if the plan writes to an unknown target.
        failures: parts that couldn't be read because of unexpected errors, as sentences.
        names: reported names of the plan's columns.
        beyond_cap: True if the columns weren't read, since the plan is larger than `PlanSettings.max_plan_bytes`.
        upstream: argument of `describe` for plans that start from this plan's output; None if reading failed.
        read: lineage that was read from the plan, without the command's output, so that the output can be read again
            without the plan. None if reading failed.
        query_schema: schema of the query whose rows are written, if requested.
    """

    inputs: tuple[PlanInput, ...]
    outputs: tuple[PlanOutput, ...]
    lineage: ColumnLineage
    command: str | None = None
    streaming: StreamingLink | None = None
    changes: tuple[DdlChange, ...] = ()
    staged: bool = False
    writes_unknown: bool = False
    failures: tuple[str, ...] = ()
    names: PlanNames = field(default_factory=PlanNames, compare=False, repr=False)
    beyond_cap: bool = False
    upstream: Upstream | None = None
    read: Upstream | None = field(default=None, compare=False, repr=False)
    query_schema: DataType = field(default=None, compare=False, repr=False)

    @property
    def is_streaming(self) -> bool:
        """True if the plan belongs to a streaming query, or to one of its micro-batches."""
        return self.streaming is not None
