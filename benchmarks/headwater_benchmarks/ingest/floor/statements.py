"""The floor's statements. Their texts are made of `Label` and `RelType`, two closed lists, and of nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import LiteralString

from headwater_benchmarks.ingest.floor.graph import Kind
from headwater_consumers.facts.model import Label


def create_nodes(label: Label) -> LiteralString:
    """Nodes of one label. `$rows`: their properties."""
    return f"UNWIND $rows AS row CREATE (n:{label}) SET n = row"


def create_relationships(kind: Kind) -> LiteralString:
    """Relationships of one kind. `$rows`: `start` and `end`, keys, and `properties`."""
    return (
        "UNWIND $rows AS row "
        f"MATCH (a:{kind.start} {{key: row.start}}) MATCH (b:{kind.end} {{key: row.end}}) "
        f"CREATE (a)-[r:{kind.type}]->(b) SET r = row.properties"
    )


def create_owners(label: Label, kinds: Sequence[Kind]) -> LiteralString:
    """Nodes of one label, with the relationships that tie them to nodes which are there already.

    `$rows`: `node`, properties, and for the kind at place i a list `r<i>` of `at` and `properties`; `at` is the place
    of the other end's key in `$<label of that end>`, so that each is looked up once a statement.

    Args:
        label: of the nodes.
        kinds: of the relationships; each begins or ends at the label.
    """
    others = dict.fromkeys(other_end(label, kind) for kind in kinds)
    parts = [
        f"CALL () {{ UNWIND ${other} AS key MATCH (x:{other} {{key: key}}) RETURN collect([x]) AS {other}s }}"
        for other in others
    ]
    parts.append(f"UNWIND $rows AS row CREATE (n:{label}) SET n = row.node")
    for place, kind in enumerate(kinds):
        arrow = f"(n)-[r:{kind.type}]->(x)" if kind.start is label else f"(x)-[r:{kind.type}]->(n)"
        parts.append(
            f"FOREACH (tie IN row.r{place} | FOREACH (x IN {other_end(label, kind)}s[tie.at] | "
            f"CREATE {arrow} SET r = tie.properties))"
        )
    return " ".join(parts)


def other_end(label: Label, kind: Kind) -> Label:
    """The label at the other end of a relationship."""
    return kind.end if kind.start is label else kind.start
