"""What the leaves of a JVM plan read."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from headwater_producers.spark.connectors.leaf import JvmLeaf
from headwater_producers.spark.connectors.rdd import HANDED_OVER
from headwater_producers.spark.connectors.roots import leaves_of, roots
from headwater_producers.spark.connectors.sources import SOURCES
from headwater_producers.spark.jvm.scala import class_name, items, option
from headwater_producers.spark.plan.column import Column, Direct, Field, combine
from headwater_producers.spark.plan.description import PlanInput, SourceKind
from headwater_producers.spark.plan.leaves import Leaf
from headwater_producers.spark.plan.operators.operator import same_for_all
from headwater_producers.spark.plan.relation import Relation
from headwater_producers.spark.plan.tree import Node, Nodes, expression_id
from headwater_schemas.events import TransformationKind as Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from headwater_producers.spark.connectors.context import Context
    from headwater_producers.spark.plan.description import Upstream

logger = logging.getLogger(__name__)

NO_DATASET = frozenset(
    {"OneRowRelation", "Range", "ResolvedIdentifier", "ResolvedTable", "ResolvedNamespace", "ResolvedPersistentView"}
)


class JvmLeaves:
    """The leaves of one plan, found by the expression id of their first attribute.

    Args:
        plan: the JVM's `LogicalPlan`, a command or a query.
        context: see there.
        upstream: lineage of frames that the plan may start from.

    Attributes:
        failures: what couldn't be read for an error, as sentences.
    """

    def __init__(self, plan: Any, context: Context, upstream: Upstream | None = None) -> None:
        self._plan = plan
        self._context = context
        self._upstream = upstream
        self.failures: list[str] = []
        self._leaves: dict[tuple[str, int], Any] = {}
        self._found: dict[tuple[str, int], Leaf] = {}
        self._streams: dict[int, int] = {}
        self._stream_objects: list[Any] = []
        for leaf in leaves_of(plan):
            self._note(leaf)

    def find(self, node: Node, view: str | None) -> Leaf:
        """See `Leaves`."""
        if node.name in NO_DATASET:
            return Leaf(kind=Kind.CONSTANT)
        output = node.output()
        first = expression_id(output[0][0]) if output else None
        if first is None:
            return Leaf(problem=None if node.name == "LocalRelation" else f"{node.name} has no columns to know it by")
        key = (node.name, first)
        if key not in self._found:
            self._found[key] = self._look(key, view)
        return self._found[key]

    def view(self, node: Node) -> PlanInput | None:
        """See `Leaves`."""
        identifier = (node.get("desc") or {}).get("identifier") or {}
        if node.get("isTempView") or not identifier.get("table"):
            return None
        return self._view(identifier.get("database"), str(identifier["table"]))

    def _view(self, database: str | None, name: str) -> PlanInput:
        # As CREATE VIEW names it.
        named = self._context.table(f"{database or 'default'}.{name}", None)
        return PlanInput(dataset=named.ref, kind=SourceKind.TABLE, type="VIEW")

    def inputs(self) -> Iterator[PlanInput]:
        """The datasets of all leaves, without the plan's JSON."""
        for key in self._leaves:
            yield from self._found.setdefault(key, self._look(key, None)).inputs
        for view in _operators(self._plan, "View"):
            if not view.isTempView():
                identifier = view.desc().identifier()
                yield self._view(option(identifier.database()), str(identifier.table()))

    def stream_descriptions(self) -> tuple[str, ...]:
        """`description` of each of `StreamingQueryProgress.sources`, in order."""
        return tuple(str(stream.toString()) for stream in self._stream_objects)

    def pattern_sources(self) -> tuple[int, ...]:
        """Indices of the streaming sources that subscribe to a pattern of topics."""
        return tuple(index for index, stream in enumerate(self._stream_objects) if "[SubscribePattern[" in str(stream))

    def projections(self, node: Node) -> list[list[Nodes]] | None:
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
            # Order of first appearance, each once: that of `StreamingQueryProgress.sources`.
            identity = self._identity(stream)
            if identity not in self._streams:
                self._streams[identity] = len(self._streams)
                self._stream_objects.append(stream)

    def _look(self, key: tuple[str, int], view: str | None) -> Leaf:
        name, first = key
        leaf = self._leaves.get(key)
        known = self._known(leaf, name, first)
        if known is not None:
            return known
        rule = SOURCES.get(name)
        if leaf is None or rule is None:
            return Leaf(problem=f"what a {name} reads isn't known")
        try:
            found = rule(JvmLeaf(leaf, self._context, self._index(leaf), view))
            return self._handed_over(leaf) if found.problem == HANDED_OVER and not found.inputs else found
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

    def _known(self, leaf: Any, name: str, first: int) -> Leaf | None:
        if name != "LogicalRDD":
            return None
        if (frame := self._frame(leaf)) is not None:
            return frame
        if self._upstream is None:
            return None
        relation = self._upstream.relation
        if first in relation.columns:
            return Leaf(inputs=self._upstream.inputs, relation=relation)
        # One side of a self-join has new ids, and the RDD of the side that hasn't.
        if leaf is None:
            return None
        twin = self._twin(leaf, relation.columns)
        if twin is None:
            return None
        renumbered = _renumbered(leaf, relation, self._context)
        return Leaf(inputs=self._upstream.inputs, relation=renumbered) if renumbered else None

    def _handed_over(self, leaf: Any) -> Leaf:
        """Rows that the program made: in a foreachBatch function of what it collected, as like as not.

        Of which columns nothing tells, so it is the datasets as a whole.
        """
        if self._upstream is None:
            return Leaf(problem=HANDED_OVER)
        inputs = self._upstream.inputs
        read = frozenset(each.dataset for each in inputs)
        whole = Column(frozenset(Direct(Field(dataset)) for dataset in read))
        anything = combine([whole], Kind.EXTERNAL, "createDataFrame")
        relation = Relation(rows=read).with_output(same_for_all(JvmLeaf(leaf, self._context).attributes(), anything))
        return Leaf(inputs=inputs, relation=relation, problem=HANDED_OVER)

    def _frame(self, leaf: Any) -> Leaf | None:
        """A frame that was kept, as `checkpoint()` does: its columns are the RDD's, under ids of the leaf's own."""
        frames = self._context.frames
        frame = frames.of(int(leaf.rdd().id())) if frames is not None and leaf is not None else None
        relation = _renumbered(leaf, frame.relation, self._context) if frame is not None else None
        if frame is None or relation is None:
            return None
        return Leaf(inputs=frame.inputs, relation=relation, problem="; ".join(frame.problems) or None)

    def _twin(self, leaf: Any, columns: Mapping[int, object]) -> Any | None:
        rdd = leaf.rdd().id()
        for (name, first), other in self._leaves.items():
            if name == "LogicalRDD" and first in columns and other.rdd().id() == rdd:
                return other
        return None


def _renumbered(leaf: Any, relation: Relation, context: Context) -> Relation | None:
    attributes = JvmLeaf(leaf, context).attributes()
    if [a.name for a in attributes] != [a.name for a in relation.output]:
        return None
    return relation.with_output(
        (replace(old, id=new.id), column)
        for new, old, column in zip(attributes, relation.output, relation.ordered(), strict=True)
    )


def _stream(leaf: Any) -> Any | None:
    match class_name(leaf):
        case "StreamingDataSourceV2ScanRelation" | "StreamingDataSourceV2Relation":
            return leaf.stream()
        case "StreamingExecutionRelation":
            return leaf.source()
    return None


def _operators(plan: Any, name: str) -> Iterator[Any]:
    waiting = roots(plan)
    while waiting:
        operator = waiting.pop()
        if class_name(operator) == name:
            yield operator
        waiting.extend(items(operator.children()))
        waiting.extend(items(operator.subqueries()))
