"""Subjects of connectors' questions: leaves, commands and scans of the JVM, offsets and sinks of streaming queries."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, Final

from headwater_producers.spark.connectors.context import SessionContext
from headwater_producers.spark.jvm.files import TextFiles, TextFolder
from headwater_producers.spark.jvm.scala import class_name, kept, setting
from headwater_producers.spark.jvm.versions import streamed_table
from headwater_producers.spark.plan.column import ValueLineage
from headwater_producers.spark.plan.description import PlanDescription, PlanInput, SourceKind, Upstream, WriteMode
from headwater_producers.spark.plan.leaves import Leaf
from headwater_producers.spark.plan.relation import Attribute
from headwater_producers.spark.plan.schema import schema_definition
from headwater_producers.spark.plan.settings import PlanSettings
from headwater_producers.spark.plan.tree import PlanNode, expression_id
from headwater_schemas.events import DatasetRef, SchemaDefinition, Storage, Symlink

logger = logging.getLogger(__name__)

# Spark's own plan nodes, for all sources, which wrap the relation, table or source that selects the connector.
_SCANNED: Final = frozenset({"DataSourceV2ScanRelation", "StreamingDataSourceV2ScanRelation"})
_SUBJECT_OF_LEAF: Final[Mapping[str, Callable[[Any], Any]]] = {
    "LogicalRelation": lambda plan: kept(plan, "relation"),
    "DataSourceV2Relation": lambda plan: unwrapped(kept(plan, "table")),
    "StreamingDataSourceV2Relation": lambda plan: kept(plan, "table"),
    "StreamingRelationV2": lambda plan: kept(plan, "table"),
    "StreamingExecutionRelation": lambda plan: kept(plan, "source"),
    "StreamingRelation": lambda plan: kept(plan, "dataSource"),
}


def unwrapped(table: Any) -> Any:
    """Return the table inside Spark's wrapper for MERGE, UPDATE and DELETE; any other table unchanged."""
    return table.table() if class_name(table) == "RowLevelOperationTable" else table


@dataclass(frozen=True, kw_only=True)
class JvmLeaf:
    """Leaf of a JVM plan.

    Attributes:
        context: the session's context; see `SessionContext`.
        index: index of its streaming source in `StreamingQueryProgress.sources`.
        view: temporary view that consists of this leaf.
        first: the expression id of its first attribute.
        upstream: inside foreachBatch, the lineage of the micro-batch's frame.
        others: the plan's other leaves of the same class, by the expression id of their first attribute.
    """

    plan: Any
    context: SessionContext
    index: int | None = None
    view: str | None = None
    first: int | None = None
    upstream: Upstream | None = None
    others: Mapping[int, Any] = field(default_factory=dict)

    @cached_property
    def is_streamed(self) -> bool:
        """True if the leaf is a streaming query's source, started or not."""
        return class_name(self.plan).startswith("Streaming")

    @cached_property
    def relation(self) -> Any:
        """Relation of the leaf, or of the leaf's scan."""
        if self.first is not None and (declared := self.context.declared.get(self.first)) is not None:
            return declared
        return kept(self.plan, "relation") if class_name(self.plan) in _SCANNED else self.plan

    @cached_property
    def subject(self) -> Any:
        """Object that selects the connector: the relation, table or source behind the leaf, else the leaf."""
        find = _SUBJECT_OF_LEAF.get(class_name(self.relation))
        return find(self.relation) if find is not None else self.plan

    @property
    def options(self) -> Any:
        """Reader options of a V2 relation."""
        relation = self.relation
        return relation.extraOptions() if class_name(relation) == "StreamingRelationV2" else relation.options()

    def batch(self) -> JvmLeaf:
        """Return the leaf with all columns of its relation, even if a scan reads only some."""
        return JvmLeaf(plan=self.relation, context=self.context, index=self.index)

    def schema(self) -> SchemaDefinition:
        """Return the leaf's schema."""
        return schema_definition(json.loads(self.plan.schema().json()))

    def table(
        self,
        dataset: DatasetRef,
        storage: Storage | None,
        symlinks: tuple[Symlink, ...],
        schema: SchemaDefinition | None,
        *,
        type: str = "TABLE",  # noqa: A002 - OpenLineage's word
        from_beginning: bool = False,
    ) -> Leaf:
        """Describe the leaf as a read of one table."""
        read = PlanInput(
            dataset=dataset,
            kind=SourceKind.TABLE,
            type=type,
            schema=schema,
            storage=storage,
            symlinks=symlinks,
            source_index=self.index,
            from_beginning=from_beginning,
        )
        return Leaf(inputs=(read,))

    def attributes(self) -> list[Attribute]:
        """Return the leaf's columns with their ids, in one round trip."""
        leaf = PlanNode("", json.loads(str(self.plan.toJSON()))[0])
        found = []
        for nodes in leaf.output():
            number = expression_id(nodes[0])
            if number is not None:
                found.append(Attribute(number, str(nodes[0].get("name")), nodes[0].get("dataType")))
        return found


_MODES: Final = {
    "Append": WriteMode.APPEND,
    "Overwrite": WriteMode.OVERWRITE,
    "ErrorIfExists": WriteMode.ERROR_IF_EXISTS,
    "Ignore": WriteMode.IGNORE,
    "Update": WriteMode.UPDATE,
    "Complete": WriteMode.COMPLETE,
}
_APPENDS: Final = frozenset({"AppendData", "WriteToContinuousDataSource"})
_BY_CONDITION: Final = "OverwriteByExpression"
_OF_RELATION: Final = frozenset({"AppendData", _BY_CONDITION, "OverwritePartitionsDynamic"})
_MADE_OF_QUERY: Final = frozenset({"CreateTableAsSelect", "ReplaceTableAsSelect"})
_WRITTEN_TABLE: Final[Mapping[str, Callable[[Any], Any]]] = {
    **dict.fromkeys(_OF_RELATION, lambda plan: kept(kept(plan, "table"), "table")),
    **dict.fromkeys(_MADE_OF_QUERY, lambda plan: loaded(plan.name().catalog(), plan.name().identifier())),
    **dict.fromkeys(("ReplaceData", "WriteDelta"), lambda plan: unwrapped(kept(kept(plan, "originalTable"), "table"))),
}
_SUBJECT_OF_COMMAND: Final[Mapping[str, Callable[[Any], Any]]] = {
    **_WRITTEN_TABLE,
    "SaveIntoDataSourceCommand": lambda plan: kept(plan, "dataSource"),
    "WriteToMicroBatchDataSource": streamed_table,
    "WriteToMicroBatchDataSourceV1": lambda plan: kept(plan, "sink"),
    "WriteToContinuousDataSource": lambda plan: kept(plan, "write"),
}


def write_mode(mode: Any) -> WriteMode:
    """Convert a JVM `SaveMode` or `OutputMode`."""
    return _MODES.get(str(mode.toString()), WriteMode.UNKNOWN)


def loaded(catalog: Any, identifier: Any) -> Any | None:
    """Return the current table of a name in a catalog; None if there is none, or the catalog doesn't answer."""
    try:
        return catalog.loadTable(identifier)
    except Exception:
        logger.debug("lineage capture: a catalog has no table of a name", exc_info=True)
        return None


def written_table(plan: Any) -> Any | None:
    """Return the V2 table that a JVM batch command of Spark's writes; None for another plan. May ask a catalog."""
    find = _WRITTEN_TABLE.get(class_name(plan))
    return find(plan) if find is not None else None


@dataclass(frozen=True)
class JvmCommand:
    """Command at the root of a JVM plan.

    Attributes:
        context: the session's context; see `SessionContext`.
        columns: lineage of the query's columns by name; empty if it couldn't be read.
    """

    plan: Any
    context: SessionContext
    columns: Mapping[str, ValueLineage] = field(default_factory=dict)

    @cached_property
    def name(self) -> str:
        """Simple name of the command's class."""
        return class_name(self.plan)

    @cached_property
    def subject(self) -> Any:
        """Object that selects the connector: the table, sink or provider that is written to, else the command.

        None for a table that its catalog doesn't have. May ask a catalog.
        """
        find = _SUBJECT_OF_COMMAND.get(self.name)
        return find(self.plan) if find is not None else self.plan

    @cached_property
    def options(self) -> Any:
        """Options of the writer."""
        return self.plan.options() if self.name == "SaveIntoDataSourceCommand" else self.plan.writeOptions()

    @cached_property
    def mode(self) -> WriteMode:
        """Mode of a write to a source or a V2 table."""
        if self.name in _APPENDS:
            return WriteMode.APPEND
        if self.name == _BY_CONDITION:
            return self._by_condition()
        if self.name in _OF_RELATION:
            return WriteMode.OVERWRITE_PARTITIONS
        return write_mode(self.plan.outputMode() if self.is_micro_batch else self.plan.mode())

    @property
    def is_micro_batch(self) -> bool:
        """True if the command belongs to a streaming query that runs micro-batches."""
        return self.name.startswith("WriteToMicroBatchDataSource")

    @property
    def condition(self) -> Any:
        """Condition of an overwrite, as the JVM's expression."""
        return kept(self.plan, "deleteExpr")

    @property
    def replaces_by_condition(self) -> bool:
        """True if the command replaces the rows of its table that match a condition."""
        return self.name == _BY_CONDITION

    @property
    def topics(self) -> frozenset[str] | None:
        """Topics that a column `topic` can hold; None if unknown."""
        column = self.columns.get("topic")
        return column.constants if column else None

    def path(self) -> str | None:
        """Return the path in the writer's options."""
        return setting(self.options, "path")

    def _by_condition(self) -> WriteMode:
        # All rows are replaced only if the condition is `true`.
        condition = self.condition
        is_all = class_name(condition) == "Literal" and str(condition.toString()) == "true"
        return WriteMode.OVERWRITE if is_all else WriteMode.OVERWRITE_PARTITIONS


# Accessors of the source in a scan of an executed plan. Spark's own, for all sources.
_SUBJECT_OF_SCAN: Final[Mapping[str, Callable[[Any], Any]]] = {
    "FileSourceScanExec": lambda scan: kept(kept(scan, "relation"), "location"),
    "RowDataSourceScanExec": lambda scan: kept(scan, "relation"),
    "BatchScanExec": lambda scan: kept(scan, "scan"),
}


@dataclass(frozen=True)
class JvmScan:
    """Leaf of an executed JVM plan.

    Attributes:
        settings: settings of plan descriptions; None: chosen partitions aren't read.
    """

    node: Any
    settings: PlanSettings | None = None

    @cached_property
    def subject(self) -> Any:
        """Object that selects the connector: the file index, relation or scan behind the leaf, else the leaf."""
        find = _SUBJECT_OF_SCAN.get(class_name(self.node))
        return find(self.node) if find is not None else self.node


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOffsets:
    """Streaming source in one micro-batch.

    Attributes:
        start, end: offsets before and after, parsed from the source's own JSON; None if Spark has no offset.
        description: description in a progress: `FileStreamSource[file:/in]`; empty if there is only a checkpoint.
        kind: kind of the source in the plan; None if no plan names it.
        checkpoint: root of the query's checkpoint; None: unknown.
    """

    start: Any
    end: Any
    description: str = ""
    kind: SourceKind | None = None
    from_beginning: bool = False
    index: int = 0
    checkpoint: TextFolder | None = None

    @property
    def folder(self) -> TextFolder | None:
        """The source's own folder in the checkpoint; None: unknown."""
        return self.checkpoint.folder(f"sources/{self.index}") if self.checkpoint is not None else None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointSource:
    """Streaming source of which only the checkpoint is available.

    Attributes:
        end: the source's last offset, parsed from the source's own JSON; None if it has no offset yet.
        folder: the source's own folder in the checkpoint: `sources/<i>`.
        given: dataset that the user has named: a path or URI; a namespace and name with a space between; for Kafka only
            the namespace.
    """

    index: int
    end: Any
    folder: TextFolder
    known: Sequence[DatasetRef]
    given: str | None = None


@dataclass(frozen=True)
class CommandRun:
    """Batch command that has ended without an error.

    Attributes:
        execution: the JVM's `QueryExecution`.
        session: the `SparkSession` that ran it.
        started_at, ended_at: start and end by this driver's clock.
    """

    execution: Any
    session: Any
    command: JvmCommand
    started_at: datetime
    ended_at: datetime

    @property
    def window(self) -> tuple[int, int]:
        """Time range of the command's run, in milliseconds since the epoch, rounded outwards."""
        return int(self.started_at.timestamp() * 1000), int(self.ended_at.timestamp() * 1000) + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamSink:
    """Sink of a streaming query.

    Attributes:
        description: description in a progress: `FileSink[file:/out]`.
        sink: the sink's JVM object, if the query is running.
    """

    description: str
    files: TextFiles
    sink: Any = None

    @property
    def name(self) -> str:
        """Name of the sink in its description: `FileSink`."""
        return self.description.partition("[")[0]

    @property
    def path(self) -> str:
        """Path in the sink's description; no other field has the full path."""
        return self.description.partition("[")[2].removesuffix("]")

    @property
    def folder(self) -> TextFolder:
        """Folder at the sink's path."""
        return TextFolder(self.path, self.files)


def is_ignoring(description: PlanDescription) -> bool:
    """Return True if a command writes only where nothing exists, by mode("ignore") or IF NOT EXISTS."""
    return bool(description.outputs) and all(output.mode is WriteMode.IGNORE for output in description.outputs)
