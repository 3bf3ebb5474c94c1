"""Output frame described for a review: schema, lineage, and signatures of rows and columns.

The signature of the rows is the signature of the plan without columns. The signature of a column is the signature of
the plan with only this column. So a changed column changes only its own signature, and a changed filter changes all
signatures. A value (`values`) doesn't include the rows: with another filter, it differs only if its expression differs.
Values are compared per member, e.g. per field of a struct.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from headwater_dry_run.plans import unsorted
from headwater_dry_run.signature import (
    UnreadableError,
    Unwritten,
    column_signatures,
    has_now,
    signature,
)
from headwater_dry_run.sources import Sources
from headwater_dry_run.values import Value, values_of
from headwater_producers.spark.connectors.rdd import FRAME, LOCAL
from headwater_producers.spark.connectors.registry import REGISTRY
from headwater_producers.spark.explain import LineageExplanation, LineageSource, explain_lineage
from headwater_producers.spark.jvm.scala import class_name, items, option
from headwater_producers.spark.plan.schema import quoted
from headwater_producers.spark.plan.settings import PlanSettings
from headwater_producers.spark.plan.tree import Nodes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MOST_COLUMNS: Final = 100
"""Maximum number of columns with their own plan; with more columns, all share one plan."""
_SHAPES: Final = {
    "Distinct": "DISTINCT",
    "Deduplicate": "DISTINCT",
    "DeduplicateWithinWatermark": "DISTINCT within the watermark",
    "Union": "UNION",
    "Intersect": "INTERSECT",
    "Except": "EXCEPT",
}
_SETTINGS: Final = (
    "spark.sql.ansi.enabled",
    "spark.sql.session.timeZone",
    "spark.sql.caseSensitive",
    "spark.sql.storeAssignmentPolicy",
    "spark.sql.legacy.timeParserPolicy",
    "spark.sql.mapKeyDedupPolicy",
)


class Frames:
    """Describer of frames."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._rows: dict[int, str] = {}
        self._functions: dict[int, str] = {}

    def record_values_digest(self, frame: DataFrame, digest: str) -> None:
        """Record the digest of the values from which the script created a frame."""
        for leaf in items(frame._jdf.queryExecution().analyzed().collectLeaves()):
            if class_name(leaf) == FRAME:
                self._rows[self._identity(leaf.rdd())] = digest

    def record_function_digest(self, function: Any, digest: str) -> None:
        """Record the digest of a JVM function object."""
        self._functions[self._identity(function)] = digest

    def described(self, frame: DataFrame) -> dict[str, Any]:
        """Describe a frame for comparison; `complete` is false, with a `reason`, if a part is unknown."""
        names = frame.schema.fieldNames()
        found: dict[str, Any] = {"rows": None, "columns": {}, "together": {}, "values": {}}
        found |= self.texts(frame)
        problems: list[str] = []
        frame = unsorted(self._sources.session, frame)
        try:
            found["rows"] = self._signature(frame.select())
            together, values = self.signatures_of(frame)
            found["together"] = dict(zip(names, together, strict=True))
            found["values"] = dict(
                found for name, each in zip(names, values, strict=True) for found in each.digests(quoted(name))
            )
            if len(names) <= MOST_COLUMNS:
                found["columns"] = {name: self._signature(frame.select(_in_sql(name))) for name in names}
        except UnreadableError as error:
            problems.append(str(error))
        # Signatures cover the whole plan: with incomplete lineage only the texts are incomplete.
        found["complete"], found["reason"] = not problems, "; ".join(problems) or None
        found["settings"] = self.settings()
        return found

    def settings(self) -> dict[str, str | None]:
        """Return the session's settings that change the meaning of expressions."""
        return {name: self._sources.session.conf.get(name, None) for name in _SETTINGS}

    def texts(self, frame: DataFrame) -> dict[str, Any]:
        """Return texts for people: expression and source fields of each output column path; influences on the rows."""
        explained = explain_lineage(frame, settings=PlanSettings(encoded=True), encoded=True)
        described = _texts(explained, self._sources)
        described["influences"] += _shapes(frame._jdf.queryExecution().analyzed())
        return described

    def signature_of(self, frame: DataFrame, column: str | None = None) -> str:
        """Return the signature of one column, or of the rows.

        Raises:
            UnreadableError: the frame has no signature.
        """
        frame = unsorted(self._sources.session, frame)
        return self._signature(frame.select() if column is None else frame.select(_in_sql(column)))

    def signatures_of(self, frame: DataFrame) -> tuple[list[str], list[Value]]:
        """Return signatures and values of all columns, from one plan; see `column_signatures` and `values_of`.

        Raises:
            UnreadableError: the frame has no signature.
        """
        plan = self._optimized(frame)
        return column_signatures(*plan), values_of(*plan, self._sources.values)

    def _signature(self, frame: DataFrame) -> str:
        return signature(*self._optimized(frame))

    def _optimized(self, frame: DataFrame) -> tuple[Nodes, str, Unwritten]:
        """Return the plan's JSON, its text, and the parts that the JSON lacks."""
        analyzed = frame._jdf.queryExecution().analyzed()
        # The query's own optimized plan doesn't work: for a stream, Spark raises an error; for a cached frame, the plan
        # has the cache instead of the plan behind it.
        plan = self._sources.session._jsparkSession.sessionState().optimizer().execute(analyzed)
        text = str(plan.toJSON())
        functions = self._called_functions(plan) if ".PythonUD" in text else {}
        now = time.time() if has_now(str(analyzed.toJSON())) else None
        names, origins = self._leaves(plan)
        leaves = Unwritten(names, functions, self._sources.streams, origins, now)
        printed = str(plan.toString()).replace(str(self._sources.scratch), "")
        return json.loads(text), printed, leaves

    def _leaves(self, plan: Any) -> tuple[dict[tuple[str, int], str], dict[str, str]]:
        """Return names of sources by leaf (see `Unwritten.names`), and origins (sources without options) by name."""
        names: dict[tuple[str, int], str] = {}
        origins: dict[str, str] = {}
        for leaf in REGISTRY.leaves(plan):
            output = leaf.output()
            if output.isEmpty():
                continue
            name, origin = self._leaf(leaf, class_name(leaf))
            if name:
                names[class_name(leaf), int(output.head().exprId().id())] = name
                origins[name] = origin
        return names, origins

    def _leaf(self, leaf: Any, kind: str) -> tuple[str, str]:
        """Return a leaf's source, and its origin: the source without its read options. Empty if unknown."""
        if kind == LOCAL:
            return f"values[{leaf.data()}]", "values"
        if kind == FRAME:
            digest = self._rows.get(self._identity(leaf.rdd()))
            return ("", "") if digest is None else (f"rows[{digest}]", "rows")
        if kind == "StreamingRelation":
            return self._folder(str(leaf.sourceName()).removeprefix("FileSource[").rstrip("]"))
        if kind == "LogicalRelation":
            folders = sorted(self._folder(str(path)) for path in items(leaf.relation().location().rootPaths()))
            return "+".join(name for name, _ in folders), "+".join(origin for _, origin in folders)
        return "", ""

    def _folder(self, path: str) -> tuple[str, str]:
        source = self._sources.of_folder(path)
        if source is None:
            name = path.replace(f"file:{self._sources.scratch}", "").replace(str(self._sources.scratch), "")
            return name, name
        return self._sources.identities.get(source.name, f"{source} {source.options}".rstrip()), str(source)

    def _called_functions(self, plan: Any) -> dict[int, str]:
        """Return the digest of each Python function that a plan calls, by the number of its result."""
        digests: dict[int, str] = {}
        for operator in _operators(plan):
            for expression in items(operator.expressions()):
                for each in _expressions(expression):
                    if class_name(each) in {"PythonUDF", "PythonUDAF"}:
                        digest = self._functions.get(self._identity(each.func()))
                        if digest is not None:
                            digests[int(each.resultId().id())] = digest
        return digests

    def _identity(self, object_: Any) -> int:
        jvm: Any = self._sources.session._jvm
        return int(jvm.System.identityHashCode(object_))


def _shapes(plan: Any) -> Iterator[str]:
    """Yield row-shaping operators: kinds of joins, DISTINCT, LIMIT, sampling."""
    for operator in _operators(plan):
        kind = class_name(operator)
        if kind == "Join":
            condition = option(operator.condition())
            text = "" if condition is None else f": {' '.join(str(condition.sql()).split())}"
            yield f"{operator.joinType().sql()!s} JOIN{text}"
        elif kind in _SHAPES:
            yield _SHAPES[kind]
        elif kind in {"GlobalLimit", "Offset"}:
            yield f"{'LIMIT' if kind == 'GlobalLimit' else 'OFFSET'} {operator.expressions().head().sql()}"
        elif kind == "Sample":
            yield f"SAMPLE from {operator.lowerBound():g} to {operator.upperBound():g}"


def _operators(plan: Any) -> Iterator[Any]:
    waiting = [plan, *items(plan.subqueriesAll())]
    while waiting:
        operator = waiting.pop()
        yield operator
        waiting.extend(items(operator.children()))


def _expressions(expression: Any) -> Iterator[Any]:
    waiting = [expression]
    while waiting:
        each = waiting.pop()
        yield each
        waiting.extend(items(each.children()))


def _in_sql(name: str) -> str:
    return f"`{name.replace('`', '``')}`"


def _texts(explanation: LineageExplanation, sources: Sources) -> dict[str, Any]:
    """Return expressions and source fields by output path, influences on the rows, and why some fields are missing."""
    expressions: dict[str, str] = {}
    read: dict[str, list[dict[str, Any]]] = {}
    for output in explanation.outputs:
        direct = [each for each in output.sources if each.type == "DIRECT"]
        read[output.path] = [found for each in direct for found in _read(each, sources)]
        texts = {each.expression for each in direct if each.expression}
        plain = [_source_text(each, sources) for each in direct]
        expressions[output.path] = "; ".join(sorted(texts)) or ", ".join(filter(None, plain)) or "a constant"
    rows = sorted({f"{each.subtype or each.kind}: {each.expression or each.path}" for each in explanation.influences})
    rows += sources.read_with()
    unread = None if explanation.complete else explanation.incomplete_reason or "its lineage is incomplete"
    return {"expressions": expressions, "influences": rows, "read": read, "unread": unread}


def _read(each: LineageSource, sources: Sources) -> list[dict[str, Any]]:
    """Describe the source field of a value, with its steps in order.

    If the source is the rows of a foreachBatch, return the source fields of the stream's column instead, each with this
    step added at the end.
    """
    source = sources.of_folder(each.name or "")
    if source is None or each.path is None:
        return []
    step = {"kind": each.kind, "masking": each.masking, "expression": each.expression, "field": each.path}
    if source.kind == "stream":
        return [
            {**found, "steps": [*found["steps"], step]}
            for found in sources.read.get(source.name, {}).get(each.path, ())
        ]
    return [{"source": source.kind, "name": source.name, "field": each.path, "steps": [step]}]


def _source_text(each: LineageSource, sources: Sources) -> str:
    source = sources.of_folder(each.name or "")
    return f"{each.path or '*'} of {source.name if source else each.name}" if each.name else ""
