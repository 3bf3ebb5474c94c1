"""A graph that the release before made, migrated: `tests/recordings/graph_version_3` is one, as its Neo4j had it.

`graph.json.gz` has its schema's statements, nodes and relationships (times as microseconds), `dump.jsonl.gz` the lines
that `graph dump` of that release gave.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headwater_consumers.graph.dump import dump
from headwater_consumers.graph.schema import GRAPH_VERSION, GraphVersionMismatch
from headwater_consumers.graph.statements import names, statement
from headwater_consumers.materializer.write import GraphWriter
from headwater_consumers.materializer.write.migration import migrate
from headwater_schemas.identity import from_micros

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = pytest.mark.stack

DATABASE = "neo4j"
RECORDING = Path(__file__).parents[2] / "recordings" / "graph_version_3"
OLD = "MATCH (n) WHERE n:Interval OR n:Conflict RETURN count(n) AS count"


@pytest.fixture
def old_graph(clean_database: Driver) -> Iterator[Driver]:
    recorded = json.loads(gzip.decompress((RECORDING / "graph.json.gz").read_bytes()))
    with clean_database.session() as session:
        for text in recorded["schema"]:
            session.run(text).consume()
        nodes: list[dict[str, Any]] = [
            {"at": at, **node, "properties": _native(node["properties"])} for at, node in enumerate(recorded["nodes"])
        ]
        for label in sorted({label for node in nodes for label in node["labels"]}):
            rows = [node for node in nodes if node["labels"] == [label]]
            session.run(
                f"UNWIND $rows AS row CREATE (n:`{label}` {{_at: row.at}}) SET n += row.properties", rows=rows
            ).consume()
        session.run("CREATE INDEX at IF NOT EXISTS FOR (n:_Recorded) ON (n._at)").consume()
        session.run("MATCH (n) SET n:_Recorded").consume()
        for type_ in sorted({type_ for _, type_, _, _ in recorded["relationships"]}):
            ends = [[a, b, _native(of)] for a, found, b, of in recorded["relationships"] if found == type_]
            session.run(
                "UNWIND $rows AS row MATCH (a:_Recorded {_at: row[0]}) MATCH (b:_Recorded {_at: row[1]}) "
                f"CREATE (a)-[r:`{type_}`]->(b) SET r = row[2]",
                rows=ends,
            ).consume()
        session.run("MATCH (n:_Recorded) REMOVE n:_Recorded, n._at").consume()
        session.run("DROP INDEX at").consume()
    yield clean_database
    with clean_database.session() as session:
        for name in names("migrate"):
            if name.startswith("drop_"):
                session.run(statement("migrate", name)).consume()


def _native(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        name: from_micros(value["time"]) if isinstance(value, dict) else value for name, value in properties.items()
    }


def recorded_dump() -> list[str]:
    return gzip.decompress((RECORDING / "dump.jsonl.gz").read_bytes()).decode().splitlines()


def test_the_same_graph_in_segments(old_graph: Driver) -> None:
    seen: list[tuple[int, int]] = []
    moved = migrate(old_graph, DATABASE, lambda done, total: seen.append((done, total)))
    assert seen[0] == (0, moved)
    assert seen[-1] == (moved, moved)
    assert len(seen) > 5
    assert list(dump(old_graph, internal=True)) == recorded_dump()
    with old_graph.session() as session:
        assert session.run(OLD).single(strict=True)["count"] == 0
        made = {row["name"] for row in session.run("SHOW INDEXES YIELD name")}
        made |= {row["name"] for row in session.run("SHOW CONSTRAINTS YIELD name")}
    assert not {name for name in made if "interval" in name or "conflict" in name or "next" in name}
    GraphWriter(old_graph, DATABASE).ensure_schema()
    assert migrate(old_graph, DATABASE, lambda done, total: None) == 0


@pytest.mark.parametrize("seed", range(3))
def test_continued_where_it_ended(old_graph: Driver, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    dice = random.Random(seed)

    def interrupt(done: int, total: int) -> None:
        if dice.random() < 0.5:
            raise KeyboardInterrupt

    for _ in range(100):
        try:
            migrate(old_graph, DATABASE, interrupt)
            break
        except KeyboardInterrupt:
            # Neither release writes into a graph that is half migrated.
            with pytest.raises(GraphVersionMismatch, match="graph migrate"):
                GraphWriter(old_graph, DATABASE).ensure_schema()
            with old_graph.session() as session:
                record = session.run("MATCH (v:HeadwaterGraph) RETURN v.version AS version").single(strict=True)
            assert record["version"] == GRAPH_VERSION
    assert list(dump(old_graph, internal=True)) == recorded_dump()


def test_a_graph_that_no_release_can_migrate_stays_as_it_is(old_graph: Driver) -> None:
    with old_graph.session() as session:
        session.run("MATCH (v:HeadwaterGraph) SET v.version = 2").consume()
        before = session.run(OLD).single(strict=True)["count"]
    with pytest.raises(GraphVersionMismatch, match=r"version 2 .* graph rebuild"):
        migrate(old_graph, DATABASE, lambda done, total: None)
    with old_graph.session() as session:
        assert session.run(OLD).single(strict=True)["count"] == before
