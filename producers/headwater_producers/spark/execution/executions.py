"""Query execution in the JVM: its key, times, counts, SQL text and observed metrics."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from headwater_producers.spark.connectors.connector_answers import Scanned
from headwater_producers.spark.connectors.connector_questions import JvmScan
from headwater_producers.spark.connectors.rdd import rdds_of
from headwater_producers.spark.connectors.registry import REGISTRY, first_answer
from headwater_producers.spark.events.writes import Counts, Scan
from headwater_producers.spark.jvm.nodes import leaves, opened, reads_at_leaves_alone, sampled_scans
from headwater_producers.spark.jvm.scala import class_name, instant, items, kept, option, pairs
from headwater_producers.spark.plan.settings import PlanSettings
from headwater_producers.spark.streaming.links import PlanKey
from headwater_schemas import naming

# Physical writes of the V2 API, which count in `commitProgress` instead of a metric.
_V2_WRITES: Final = frozenset(
    {
        "AppendDataExec",
        "OverwriteByExpressionExec",
        "OverwritePartitionsDynamicExec",
        "ReplaceDataExec",
        "WriteDeltaExec",
    }
)

# QueryExecution.commandExecutionName, of a Union of commands.
_SEVERAL: Final = "multi-commands"


def plan_key(query_execution: Any) -> PlanKey:
    """Return the key of a query execution. Takes about 10 round trips and 3 for each leaf."""
    return PlanKey(
        session=str(query_execution.sparkSession().sessionUUID()),
        number=int(query_execution.id()),
        rdds=frozenset(int(rdd.id()) for rdd in rdds_of(query_execution.analyzed())),
    )


def written_counts(executed_plan: Any) -> Counts:
    """Return the counts of a write's root node. Kafka and JDBC count nothing."""
    node = opened(executed_plan)
    counted = _metrics(node)
    rows = counted.get("numOutputRows")
    if rows is None and class_name(node) in _V2_WRITES:
        progress = node.commitProgress()
        rows = int(progress.get().numOutputRows()) if progress.isDefined() else None
    return Counts(
        rows=rows,
        bytes=counted.get("numOutputBytes"),
        files=counted.get("numFiles"),
        # For a statement that names its partition, and for a table without partitions, Spark counts 0.
        partitions=counted.get("numParts") or None,
    )


def scans(executed_plan: Any, settings: PlanSettings | None = None) -> tuple[Scan, ...]:
    """List the scans at the leaves of an executed plan, also within adaptive stages, but not in subqueries.

    Args:
        settings: settings of plan descriptions; None: the partitions that scans read aren't looked up.
    """
    found = []
    sampled = sampled_scans(executed_plan)
    at_leaves = list(leaves(executed_plan))
    if settings is not None and not reads_at_leaves_alone(executed_plan, at_leaves):
        settings = None
    for leaf in at_leaves:
        scan = JvmScan(leaf, settings)
        scanned = first_answer(each.scanned(scan) for each in REGISTRY.of(scan.subject))
        names = scan_names(leaf)
        if names is None and scanned is None:
            continue
        scanned = scanned or Scanned()
        counted = _metrics(leaf)
        is_once = sampled is not None and int(leaf.id()) not in sampled
        counts = Counts(
            rows=counted.get("numOutputRows") if is_once else None,
            bytes=counted.get("filesSize", counted.get("totalDataFileSize")),
            files=counted.get("numFiles", counted.get("resultDataFiles")),
        )
        all_names = (names or frozenset()) | scanned.names | scanned.positions.keys()
        found.append(Scan(names=all_names, counts=counts, positions=scanned.positions, chosen=scanned.chosen))
    return tuple(found)


def execution_times(query_execution: Any, duration_ns: int | None, reported_at: datetime) -> tuple[datetime, datetime]:
    """Return the start and end of an execution, by the JVM's clock if the plan has recorded its phases.

    Planning is timed by the plan itself, execution by the listener; `reported_at` is the time of the listener's call,
    which the listener bus delays.
    """
    begins, ends = [], []
    phases = query_execution.tracker().phases().valuesIterator()
    while phases.hasNext():
        phase = phases.next()
        begins.append(instant(int(phase.startTimeMs())))
        ends.append(instant(int(phase.endTimeMs())))
    if not begins:
        return reported_at - timedelta(microseconds=(duration_ns or 0) // 1000), reported_at
    if duration_ns is None:
        return min(begins), reported_at
    return min(begins), min(reported_at, max(ends) + timedelta(microseconds=duration_ns // 1000))


def scan_names(leaf: Any) -> frozenset[str] | None:
    """Return the possible dataset names of one of Spark's own scans: its paths and its table's name.

    None for a node that isn't such a scan.
    """
    match class_name(leaf):
        case "FileSourceScanExec":
            roots = items(kept(kept(leaf, "relation"), "location").rootPaths())
            paths = {naming.path(str(path.toString())).name for path in roots}
            table = leaf.tableIdentifier()
            return frozenset(paths | ({str(table.get().unquotedString())} if table.isDefined() else set()))
        case "BatchScanExec":
            return frozenset({str(leaf.table().name())})
        case "RowDataSourceScanExec":
            # Such a scan has no dataset name of its own; its connector may have one, in `Scanned`.
            return frozenset()
        case _:
            return None


def _metrics(node: Any) -> dict[str, int]:
    return {name: int(metric.value()) for name, metric in pairs(node.metrics())}


def executions_of(execution: Any, function: str) -> Iterator[Any]:
    """Yield each command of an execution as an execution of its own; an execution with one command yields itself.

    `FROM … INSERT INTO … INSERT INTO …` has several commands, which Spark runs and reports as one.

    Args:
        execution: the JVM's `QueryExecution`.
    """
    if function != _SEVERAL or class_name(execution.analyzed()) != "Union":
        yield execution
        return
    for number in range(int(execution.analyzed().children().size())):
        yield _Part(execution, number)


def _uncompiled(node: Any) -> Any:
    """Unwrap a node from code generation: since Spark 4.3 a union may be compiled."""
    while class_name(node) in ("WholeStageCodegenExec", "InputAdapter"):
        node = node.child()
    return node


class _Part:
    """View of a `QueryExecution` that shows one of its several commands."""

    def __init__(self, execution: Any, number: int) -> None:
        self._execution = execution
        self._number = number

    def analyzed(self) -> Any:
        """Return the command."""
        return self._execution.analyzed().children().apply(self._number)

    def executedPlan(self) -> Any:
        """Return the plan of this branch of the union."""
        union = _uncompiled(opened(self._execution.executedPlan()))
        return _uncompiled(union.children().apply(self._number))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._execution, name)


_LITERAL: Final = re.compile(
    r"--[^\n]*|/\*.*?\*/"  # comments, which may contain quotes
    r"|(?P<literal>[rR](?:'[^']*'|\"[^\"]*\")|'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.|\"\")*\""
    r"|(?:\d+\.?\d*|\.\d+)(?:[eE][+\-]?\d+)?[a-zA-Z]{0,2}\b)"
    r"|`(?:[^`]|``)*`|[A-Za-z_]\w*",  # names, which may contain digits
    re.DOTALL,
)
REJECTED: Final = "rows_rejected"
"""Metric of `DataFrame.observe` that counts rows rejected for their content."""


def statement_of(execution: Any, *, literals: bool) -> str | None:
    """Return the SQL text of an execution's statement, or of the query whose rows it writes.

    Args:
        execution: the JVM's `QueryExecution`.
        literals: True to keep literals; else each is `?`, and comments are left out.
    """
    plan = execution.analyzed()
    text = option(plan.origin().sqlText())
    if text is None:
        inner = next(iter(items(plan.innerChildren())), None) or next(iter(items(plan.children())), None)
        text = option(inner.origin().sqlText()) if inner is not None else None
    if text is None:
        return None
    return str(text) if literals else without_literals(str(text))


def without_literals(sql: str) -> str:
    """Replace each literal of a SQL text by `?`, and drop comments.

    `WHERE city = 'Oslo' AND id > 7 -- Ada` ⇒ `WHERE city = ? AND id > ? `
    """

    def replacement(found: re.Match[str]) -> str:
        if found["literal"] is not None:
            return "?"
        return "" if found[0].startswith(("--", "/*")) else found[0]

    return _LITERAL.sub(replacement, sql)


def observed_metrics(execution: Any) -> dict[str, Mapping[str, Any]]:
    """Return the metrics of `DataFrame.observe` in an execution, by the observation's name.

    Takes two round trips if there are none.

    Args:
        execution: the JVM's `QueryExecution`, which has run.
    """
    metrics = execution.observedMetrics()
    if metrics.isEmpty():
        return {}
    return {name: json.loads(str(row.json())) for name, row in pairs(metrics)}


def rows_rejected(observed: Mapping[str, Mapping[str, Any]]) -> int | None:
    """Return the sum of all metrics named `rows_rejected`; None if there is none."""
    counts = [metrics[REJECTED] for metrics in observed.values() if REJECTED in metrics]
    whole = [count for count in counts if isinstance(count, int) and not isinstance(count, bool) and count >= 0]
    return sum(whole) if whole else None
