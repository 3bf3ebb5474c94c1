"""The floor's statements. Their texts contain only values of `Label`, `Packed` and `RelType`, closed enums."""

from __future__ import annotations

from collections.abc import Sequence
from typing import LiteralString

from headwater_benchmarks.ingest.floor.graph import AnyLabel, Kind
from headwater_graph.facts.model import PREFIX


def create_nodes(label: AnyLabel) -> LiteralString:
    """Create nodes of one label. `$rows` has their properties."""
    return f"UNWIND $rows AS row CREATE (n:{PREFIX}{label}) SET n = row"


def create_relationships(kind: Kind) -> LiteralString:
    """Create relationships of one kind. Each of `$rows` has `start` and `end`, which are keys, and `properties`."""
    return (
        "UNWIND $rows AS row "
        f"MATCH (a:{PREFIX}{kind.start} {{key: row.start}}) MATCH (b:{PREFIX}{kind.end} {{key: row.end}}) "
        f"CREATE (a)-[r:{kind.type}]->(b) SET r = row.properties"
    )


def create_owners(label: AnyLabel, kinds: Sequence[Kind]) -> LiteralString:
    """Create nodes of one label, with their relationships to nodes that exist already.

    Each of `$rows` has the properties of a node, `node`, and for the i-th kind a list `r<i>` of maps with `at` and
    `properties`. `$<label of the other end>` lists keys; `at` is the index of the other end's key in it. So each key is
    looked up once per statement.

    Args:
        label: label of the nodes.
        kinds: kinds of the relationships; each begins or ends at the label.
    """
    others = dict.fromkeys(other_end(label, kind) for kind in kinds)
    parts = [
        f"CALL () {{ UNWIND ${other} AS key MATCH (x:{PREFIX}{other} {{key: key}}) RETURN collect([x]) AS {other}s }}"
        for other in others
    ]
    parts.append(f"UNWIND $rows AS row CREATE (n:{PREFIX}{label}) SET n = row.node")
    for place, kind in enumerate(kinds):
        arrow = f"(n)-[r:{kind.type}]->(x)" if kind.start is label else f"(x)-[r:{kind.type}]->(n)"
        parts.append(
            f"FOREACH (tie IN row.r{place} | FOREACH (x IN {other_end(label, kind)}s[tie.at] | "
            f"CREATE {arrow} SET r = tie.properties))"
        )
    return " ".join(parts)


def other_end(label: AnyLabel, kind: Kind) -> AnyLabel:
    """The label at the other end of a relationship."""
    return kind.end if kind.start is label else kind.start
