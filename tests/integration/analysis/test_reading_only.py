"""Questions can't write: Neo4j itself refuses it, whoever asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from neo4j.exceptions import Neo4jError

from headwater_analysis.reader import Reader, reading_driver
from headwater_graph.connection import Neo4jTarget

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = pytest.mark.stack

WRITES = [
    "CREATE (:Written)",
    "MERGE (:HwProbe {key: 'written'})",
    "CREATE INDEX written IF NOT EXISTS FOR (n:Written) ON (n.key)",
    "CALL db.createLabel('Written')",
]


def test_neo4j_refuses_what_writes_in_a_question(reader: Reader, subtests: pytest.Subtests) -> None:
    for text in WRITES:
        with subtests.test(text=text), pytest.raises(Neo4jError) as refused:
            reader.read(lambda tx: tx._tx.run(text).consume())  # noqa: B023 - within the turn
        assert refused.value.code == "Neo.ClientError.Statement.AccessMode"


def test_a_user_of_its_own_is_enough(quiet_driver: Driver, target: Neo4jTarget) -> None:
    name, password = "reads-only", "a-password-of-its-own"
    quiet_driver.execute_query(
        "CREATE OR REPLACE USER $name SET PASSWORD $password CHANGE NOT REQUIRED",
        name=name,
        password=password,
        database_="system",
    )
    try:
        own = Neo4jTarget(target.uri, name, password, target.database)
        with reading_driver(own) as driver:
            assert Reader(driver, own, timeout_seconds=300).read(lambda tx: tx.rows("service/ping"))
    finally:
        quiet_driver.execute_query("DROP USER $name", name=name, database_="system")
