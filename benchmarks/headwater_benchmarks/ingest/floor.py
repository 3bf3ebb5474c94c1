"""Floor: maximum throughput of the database. The same driver writes the same final graph, prepared in memory.

The floor has no Kafka, decoding, merging, reading or repeated writes: it uses only `CREATE`, with a node for each
micro-batch. A statement for each label creates nodes together with their relationships to nodes of earlier labels, 500
nodes in a transaction, from two sessions at once. Constraints, indexes and properties are the same as the consumer's.
"""

from __future__ import annotations

import gc
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, LiteralString, NamedTuple

from headwater_benchmarks.servers import DATABASE, Database
from headwater_graph.facts.model import PREFIX, Label, RelType
from headwater_graph.fold.builder import Builder
from headwater_graph.fold.fold import fold_event
from headwater_graph.oracle import visit
from headwater_graph.write.bolt import to_bolt
from headwater_graph.write.transaction import Index
from headwater_schemas.events import LineageEvent

if TYPE_CHECKING:
    from neo4j import ManagedTransaction

_ROWS = 500
_SESSIONS = 2
# Nearly every relationship connects a node to a node of an earlier label.
_ORDER = (
    *(Label.JOB, Label.DATASET, Label.QUERY, Label.PLAN, Label.VERSION, Label.SCHEMA_VERSION),
    *(Label.ALIAS, Label.COLUMN, Label.RUN, Label.INTERVAL, Label.CONFLICT),
)

Properties = dict[str, Any]


class RelationshipKind(NamedTuple):
    """Kind of relationships: a type, with the labels of start and end."""

    type: RelType
    start: Label
    end: Label

    def owner(self) -> Label:
        """Label whose nodes are created together with these relationships: the later label in `_ORDER`."""
        return max(self.start, self.end, key=_ORDER.index)

    def other(self) -> Label:
        """Label at the end opposite to `owner`."""
        return self.end if self.start is self.owner() else self.start


class FloorCommit(NamedTuple):
    """One transaction of one statement."""

    text: LiteralString
    parameters: dict[str, Any]


class FinalGraph:
    """Every node and relationship of a graph (`graph.oracle.GraphVisitor`).

    Attributes:
        nodes: for each label: properties of each node, including `key`.
    """

    def __init__(self, events: Iterable[LineageEvent]) -> None:
        builder = Builder()
        for event in events:
            fold_event(builder, event)
        self.nodes: dict[Label, list[Properties]] = defaultdict(list)
        self._labels: dict[str, Label] = {}
        self._relationships: list[tuple[RelType, str, str, Properties]] = []
        visit(builder.delta, self)

    def node(self, label: Label, properties: Mapping[str, Any]) -> None:
        """Add a node."""
        self._labels[properties["key"]] = label
        self.nodes[label].append(_sent(properties))

    def relationship(self, type_: RelType, start: str, end: str, properties: Mapping[str, Any]) -> None:
        """Add a relationship."""
        self._relationships.append((type_, start, end, _sent(properties)))

    def by_kind(self) -> dict[RelationshipKind, list[tuple[str, str, Properties]]]:
        """For each kind: key of the start, key of the end, and properties of each relationship, sorted by start."""
        found: dict[RelationshipKind, list[tuple[str, str, Properties]]] = defaultdict(list)
        for type_, start, end, properties in sorted(self._relationships, key=lambda each: each[1]):
            found[RelationshipKind(type_, self._labels[start], self._labels[end])].append((start, end, properties))
        return dict(sorted(found.items()))


def phases(graph: FinalGraph) -> list[list[FloorCommit]]:
    """Return the graph's transactions in phases. Earlier phases must be committed before a phase begins.

    There is a phase for each label, and then a phase for each kind of relationship between nodes of one label.
    """
    kinds = graph.by_kind()
    tied: dict[Label, list[RelationshipKind]] = defaultdict(list)
    for kind in kinds:
        if kind.start is not kind.end:
            tied[kind.owner()].append(kind)
    found = [
        list(_nodes(label, graph.nodes[label], {kind: kinds[kind] for kind in tied[label]}))
        for label in _ORDER
        if label in graph.nodes
    ]
    for kind, rows in kinds.items():
        if kind.start is kind.end:
            each = [{"start": start, "end": end, "properties": properties} for start, end, properties in rows]
            found.append([FloorCommit(create_relationships(kind), {"rows": part}) for part in _parts(each)])
    return found


def _nodes(
    label: Label, nodes: Sequence[Properties], kinds: Mapping[RelationshipKind, list[tuple[str, str, Properties]]]
) -> Iterator[FloorCommit]:
    ties: list[dict[str, list[tuple[str, Properties]]]] = []
    for kind, relationships in kinds.items():
        by_owner: dict[str, list[tuple[str, Properties]]] = defaultdict(list)
        for start, end, properties in relationships:
            owner, other = (start, end) if kind.start is label else (end, start)
            by_owner[owner].append((other, properties))
        ties.append(by_owner)
    text = create_nodes(label, list(kinds))
    for part in _parts(nodes):
        indexes = {kind.other(): Index() for kind in kinds}
        rows = []
        for node in part:
            row: dict[str, Any] = {"node": node}
            for number, (kind, by_owner) in enumerate(zip(kinds, ties, strict=True)):
                index = indexes[kind.other()]
                tied = by_owner.get(node["key"], ())
                row[f"r{number}"] = [{"at": index.at(key), "properties": properties} for key, properties in tied]
            rows.append(row)
        yield FloorCommit(text, {"rows": rows, **{other.value: index.keys for other, index in indexes.items()}})


def create_relationships(kind: RelationshipKind) -> LiteralString:
    """Statement that creates relationships of one kind. Each of `$rows` has `start`, `end` (keys) and `properties`."""
    return (
        "UNWIND $rows AS row "
        f"MATCH (a:{PREFIX}{kind.start} {{key: row.start}}) MATCH (b:{PREFIX}{kind.end} {{key: row.end}}) "
        f"CREATE (a)-[r:{kind.type}]->(b) SET r = row.properties"
    )


def create_nodes(label: Label, kinds: Sequence[RelationshipKind]) -> LiteralString:
    """Statement that creates nodes of one label, with their relationships to nodes that exist already.

    Each of `$rows` has the properties of a node, `node`, and for the i-th kind a list `r<i>` of maps with `at` and
    `properties`. `$<label of the other end>` is a list of keys; `at` is the index of the other end's key in this list.
    So each key is looked up once per statement. The text contains only labels and types, which are closed enums.
    """
    others = dict.fromkeys(kind.other() for kind in kinds)
    parts = [
        f"CALL () {{ UNWIND ${other} AS key MATCH (x:{PREFIX}{other} {{key: key}}) RETURN collect([x]) AS {other}s }}"
        for other in others
    ]
    parts.append(f"UNWIND $rows AS row CREATE (n:{PREFIX}{label}) SET n = row.node")
    for number, kind in enumerate(kinds):
        arrow = f"(n)-[r:{kind.type}]->(x)" if kind.start is label else f"(x)-[r:{kind.type}]->(n)"
        parts.append(
            f"FOREACH (tie IN row.r{number} | FOREACH (x IN {kind.other()}s[tie.at] | "
            f"CREATE {arrow} SET r = tie.properties))"
        )
    return " ".join(parts)


def write_floor(database: Database, transactions: Sequence[Sequence[FloorCommit]]) -> dict[str, float]:
    """Commit all transactions; return the seconds until the last commit, and the processor seconds of both sides.

    The driver retries transient errors, such as a deadlock of two sessions.
    """
    with ExitStack() as stack:
        sessions = [stack.enter_context(database.driver.session(database=DATABASE)) for _ in range(_SESSIONS)]
        pool = stack.enter_context(ThreadPoolExecutor(_SESSIONS))
        # The rows are millions of objects, which Python's garbage collector would examine repeatedly.
        gc.freeze()
        stack.callback(gc.unfreeze)

        def commit(number: int, phase: Sequence[FloorCommit]) -> None:
            for each in phase[number::_SESSIONS]:
                sessions[number].execute_write(_run, each)

        server, client, begun = database.processor_seconds(), time.process_time(), time.monotonic()
        for phase in transactions:
            for done in [pool.submit(commit, number, phase) for number in range(_SESSIONS)]:
                done.result()
        return {
            "seconds": time.monotonic() - begun,
            "client_seconds": time.process_time() - client,
            "neo4j_seconds": database.processor_seconds() - server,
        }


def _run(tx: ManagedTransaction, commit: FloorCommit) -> None:
    tx.run(commit.text, commit.parameters).consume()


def _parts(rows: Sequence[Properties]) -> Iterator[Sequence[Properties]]:
    return (rows[at : at + _ROWS] for at in range(0, len(rows), _ROWS))


def _sent(properties: Mapping[str, Any]) -> Properties:
    return to_bolt({name: value for name, value in properties.items() if value is not None})
