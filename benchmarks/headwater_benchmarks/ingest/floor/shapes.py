"""Three ways to put the final graph into transactions.

Each is a list of phases. What a phase needs is there when the one before is committed, and its transactions may be
committed in any order, or two at a time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, LiteralString, NamedTuple, TypeVar

from headwater_benchmarks.ingest.floor.graph import AnyLabel, FinalGraph, Kind, Packed, Properties
from headwater_benchmarks.ingest.floor.statements import create_nodes, create_owners, create_relationships, other_end
from headwater_graph.facts.model import Label
from headwater_graph.write.transaction import Index


class Commit(NamedTuple):
    """One transaction of one statement."""

    text: LiteralString
    parameters: dict[str, Any]


Phase = list[Commit]
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Shape:
    """A way to write the graph.

    Attributes:
        name: for the report.
        phases: of a graph, with so many rows in a transaction.
        sessions: how many commit at once.
    """

    name: str
    phases: Callable[[FinalGraph, int], list[Phase]]
    sessions: int = 1


# Nearly every relationship ties a node to one of a label before it.
_ORDER: tuple[AnyLabel, ...] = (
    *(Label.JOB, Label.DATASET, Label.QUERY, Label.PLAN, Label.VERSION, Label.SCHEMA_VERSION),
    *(Label.ALIAS, Label.COLUMN, Label.RUN, Label.INTERVAL, Label.CONFLICT, Packed.SEGMENT),
)


def by_kind(graph: FinalGraph, rows: int) -> list[Phase]:
    """A statement for each label, then one for each kind of relationship."""
    nodes = [_commits(create_nodes(label), graph.nodes[label], rows) for label in _ORDER if label in graph.nodes]
    return [*nodes, *_relationships(graph, sorted(graph.relationships), rows)]


def by_owner(graph: FinalGraph, rows: int) -> list[Phase]:
    """A statement for each label that creates a node with all that ties it to nodes of labels before it."""
    tied: dict[AnyLabel, list[Kind]] = defaultdict(list)
    for kind in sorted(graph.relationships):
        if kind.start is not kind.end:
            tied[max(kind.start, kind.end, key=_ORDER.index)].append(kind)
    phases = [_owners(graph, label, tied[label], rows) for label in _ORDER if label in graph.nodes]
    return [*phases, *_relationships(graph, sorted(k for k in graph.relationships if k.start is k.end), rows)]


SHAPES = (
    Shape("a statement per kind", by_kind),
    Shape("fused owner statement", by_owner),
    Shape("fused owner statement, two sessions", by_owner, sessions=2),
)


def parts(rows: Sequence[R], size: int) -> Iterator[Sequence[R]]:
    """One after the other, so many at a time."""
    return (rows[at : at + size] for at in range(0, len(rows), size))


def _relationships(graph: FinalGraph, kinds: Sequence[Kind], rows: int) -> Iterator[Phase]:
    for kind in kinds:
        each = [relationship._asdict() for relationship in graph.relationships[kind]]
        yield _commits(create_relationships(kind), each, rows)


def _commits(text: LiteralString, rows: Sequence[Properties], size: int) -> Phase:
    return [Commit(text, {"rows": part}) for part in parts(rows, size)]


def _owners(graph: FinalGraph, label: AnyLabel, kinds: Sequence[Kind], size: int) -> Phase:
    ties = [_ties(graph, label, kind) for kind in kinds]
    text = create_owners(label, kinds)
    phase: Phase = []
    for part in parts(graph.nodes[label], size):
        places = {other_end(label, kind): Index() for kind in kinds}
        rows = []
        for node in part:
            row: dict[str, Any] = {"node": node}
            for place, (kind, of) in enumerate(zip(kinds, ties, strict=True)):
                index, tied = places[other_end(label, kind)], of.get(node["key"], ())
                row[f"r{place}"] = [{"at": index.at(key), "properties": properties} for key, properties in tied]
            rows.append(row)
        phase.append(Commit(text, {"rows": rows, **{other.value: index.keys for other, index in places.items()}}))
    return phase


def _ties(graph: FinalGraph, label: AnyLabel, kind: Kind) -> dict[str, list[tuple[str, Properties]]]:
    """List each owner's relationships of a kind: keys of the other ends, with the properties."""
    found: dict[str, list[tuple[str, Properties]]] = defaultdict(list)
    for start, end, properties in graph.relationships[kind]:
        owner, other = (start, end) if kind.start is label else (end, start)
        found[owner].append((other, properties))
    return found
