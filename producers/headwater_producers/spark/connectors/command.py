"""A command at the root of a JVM plan, and what all kinds of them have in common."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from headwater_producers.spark.connectors.context import Context
from headwater_producers.spark.connectors.kafka import options as kafka
from headwater_producers.spark.jvm.scala import class_name
from headwater_producers.spark.plan.column import Column, DataType, Indirect
from headwater_producers.spark.plan.description import PlanInput, PlanOutput, SourceKind, StreamingLink, WriteMode
from headwater_producers.spark.plan.generated import Generated
from headwater_schemas import naming
from headwater_schemas.events import LifecycleChange

_MODES = {
    "Append": WriteMode.APPEND,
    "Overwrite": WriteMode.OVERWRITE,
    "ErrorIfExists": WriteMode.ERROR_IF_EXISTS,
    "Ignore": WriteMode.IGNORE,
    "Update": WriteMode.UPDATE,
    "Complete": WriteMode.COMPLETE,
}
LIFECYCLES = {
    WriteMode.OVERWRITE: LifecycleChange.OVERWRITE,
    WriteMode.CREATE: LifecycleChange.CREATE,
    WriteMode.REPLACE: LifecycleChange.OVERWRITE,
}


WRITES_NOTHING = frozenset(
    [
        "AnalyzeColumnCommand",
        "AnalyzePartitionCommand",
        "AnalyzeTableCommand",
        "AnalyzeTablesCommand",
        "CacheTableCommand",
        "DescribeQueryCommand",
        "ExplainCommand",
        # CREATE TABLE AS to a folder runs, and tells, a command that writes its files.
        "InsertIntoDataSourceDirCommand",
    ]
)
"""Commands that run a query and leave no dataset behind, or leave that to a command within."""


@dataclass(frozen=True, slots=True)
class JvmCommand:
    """A command at the root of a JVM plan.

    Attributes:
        plan: the command.
        context: see there.
        columns: lineage of the query's columns by name; empty where it couldn't be read.
    """

    plan: Any
    context: Context
    columns: Mapping[str, Column]

    @property
    def topics(self) -> frozenset[str] | None:
        """What a column `topic` can hold, where that is known."""
        column = self.columns.get("topic")
        return column.constants if column else None


@dataclass(frozen=True, slots=True)
class Written:
    """What a command writes.

    Attributes:
        outputs: the datasets, without schema.
        problem: what isn't known of them, as a sentence.
        streaming: where the command is a streaming query's.
        schema: the outputs', where it isn't that of the query that the command runs.
        staged: a CREATE TABLE AS, told next, is what makes the table that is written.
        generated: what the table adds to the columns of the query.
        replaced: what decides which of the rows go that were there.
        read: what the command reads beside its query, or having none.
        copied: it takes over the first of those as it is: each column from that of its name, or from the dataset as a
            whole where its columns aren't known.
    """

    outputs: tuple[PlanOutput, ...] = ()
    problem: str | None = None
    streaming: StreamingLink | None = None
    schema: DataType = None
    staged: bool = False
    generated: Generated | None = None
    replaced: frozenset[Indirect] = frozenset()
    read: tuple[PlanInput, ...] = ()
    copied: bool = False


def query_schema(plan: Any) -> DataType:
    """The schema of the query that the command runs."""
    queries = plan.children()
    if queries.isEmpty():
        queries = plan.innerChildren()
    return json.loads((plan if queries.isEmpty() else queries.last()).schema().json())


def topics_of(command: JvmCommand, options: Any, mode: WriteMode) -> Written:
    """The topics that Kafka's sink writes, batch or streaming."""
    outputs, problem = kafka.sinks(options, command.context, mode=mode, topics=command.topics)
    return Written(tuple(outputs), problem)


def unnamed(
    command: JvmCommand, table: Any, path: str | None, mode: WriteMode, *, part: str | None = None
) -> PlanOutput:
    """What a V2 table without a catalog's name is: a path, or one of Spark's own sinks for tests, or a `part` of it."""
    # NoopTable, ConsoleTable, MemorySink.
    name = class_name(table).removesuffix("Table").removesuffix("Sink").lower()
    if path is not None:
        return PlanOutput(dataset=naming.path(path), kind=SourceKind.FILE, type="FILE", mode=mode, format=name)
    dataset = command.context.in_memory(f"{name}.{part}" if part else name)
    return PlanOutput(dataset=dataset, kind=SourceKind.GENERATED, mode=mode, format=name)


def write_mode(mode: Any) -> WriteMode:
    """A JVM `SaveMode` or `OutputMode`."""
    return _MODES.get(str(mode.toString()), WriteMode.UNKNOWN)
