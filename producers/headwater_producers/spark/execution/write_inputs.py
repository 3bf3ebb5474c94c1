"""Inputs of a write that hasn't begun: datasets that its plan reads, and their partitions.

Nothing is run and no listener of Spark's is called. Only the leaves of a plan are read, a few py4j round trips each. A
SQL statement is parsed and analyzed, as Spark does again when the statement runs. Partitions need a physical plan, so
they are looked up only when they decide something.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from headwater_producers.spark.connectors.context import SessionContext
from headwater_producers.spark.connectors.files.reads import partitions_to_read
from headwater_producers.spark.events.writes import known_as
from headwater_producers.spark.execution.executions import scan_names
from headwater_producers.spark.execution.leaves import NO_DATASET, JvmLeaves
from headwater_producers.spark.jvm.nodes import leaves, reads_at_leaves_alone
from headwater_producers.spark.jvm.references import own_references
from headwater_producers.spark.jvm.scala import class_name, items, statics
from headwater_producers.spark.jvm.versions import expression_of
from headwater_producers.spark.plan import KnownFrames, PlanInput, PlanSettings, SourceKind
from headwater_producers.spark.plan.operators import is_write
from headwater_producers.spark.plan.partition import partition_path
from headwater_schemas.events import DatasetRef
from headwater_schemas.redacted_values import redacted

logger = logging.getLogger(__name__)

_CATALYST: Final = "org.apache.spark.sql.catalyst.analysis"
_WRITES: Final = frozenset(
    {
        "AppendData",
        "CreateTableAsSelect",
        "DeleteFromTable",
        "InsertIntoDir",
        "InsertIntoStatement",
        "MergeIntoTable",
        "OverwriteByExpression",
        "OverwritePartitionsDynamic",
        "ReplaceTableAsSelect",
        "UpdateTable",
    }
)
"""Classes of parsed statements that write a query's rows. Other statements aren't analyzed: analyzing some of them has
effects."""
_CHANGED: Final = {"DeleteFromTable": "table", "MergeIntoTable": "targetTable", "UpdateTable": "table"}
"""Accessor of the table whose rows a parsed statement changes."""
_WITHOUT_DATASET: Final = frozenset({SourceKind.GENERATED, SourceKind.MEMORY})

Arguments = Mapping[str, Any] | Sequence[Any] | None
"""Arguments of a statement's parameters, as `SparkSession.sql` takes them."""
Partitions = Mapping[DatasetRef, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class WriteInputs:
    """Inputs of a write that hasn't begun.

    Attributes:
        datasets: datasets that its plan reads, named as in events; each once.
        failures: parts of the plan that couldn't be read because of an error, as sentences.
        unknown: parts of the plan whose datasets aren't known, as sentences.
        partitions: looks up the partitions that would be read, as `key=value/…` paths, by dataset; a dataset that is
            missing there may be read as a whole.
    """

    datasets: tuple[DatasetRef, ...] = ()
    failures: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    partitions: Callable[[], Partitions] = dict


class WriteInputReader:
    """Reader of the inputs of writes, on the threads that write."""

    def __init__(self, settings: PlanSettings, frames: KnownFrames) -> None:
        # A dataset's name depends on its cluster's id only if names are declared by id. Brokers may take seconds to
        # answer.
        clusters = settings.kafka_clusters if settings.kafka_cluster_names.keys() - {"*"} else None
        self._settings = replace(settings, max_files=0, kafka_clusters=clusters)
        self._most_files = settings.max_files if settings.literals else 0
        self._frames = frames

    def of_frame(self, frame: Any) -> WriteInputs:
        """Read the inputs of a PySpark `DataFrame`, whose rows a writer would write.

        Raises:
            Py4JError, PySparkException: the frame has no readable plan.
        """
        with own_references():
            plan = frame._jdf.queryExecution().analyzed()
            return self._of(plan, plan, frame.sparkSession)

    def of_statement(self, session: Any, text: str, arguments: Arguments = None) -> WriteInputs:
        """Read the inputs of a SQL statement; empty if the statement doesn't write, or is invalid and fails anyway.

        The table whose rows an UPDATE, a DELETE or a MERGE changes is no input: the statement may repair the table.

        Raises:
            Py4JError, PySparkException: the statement can't be read.
        """
        from pyspark.errors import AnalysisException, ParseException

        with own_references():
            state = session._jsparkSession.sessionState()
            try:
                parsed = state.sqlParser().parsePlan(text)
                if (command := _written(parsed)) is None:
                    return WriteInputs()
                analyzed = _execution(session, _bound(session, parsed, arguments)).analyzed()
            except (AnalysisException, ParseException):
                if arguments:
                    raise
                return WriteInputs()
            if (accessor := _CHANGED.get(class_name(command))) is None:
                return self._of(analyzed, _query(analyzed), session)
            target = _execution(session, getattr(command, accessor)()).analyzed()
            return self._of(analyzed, None, session, but=self._of(target, None, session).datasets)

    def _of(self, plan: Any, query: Any | None, session: Any, but: Collection[DatasetRef] = ()) -> WriteInputs:
        found = JvmLeaves(plan, SessionContext(session, self._settings, {}, self._frames))
        inputs = [each for each in found.inputs() if each.kind not in _WITHOUT_DATASET]
        # Events are redacted when they are built, names of datasets included.
        datasets = dict.fromkeys(redacted(each.dataset) for each in inputs)
        unknown = [problem for problem in found.problems() if problem not in found.failures]

        @functools.cache
        def partitions() -> Partitions:
            try:
                return self._partitions(query, inputs, session) if query is not None else {}
            except Exception:
                logger.debug("lineage capture: the partitions that a write would read are unknown", exc_info=True)
                return {}

        return WriteInputs(
            datasets=tuple(each for each in datasets if each not in but),
            failures=tuple(found.failures),
            unknown=tuple(unknown),
            partitions=partitions,
        )

    def _partitions(self, query: Any, inputs: Sequence[PlanInput], session: Any) -> Partitions:
        # A separate execution: the frame's own would keep its physical plan, and so not notice a later `cache()`.
        executed = _execution(session, query).executedPlan()
        at_leaves = list(leaves(executed))
        if not reads_at_leaves_alone(executed, at_leaves):
            return {}
        scans = [
            (scan_names(leaf) or frozenset(), partitions_to_read(leaf, self._most_files))
            for leaf in at_leaves
            if class_name(leaf) == "FileSourceScanExec"
        ]
        chosen = {}
        for each in inputs:
            mine = [partitions for names, partitions in scans if names & known_as(each)]
            if mine and None not in mine:
                paths = {partition_path(partition) for found in mine for partition in found or ()}
                chosen[redacted(each.dataset)] = tuple(sorted(paths))
        return chosen


def _execution(session: Any, plan: Any) -> Any:
    """Make a `QueryExecution` that runs no command, not even when it is asked for its plans."""
    skip = statics(session, "org.apache.spark.sql.execution.CommandExecutionMode").SKIP()
    return session._jsparkSession.sessionState().executePlan(plan, skip)


def _written(parsed: Any) -> Any | None:
    """Return the command of a parsed statement that writes a query's rows; None for any other statement."""
    command = parsed
    while class_name(command) == "UnresolvedWith":
        command = command.child()
    # FROM … INSERT INTO … INSERT INTO …
    first = command.children().head() if class_name(command) == "Union" else command
    return command if class_name(first) in _WRITES else None


def _query(analyzed: Any) -> Any | None:
    """Return the only query of an analyzed command; None if it has several."""
    below = list(items(analyzed.children())) or list(items(analyzed.innerChildren()))
    queries = [each for each in below if class_name(each) not in NO_DATASET]
    return queries[0] if len(queries) == 1 and not is_write(class_name(queries[0])) else None


def _bound(session: Any, parsed: Any, arguments: Arguments) -> Any:
    """Give the parameters of a parsed statement their values, as `SparkSession.sql` does."""
    if not arguments:
        return parsed
    from pyspark.sql.functions import lit

    helper = session._jvm.PythonUtils
    if isinstance(arguments, Mapping):
        values = {name: expression_of(session, lit(value)) for name, value in arguments.items()}
        companion = getattr(statics(session, f"{_CATALYST}.NameParameterizedQuery$"), "MODULE$")
        return companion.apply(parsed, helper.toScalaMap(values))
    expressions = [expression_of(session, lit(value)) for value in arguments]
    return statics(session, f"{_CATALYST}.PosParameterizedQuery")(parsed, helper.toSeq(expressions))
