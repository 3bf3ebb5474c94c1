"""Description of a plan: reads a py4j plan into a `PlanDescription`.

plan ── size within the cap? ─▶ toJSON ─▶ relation (columns, influences, rows)
│                                          │
└── sinks: outputs ─────────────────▶ edges ─▶ ColumnLineage
"""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from headwater_producers.spark.connectors.catalog.writes import streaming_link, write_other
from headwater_producers.spark.connectors.connector_questions import JvmCommand
from headwater_producers.spark.connectors.context import SessionContext
from headwater_producers.spark.connectors.kafka.connector import topics_read
from headwater_producers.spark.connectors.registry import REGISTRY, first_answer
from headwater_producers.spark.execution.leaves import JvmLeaves
from headwater_producers.spark.jvm.scala import class_name
from headwater_producers.spark.jvm.size import estimated_bytes
from headwater_producers.spark.jvm.versions import declared_streams
from headwater_producers.spark.plan.column import DataType, ValueLineage
from headwater_producers.spark.plan.copied import copied
from headwater_producers.spark.plan.description import (
    DdlChange,
    PlanDescription,
    PlanInput,
    PlanOutput,
    SourceKind,
    Upstream,
)
from headwater_producers.spark.plan.edges import OutputFields, column_lineage, whole_lineage
from headwater_producers.spark.plan.frames import KnownFrames
from headwater_producers.spark.plan.generated import with_generated
from headwater_producers.spark.plan.names import PlanNames, reporting
from headwater_producers.spark.plan.operators import PlanReader, is_write
from headwater_producers.spark.plan.operators.reader import WRITES_NOTHING
from headwater_producers.spark.plan.output_schema import output_fields, stored_schema
from headwater_producers.spark.plan.relation import Relation
from headwater_producers.spark.plan.schema import schema_definition
from headwater_producers.spark.plan.settings import PlanSettings
from headwater_producers.spark.plan.written import WrittenOutputs
from headwater_schemas.events import ColumnLineage

logger = logging.getLogger(__name__)


def describe(
    query_execution: Any,
    *,
    session: Any,
    upstream: Upstream | None = None,
    frames: KnownFrames | None = None,
    settings: PlanSettings | None = None,
    earlier: PlanDescription | None = None,
    is_running: bool = False,
) -> PlanDescription:
    """Describe a batch query, or a write inside foreachBatch: inputs, outputs, column lineage.

    Takes a few py4j round trips for each leaf of the plan and one for the rest; call it on a worker thread. Never
    raises for a plan: parts that aren't understood make the lineage incomplete, with a reason.

    Args:
        query_execution: the JVM's `QueryExecution` (`df._jdf.queryExecution()`, or a listener's argument).
        session: the `SparkSession` that ran it.
        upstream: inside foreachBatch, `PlanDescription.upstream` of the streaming query.
        frames: frames that became RDDs, and that the plan may start from.
        earlier: description of the same execution, with the same arguments, made while the execution ran. A plan that
            was understood completely isn't read again: it doesn't change, and reading many columns takes most of the
            time. The command's output is read again, since the command's end may have changed it.
        is_running: True if the query hasn't ended. Then its executed plan isn't read: some of Spark's commands take
            their settings on first access, from the thread that accesses them.
    """
    try:
        plan = query_execution.analyzed()
    except Exception as error:
        return _unreadable(error)
    context = SessionContext(session, settings or PlanSettings(), {}, frames, None if is_running else query_execution)
    return _described(plan, context, upstream, earlier)


def read_by(
    query_execution: Any,
    *,
    session: Any,
    frames: KnownFrames | None = None,
    settings: PlanSettings | None = None,
) -> tuple[PlanInput, ...]:
    """Return the datasets that a query reads, only from the leaves of its plan; empty for a command.

    Takes a few py4j round trips for each leaf. Never raises for a plan: unreadable parts are left out.
    """
    try:
        plan = query_execution.analyzed()
        if _is_command(class_name(plan)):
            return ()
        context = SessionContext(session, settings or PlanSettings(), {}, frames, query_execution)
        return tuple(JvmLeaves(plan, context).inputs())
    except Exception as error:
        logger.debug("lineage capture: the inputs of a query couldn't be read (%s)", _named(error), exc_info=error)
        return ()


def may_write(query_execution: Any) -> bool:
    """Return True if a query may write something, by its root alone. Takes two round trips for any size.

    Raises:
        Py4JError, PySparkException: the query has no readable plan.
    """
    return _is_command(class_name(query_execution.analyzed()))


def _is_command(name: str) -> bool:
    return is_write(name) or name in REGISTRY.operators


def describe_streaming(
    streaming_query: Any,
    *,
    session: Any,
    settings: PlanSettings | None = None,
    topics: Mapping[int, Collection[str]] | None = None,
) -> PlanDescription:
    """Describe a started streaming query: inputs, outputs, column lineage. All its micro-batches share the description.

    The description is read from the query's own logical plan, which has every source (a micro-batch's plan has an empty
    relation in place of a source without new data). `source_index` of the inputs follows the order of
    `StreamingQueryProgress.sources`. Never raises for a plan.

    Args:
        streaming_query: a `pyspark.sql.streaming.StreamingQuery` that has made its plan, shortly after `start()`
            (its first progress, or the call of its foreachBatch function, is proof); before that, the description is
            incomplete.
        session: the `SparkSession` that started it.
        topics: topics of sources that subscribe to a pattern, by source index; by default those of the last progress.
    """
    try:
        query = streaming_query._jsq.streamingQuery()
        plan, declared = query.logicalPlan(), declared_streams(query)
        known = _topics_so_far(streaming_query._jsq) if topics is None else topics
    except Exception as error:
        return _unreadable(error)
    context = SessionContext(session, settings or PlanSettings(), known, declared=declared)
    return _described(plan, context, None)


def _topics_so_far(query: Any) -> dict[int, Collection[str]]:
    """Return the topics of the last progress, from the JVM: PySpark's own parser fails if a rate isn't a number."""
    progress = query.lastProgress()
    return topics_read(json.loads(str(progress.json())) if progress is not None else None)


def describe_plan(plan: Any, *, session: Any, settings: PlanSettings | None = None) -> PlanDescription:
    """Describe an analyzed `LogicalPlan` of the JVM. Never raises for a plan."""
    return _described(plan, SessionContext(session, settings or PlanSettings(), {}), None)


def _described(
    plan: Any, context: SessionContext, upstream: Upstream | None, earlier: PlanDescription | None = None
) -> PlanDescription:
    try:
        names, read, schema = PlanNames(hidden=not context.settings.literals), None, None
        if earlier is not None and earlier.read is not None:
            names, read, schema = earlier.names, earlier.read, earlier.query_schema
        with reporting(names):
            return _Description(plan, context, upstream, names, read, schema).build()
    except Exception as error:
        return _unreadable(error)


def _unreadable(error: Exception) -> PlanDescription:
    # Only the type is reported: a Py4JJavaError's text may hold options, and options may hold passwords.
    reason = f"the plan couldn't be read ({_named(error)})"
    logger.debug("lineage capture: %s", reason, exc_info=error)
    lineage = ColumnLineage(complete=False, incomplete_reason=reason)
    return PlanDescription(inputs=(), outputs=(), lineage=lineage, failures=(reason,))


def _named(error: Exception) -> str:
    java = getattr(error, "java_exception", None)
    return f"{type(error).__name__}: {class_name(java)}" if java is not None else type(error).__name__


@dataclass(slots=True)
class _Description:
    """Steps from a plan to its description. A failed step leaves a problem; the results of the other steps are kept."""

    plan: Any
    context: SessionContext
    upstream: Upstream | None
    names: PlanNames
    read: Upstream | None = None
    query_schema: DataType = None
    problems: dict[str, None] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    beyond_cap: bool = False
    leaves: JvmLeaves = field(init=False)

    def __post_init__(self) -> None:
        self.leaves = JvmLeaves(self.plan, self.context, self.upstream)

    def build(self) -> PlanDescription:
        relation, inputs = self._relation()
        name = class_name(self.plan)
        columns = {a.name: relation.columns[a.id] for a in relation.output} if relation else {}
        written = self._written(name, columns)
        schema = (written.schema or self._query_schema()) if written.outputs else None
        if relation and written.generated:
            try:
                literals = self.context.settings.literal_texts
                relation, schema = with_generated(relation, schema, written.generated, literals)
            except Exception as error:
                self._failed("the expressions of the table's generated columns", error)
        inputs += tuple(each for each in written.read if each.dataset not in {known.dataset for known in inputs})
        if relation and written.replaced:
            relation = relation.influenced(written.replaced)
        if written.copied:
            relation = copied(written.read[0], schema, but=dict(written.outputs[0].partition))
        outputs, lineage = self._lineage(written, relation, inputs, schema)
        changed = self._changes()
        streaming = written.streaming
        if streaming is not None:
            streaming = replace(
                streaming,
                source_descriptions=self.leaves.stream_descriptions(),
                pattern_sources=self.leaves.pattern_sources(),
            )
        return PlanDescription(
            inputs=inputs,
            outputs=outputs,
            lineage=lineage,
            command=name if _is_command(name) else None,
            streaming=streaming,
            changes=changed,
            staged=written.staged,
            writes_unknown=not written.outputs and written.problem is not None,
            failures=(*self.failures, *self.leaves.failures),
            names=self.names,
            beyond_cap=self.beyond_cap,
            upstream=Upstream(relation=relation, inputs=inputs, problems=tuple(self.problems)) if relation else None,
            read=self.read,
            query_schema=self.query_schema,
        )

    def _relation(self) -> tuple[Relation | None, tuple[PlanInput, ...]]:
        if self.read is not None:
            return self.read.relation, self.read.inputs
        settings = self.context.settings
        if estimated_bytes(self.plan, settings.max_plan_bytes) > settings.max_plan_bytes:
            self.beyond_cap = True
            self._problem(f"the plan's JSON is larger than {settings.max_plan_bytes} bytes")
            return None, tuple(self.leaves.inputs())
        reader = PlanReader(self.leaves, settings.literal_texts, REGISTRY.operators)
        try:
            nodes: Any = msgspec.json.decode(str(self.plan.toJSON()).encode())
            self.names.learn(nodes)
            relation = reader.read(nodes)
        except Exception as error:
            self._failed("the plan's columns", error)
            return None, tuple(self.leaves.inputs())
        self.problems.update(reader.problems)
        inputs = tuple(reader.inputs)
        # An unreadable part may be readable next time: the report of a reused frame may come in between.
        if not self.problems and not self.leaves.failures:
            self.read = Upstream(relation=relation, inputs=inputs)
        return relation, inputs

    def _changes(self) -> tuple[DdlChange, ...]:
        try:
            command = JvmCommand(self.plan, self.context)
            return first_answer(each.change(command) for each in REGISTRY.named(command.name)) or ()
        except Exception as error:
            self._failed(f"what a {class_name(self.plan)} changes", error)
            return ()

    def _written(self, name: str, columns: dict[str, ValueLineage]) -> WrittenOutputs:
        if not _is_command(name):
            return WrittenOutputs()
        try:
            written = _written(JvmCommand(self.plan, self.context, columns))
        except Exception as error:
            return WrittenOutputs(problem=self._failed(f"what a {name} writes", error))
        if written is None:
            # DROP, ALTER and similar commands have no columns; commands in WRITES_NOTHING write no dataset.
            if not columns or name in WRITES_NOTHING:
                return WrittenOutputs()
            written = WrittenOutputs(problem=f"what a {name} writes isn't known")
        if written.problem:
            self._problem(written.problem)
        return written

    def _lineage(
        self, written: WrittenOutputs, relation: Relation | None, inputs: tuple[PlanInput, ...], schema: DataType
    ) -> tuple[tuple[PlanOutput, ...], ColumnLineage]:
        if self.upstream is not None:
            self.problems.update(dict.fromkeys(self.upstream.problems))
        if relation is None:
            outputs = tuple(replace(o, schema=schema_definition(schema)) for o in written.outputs)
            lineage = whole_lineage((o.dataset for o in outputs), (i.dataset for i in inputs), self.problems)
            return outputs, lineage
        fields = output_fields(relation, schema)
        targets = [OutputFields(o.dataset, fields, payload=o.type == "TOPIC") for o in written.outputs]
        outputs = tuple(
            replace(output, schema=stored_schema(target, schema))
            for output, target in zip(written.outputs, targets, strict=True)
        )
        return outputs, column_lineage(targets, relation.influences, self.problems)

    def _query_schema(self) -> DataType:
        """Return the schema of a command's query. For hundreds of columns this takes the JVM some milliseconds."""
        if self.query_schema is None:
            queries = self.plan.children()
            if queries.isEmpty():
                queries = self.plan.innerChildren()
            asked = self.plan if queries.isEmpty() else queries.last()
            self.query_schema = json.loads(asked.schema().json())
        return self.query_schema

    def _problem(self, sentence: str) -> None:
        self.problems.setdefault(sentence)

    def _failed(self, what: str, error: Exception) -> str:
        sentence = f"{what} couldn't be read ({_named(error)})"
        logger.debug("lineage capture: %s", sentence, exc_info=error)
        self._problem(sentence)
        self.failures.append(sentence)
        return sentence


def _written(command: JvmCommand) -> WrittenOutputs | None:
    """Describe the write of a command; None if it isn't a known write."""
    written = first_answer(each.write(command) for each in REGISTRY.of(command.subject))
    if written is None:
        written = write_other(command)
    if written is None or written.streaming is not None or not command.is_micro_batch:
        return written
    kind = written.outputs[0].kind if written.outputs else SourceKind.CALLBACK
    return replace(written, streaming=streaming_link(command, kind))
