"""Leaves of a JVM plan: the datasets that they read."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from headwater_producers.spark.connectors.catalog.tables import read_other
from headwater_producers.spark.connectors.connector_questions import JvmLeaf
from headwater_producers.spark.connectors.context import SessionContext
from headwater_producers.spark.connectors.kafka.connector import is_of_pattern
from headwater_producers.spark.connectors.rdd import LOCAL
from headwater_producers.spark.connectors.registry import REGISTRY, first_answer
from headwater_producers.spark.jvm.scala import class_name, items, option
from headwater_producers.spark.plan.description import PlanInput, SourceKind, Upstream
from headwater_producers.spark.plan.leaves import Leaf
from headwater_producers.spark.plan.tree import Nodes, PlanNode, expression_id
from headwater_schemas.events import TransformationKind as Kind

logger = logging.getLogger(__name__)

NO_DATASET = frozenset(
    {"OneRowRelation", "Range", "ResolvedIdentifier", "ResolvedTable", "ResolvedNamespace", "ResolvedPersistentView"}
)

# Leaves that refer to another part of the plan.
_REFERENCES = frozenset({"CTERelationRef", "UnionLoopRef"})


class JvmLeaves:
    """Lookup of one plan's leaves, by the expression id of their first attribute.

    Args:
        plan: the JVM's `LogicalPlan`, a command or a query.
        context: the session's context; see `SessionContext`.
        upstream: lineage of the frame that the plan may start from.

    Attributes:
        failures: parts that couldn't be read because of an error, as sentences.
    """

    def __init__(self, plan: Any, context: SessionContext, upstream: Upstream | None = None) -> None:
        self._plan = plan
        self._context = context
        self._upstream = upstream
        self.failures: list[str] = []
        self._leaves: dict[tuple[str, int], Any] = {}
        self._found: dict[tuple[str, int], Leaf] = {}
        self._streams: dict[int, int] = {}
        self._stream_objects: list[Any] = []
        for leaf in REGISTRY.leaves(plan):
            self._note(leaf)

    def find(self, node: PlanNode, view: str | None) -> Leaf:
        """See `Leaves`."""
        if node.name in NO_DATASET:
            return Leaf(kind=Kind.CONSTANT)
        output = node.output()
        first = expression_id(output[0][0]) if output else None
        if first is None:
            problem = None if node.name == LOCAL else f"{node.name} has no columns by which its dataset could be found"
            return Leaf(problem=problem)
        key = (node.name, first)
        if key not in self._found:
            self._found[key] = self._look(key, view)
        leaf = self._found[key]
        if not self._context.settings.encoded:
            return leaf
        texts = {str(tree[0].get("name")) for tree in output if tree[0].get("dataType") in ("string", "binary")}
        return replace(leaf, payloads=leaf.payloads | texts)

    def view(self, node: PlanNode) -> PlanInput | None:
        """See `Leaves`."""
        identifier = (node.get("desc") or {}).get("identifier") or {}
        if node.get("isTempView") or not identifier.get("table"):
            return None
        return self._view(identifier.get("database"), str(identifier["table"]))

    def _view(self, database: str | None, name: str) -> PlanInput:
        # The view's name in CREATE VIEW.
        named = self._context.table(f"{database or 'default'}.{name}", None)
        return PlanInput(dataset=named.ref, kind=SourceKind.TABLE, type="VIEW")

    def inputs(self) -> Iterator[PlanInput]:
        """Yield the datasets of all leaves, without the plan's JSON; none if a format runs the query for itself."""
        leaves = [self._found.setdefault(key, self._look(key, None)) for key in self._leaves]
        if any(leaf.of_format for leaf in leaves):
            return
        for leaf in leaves:
            yield from leaf.inputs
        for view in _operators(self._plan, "View"):
            if not view.isTempView():
                identifier = view.desc().identifier()
                yield self._view(option(identifier.database()), str(identifier.table()))

    def problems(self) -> list[str]:
        """List the reasons why the datasets of leaves that were looked up are unknown, as sentences, each once."""
        looked = (leaf.problem for (name, _), leaf in self._found.items() if name not in _REFERENCES)
        return list(dict.fromkeys(problem for problem in looked if problem is not None))

    def stream_descriptions(self) -> tuple[str, ...]:
        """Return `description` of each of `StreamingQueryProgress.sources`, in order."""
        return tuple(str(stream.toString()) for stream in self._stream_objects)

    def pattern_sources(self) -> tuple[int, ...]:
        """Return the indices of the streaming sources that subscribe to a pattern of topics."""
        return tuple(index for index, stream in enumerate(self._stream_objects) if is_of_pattern(str(stream)))

    def projections(self, node: PlanNode) -> list[list[Nodes]] | None:
        """See `Leaves`."""
        output = node.trees("output")
        wanted = expression_id(output[-1][0]) if output else None
        for found in _operators(self._plan, "Expand"):
            if found.output().last().exprId().id() == wanted:
                return [[json.loads(e.toJSON()) for e in items(row)] for row in items(found.projections())]
        return None

    def _note(self, leaf: Any) -> None:
        output = leaf.output()
        if output.isEmpty():
            return
        self._leaves.setdefault((class_name(leaf), int(output.head().exprId().id())), leaf)
        stream = _stream(leaf)
        if stream is not None:
            # Each stream once, in order of first appearance, as in `StreamingQueryProgress.sources`.
            identity = self._identity(stream)
            if identity not in self._streams:
                self._streams[identity] = len(self._streams)
                self._stream_objects.append(stream)

    def _look(self, key: tuple[str, int], view: str | None) -> Leaf:
        name, first = key
        plan = self._leaves.get(key)
        if plan is None:
            upstream = self._upstream
            if upstream is not None and first in upstream.relation.columns:
                return Leaf(inputs=upstream.inputs, relation=upstream.relation)
            return Leaf(problem=f"what a {name} reads isn't known")
        leaf = JvmLeaf(
            plan=plan,
            context=self._context,
            index=self._index(plan),
            view=view,
            first=first,
            upstream=self._upstream,
            others={number: other for (kind, number), other in self._leaves.items() if kind == name},
        )
        try:
            return first_answer(each.read(leaf) for each in REGISTRY.of(leaf.subject)) or read_other(leaf)
        except Exception as error:
            problem = f"what a {name} reads couldn't be read ({type(error).__name__})"
            logger.debug("lineage capture: %s", problem, exc_info=True)
            self.failures.append(problem)
            return Leaf(problem=problem)

    def _index(self, leaf: Any) -> int | None:
        stream = _stream(leaf)
        if stream is None:
            return None
        return self._streams.get(self._identity(stream))

    def _identity(self, stream: Any) -> int:
        return int(self._context.session._jvm.System.identityHashCode(stream))


def _stream(leaf: Any) -> Any | None:
    match class_name(leaf):
        case "StreamingDataSourceV2ScanRelation" | "StreamingDataSourceV2Relation":
            return leaf.stream()
        case "StreamingExecutionRelation":
            return leaf.source()
    return None


def _operators(plan: Any, name: str) -> Iterator[Any]:
    waiting = REGISTRY.roots(plan)
    while waiting:
        operator = waiting.pop()
        if class_name(operator) == name:
            yield operator
        waiting.extend(items(operator.children()))
        waiting.extend(items(operator.subqueries()))
