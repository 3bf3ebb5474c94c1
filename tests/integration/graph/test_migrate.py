"""Graphs that earlier releases made, migrated: `tests/recordings/graph_version_3` and `…_4`, as their Neo4j had them.

`graph.json.gz` has the schema's statements, nodes and relationships (times as microseconds), `dump.jsonl.gz` the lines
that `graph dump` of that release gave.
"""

from __future__ import annotations

import base64
import gzip
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headwater_consumers.graph.dump import dump
from headwater_consumers.graph.schema import GRAPH_VERSION, MIGRATES_FROM, GraphVersionMismatch
from headwater_consumers.graph.segments import blocks
from headwater_consumers.graph.statements import names, statement
from headwater_consumers.materializer.write import GraphWriter, migration
from headwater_consumers.materializer.write.migration import migrate
from headwater_schemas.identity import from_micros
from support.gate import first_in_gate

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = pytest.mark.stack

DATABASE = "neo4j"
RECORDINGS = Path(__file__).parents[2] / "recordings"
COUNT = "MATCH (n) RETURN count(n) AS count"
OLD = "MATCH (n) WHERE n:Interval OR n:Conflict RETURN count(n) AS count"


@pytest.fixture(params=first_in_gate(1, sorted(MIGRATES_FROM, reverse=True)))
def version(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture
def old_graph(clean_database: Driver, version: int) -> Iterator[Driver]:
    recorded = json.loads(gzip.decompress((folder(version) / "graph.json.gz").read_bytes()))
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
    return {name: _cell(value) for name, value in properties.items()}


def _cell(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return from_micros(value["time"]) if "time" in value else base64.b64decode(value["bytes"])


def folder(version: int) -> Path:
    return RECORDINGS / f"graph_version_{version}"


def recorded_dump(version: int) -> list[str]:
    return gzip.decompress((folder(version) / "dump.jsonl.gz").read_bytes()).decode().splitlines()


def closed_blocks(graph: Driver) -> list[bytes]:
    rows = graph.execute_query("MATCH (s:Segment) RETURN properties(s) AS properties").records
    return [bytes(value) for row in rows for name, value in row["properties"].items() if name.startswith("_block_")]


def test_the_same_graph(old_graph: Driver, version: int) -> None:
    old_blocks = closed_blocks(old_graph)
    assert (version == 3) == (not old_blocks)
    seen: list[tuple[int, int]] = []
    moved = migrate(old_graph, DATABASE, lambda done, total: seen.append((done, total)))
    total = seen[0][1]
    assert seen[0] == (0, total)
    assert seen[-1] == (total, total)
    # Segments without a full block are stored as before.
    assert moved == total if version == 3 else 0 < moved <= total
    assert len(seen) > (5 if version == 3 else 1)
    assert list(dump(old_graph, internal=True)) == recorded_dump(version)
    for block in old_blocks:
        with pytest.raises(blocks.DAMAGE):
            blocks.read_closed(block)
    assert sum(map(len, closed_blocks(old_graph))) < sum(map(len, old_blocks)) or version == 3
    with old_graph.session() as session:
        assert session.run(OLD).single(strict=True)["count"] == 0
        made = {row["name"] for row in session.run("SHOW INDEXES YIELD name")}
        made |= {row["name"] for row in session.run("SHOW CONSTRAINTS YIELD name")}
    assert not {name for name in made if "interval" in name or "conflict" in name or "next" in name}
    GraphWriter(old_graph, DATABASE).ensure_schema()
    assert migrate(old_graph, DATABASE, lambda done, total: None) == 0


@pytest.mark.parametrize("seed", first_in_gate(1, range(3)))
def test_continued_where_it_ended(old_graph: Driver, version: int, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migration, "_SEGMENTS", 4)
    dice = random.Random(seed)

    def interrupt(done: int, total: int) -> None:
        if dice.random() < 0.3:
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
    else:
        pytest.fail("It was interrupted each time.")
    assert list(dump(old_graph, internal=True)) == recorded_dump(version)


def test_a_migration_that_the_release_before_had_begun(old_graph: Driver, version: int) -> None:
    # Version 4 migrated from 3: some micro-batches are nodes still, and segments have blocks as version 4 made them.
    with old_graph.session() as session:
        session.run("MATCH (v:HeadwaterGraph) SET v.version = 4, v.migrating_from = 3").consume()
    migrate(old_graph, DATABASE, lambda done, total: None)
    assert list(dump(old_graph, internal=True)) == recorded_dump(version)


def test_a_graph_that_no_release_can_migrate_stays_as_it_is(old_graph: Driver) -> None:
    with old_graph.session() as session:
        session.run("MATCH (v:HeadwaterGraph) SET v.version = 2").consume()
        before = session.run(COUNT).single(strict=True)["count"]
    with pytest.raises(GraphVersionMismatch, match=r"version 2 .* graph rebuild"):
        migrate(old_graph, DATABASE, lambda done, total: None)
    with old_graph.session() as session:
        assert session.run(COUNT).single(strict=True)["count"] == before
