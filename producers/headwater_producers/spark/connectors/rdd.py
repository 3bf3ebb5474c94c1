"""Origins of RDDs, as far as the RDDs' dependencies show them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final

from headwater_producers.spark.connectors.connector import Connector
from headwater_producers.spark.connectors.connector_questions import JvmLeaf
from headwater_producers.spark.connectors.registry import REGISTRY
from headwater_producers.spark.jvm.scala import class_name, items
from headwater_producers.spark.plan.column import DirectSource, FieldRef, ValueLineage, combine
from headwater_producers.spark.plan.description import PlanInput, SourceKind, Upstream
from headwater_producers.spark.plan.frames import KnownFrames
from headwater_producers.spark.plan.leaves import Leaf
from headwater_producers.spark.plan.operators.operator import same_for_all
from headwater_producers.spark.plan.relation import Relation, side_by_side
from headwater_schemas import naming
from headwater_schemas.events import TransformationKind as Kind

MAX_RDDS: Final = 200
"""Maximum number of RDDs to follow: each takes about five round trips."""

LOCAL: Final = "LocalRelation"
FRAME: Final = "LogicalRDD"
HANDED_OVER: Final = "rows that the program handed over may come from anywhere"
"""Problem of `createDataFrame` and `parallelize`: plans don't show that rows were collected from a table before."""
_HADOOP: Final = {
    "HadoopRDD": "getJobConf",
    "NewHadoopRDD": "getConf",
    "BinaryFileRDD": "getConf",
    "WholeTextFileRDD": "getConf",
}
_INPUT_PATHS: Final = "mapreduce.input.fileinputformat.inputdir"
# Paths as Hadoop joins them: a comma or backslash in a path is escaped (StringUtils.escapeString).
_PATHS: Final = re.compile(r"(?:\\.|[^,\\])+", re.DOTALL)
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)


@dataclass(slots=True)
class Origins:
    """Origins of an RDD, found along its dependencies.

    Attributes:
        files: inputs of Hadoop's input formats.
        unknown_roots: classes of other roots, whose data is unknown.
        handed_over: True if rows created by the program are at the roots.
    """

    ids: set[int] = field(default_factory=set)
    frames: list[Upstream] = field(default_factory=list)
    files: list[PlanInput] = field(default_factory=list)
    unknown_roots: list[str] = field(default_factory=list)
    handed_over: bool = False

    @property
    def inputs(self) -> tuple[PlanInput, ...]:
        """Datasets at the roots, each once."""
        return tuple(dict.fromkeys([*(i for frame in self.frames for i in frame.inputs), *self.files]))

    @property
    def problems(self) -> list[str]:
        """Reasons why the origins are incomplete, as sentences."""
        own = ["what an RDD is made of isn't in the plan"] if self.unknown_roots else []
        own += [HANDED_OVER] if self.handed_over else []
        return list(dict.fromkeys([*own, *(p for frame in self.frames for p in frame.problems)]))


def origins(rdd: Any, frames: KnownFrames | None = None) -> Origins:
    """Find the origins of a JVM `RDD` along its dependencies, down to known frames or to its roots."""
    found = Origins()
    for number, current, below in _walk(rdd, frames):
        found.ids.add(number)
        frame = frames.of(number) if frames is not None else None
        if frame is not None:
            found.frames.append(frame)
        elif len(found.ids) > MAX_RDDS:
            found.unknown_roots.append("what is beyond")
        elif not below:
            _root(current, found)
    return found


def made_of(rdd: Any, name: str) -> Iterator[Any]:
    """Yield the RDDs of a class among a JVM `RDD` and its dependencies."""
    return (current for _, current, _ in _walk(rdd) if class_name(current) == name)


def _walk(rdd: Any, frames: KnownFrames | None = None) -> Iterator[tuple[int, Any, list[Any]]]:
    """Walk an RDD's dependencies: (id, RDD, direct parents), each once, at most `MAX_RDDS` + 1.

    The dependencies of a known frame aren't followed.
    """
    waiting, seen = [rdd], set[int]()
    while waiting and len(seen) <= MAX_RDDS:
        current = waiting.pop()
        number = int(current.id())
        if number in seen:
            continue
        seen.add(number)
        is_known = frames is not None and frames.of(number) is not None
        below = [] if is_known else [dependency.rdd() for dependency in items(current.dependencies())]
        waiting += below
        yield number, current, below


def _root(rdd: Any, found: Origins) -> None:
    name = class_name(rdd)
    if name == "EmptyRDD":
        return
    if name == "ParallelCollectionRDD":
        found.handed_over = True
        return
    accessor = _HADOOP.get(name)
    paths = getattr(rdd, accessor)().get(_INPUT_PATHS) if accessor is not None else None
    if paths is None:
        found.unknown_roots.append(name)
        return
    for path in _PATHS.findall(str(paths)):
        dataset = naming.path_pattern(_ESCAPED.sub(r"\1", path))
        found.files.append(PlanInput(dataset=dataset, kind=SourceKind.FILE, type="FILE"))


class Rdds(Connector):
    """Connector of RDDs, of rows created by the program, and of frames that became RDDs."""

    classes = frozenset({LOCAL, FRAME, "ExternalRDD", "Transpose"})

    def read(self, leaf: JvmLeaf) -> Leaf | None:
        match class_name(leaf.plan):
            case "Transpose":
                return Leaf(problem="what was transposed isn't in the plan")
            case "LocalRelation":
                found = _local_relation(leaf)
            case "LogicalRDD":
                found = _frame(leaf) or _of_upstream(leaf) or _rdd(leaf)
            case _:
                found = _rdd(leaf)
        return _handed_over(leaf) if found.problem == HANDED_OVER and not found.inputs else found


def rdds_of(plan: Any) -> Iterator[Any]:
    """Yield the JVM RDDs at the leaves of a plan."""
    for leaf in REGISTRY.leaves(plan):
        if class_name(leaf) == FRAME:
            yield leaf.rdd()


def _frame(leaf: JvmLeaf) -> Leaf | None:
    """Read a frame whose rows were saved, such as by `checkpoint()`: it has the RDD's columns, with new ids."""
    frames = leaf.context.frames
    frame = frames.of(int(leaf.plan.rdd().id())) if frames is not None else None
    relation = _renumbered(leaf, frame.relation) if frame is not None else None
    if frame is None or relation is None:
        return None
    return Leaf(inputs=frame.inputs, relation=relation, problem="; ".join(frame.problems) or None)


def _of_upstream(leaf: JvmLeaf) -> Leaf | None:
    """Read the frame of a micro-batch, inside foreachBatch: its attributes keep their ids."""
    upstream = leaf.upstream
    if upstream is None:
        return None
    relation = upstream.relation
    if leaf.first in relation.columns:
        return Leaf(inputs=upstream.inputs, relation=relation)
    # One side of a self-join has new ids, and the RDD belongs to the other side.
    number = leaf.plan.rdd().id()
    if not any(first in relation.columns and other.rdd().id() == number for first, other in leaf.others.items()):
        return None
    renumbered = _renumbered(leaf, relation)
    return Leaf(inputs=upstream.inputs, relation=renumbered) if renumbered else None


def _renumbered(leaf: JvmLeaf, relation: Relation) -> Relation | None:
    attributes = leaf.attributes()
    if [a.name for a in attributes] != [a.name for a in relation.output]:
        return None
    return relation.with_output(
        (replace(old, id=new.id), column)
        for new, old, column in zip(attributes, relation.output, relation.ordered(), strict=True)
    )


def _handed_over(leaf: JvmLeaf) -> Leaf:
    """Read rows created by the program; inside foreachBatch probably from rows that the function collected.

    The source columns are unknown, so the datasets as a whole are the sources.
    """
    if leaf.upstream is None:
        return Leaf(problem=HANDED_OVER)
    inputs = leaf.upstream.inputs
    read = frozenset(each.dataset for each in inputs)
    whole = ValueLineage(frozenset(DirectSource(FieldRef(dataset)) for dataset in read))
    anything = combine([whole], Kind.EXTERNAL, "createDataFrame")
    relation = Relation(rows=read).with_output(same_for_all(leaf.attributes(), anything))
    return Leaf(inputs=inputs, relation=relation, problem=HANDED_OVER)


def _local_relation(leaf: JvmLeaf) -> Leaf:
    """Read rows in the plan itself: SQL's VALUES, which are constants, or small frames created by the program."""
    if leaf.view is not None:
        return _named(leaf, leaf.view)
    if leaf.plan.origin().sqlText().isDefined() or leaf.plan.data().isEmpty():
        return Leaf(kind=Kind.CONSTANT)
    return Leaf(problem=HANDED_OVER)


def _named(leaf: JvmLeaf, view: str) -> Leaf:
    """Name rows created in the program: a temporary view over them makes them a dataset.

    The dataset is named by the view's name and its columns' names: a view of that name with other columns is another
    dataset. Types and rows are left out of the name: they may differ in each run.
    """
    schema = leaf.schema()
    dataset = leaf.context.in_memory(f"{view}-{_digest(field.path for field in schema.fields)}")
    return Leaf(inputs=(PlanInput(dataset=dataset, kind=SourceKind.MEMORY, schema=schema),))


def _digest(names: Iterable[str]) -> str:
    # Paths don't escape the commas and quotes of names; as JSON, two names differ from one that contains both.
    return hashlib.blake2b(json.dumps(list(names)).encode(), digest_size=4).hexdigest()


def _rdd(leaf: JvmLeaf) -> Leaf:
    """Read an RDD: made in the program (`createDataFrame` of a list), from frames and files, or of unknown origin.

    Code has processed its rows: each column may come from every column of the frames, EXTERNAL. A temporary view names
    only rows that the program made itself, never rows that code derived from other data.
    """
    found = origins(leaf.plan.rdd(), leaf.context.frames)
    if leaf.view is not None and not found.inputs and set(found.problems) <= {HANDED_OVER}:
        return _named(leaf, leaf.view)
    problem = "; ".join(found.problems) or None
    if not found.inputs:
        return Leaf(problem=problem) if problem else Leaf(kind=Kind.CONSTANT)
    below = side_by_side(frame.relation for frame in found.frames)
    read = frozenset(item.dataset for item in found.files)
    whole = ValueLineage(frozenset(DirectSource(FieldRef(dataset)) for dataset in read))
    outputs = [column for frame in found.frames for column in frame.relation.ordered()]
    anything = combine([*outputs, whole], Kind.EXTERNAL, "rdd")
    relation = replace(Relation().with_output(same_for_all(leaf.attributes(), anything)), influences=below.influences)
    return Leaf(inputs=found.inputs, relation=replace(relation, rows=below.rows | read), problem=problem)
