"""The 22 queries of TPC-H: their lineage is golden, and agrees with sqlglot's, or the difference is explained.

queries/q01.sql ──Spark──▶ explain_lineage ──▶ golden.txt
        │                        │
        └──sqlglot─▶ independent.py ──▶ differences.txt, line by line:

    # q12
    high_line_count + orders.o_orderpriority: sqlglot has it and we don't, because …
    high_line_count - orders: we have it and sqlglot doesn't, because …
    * + …: of the INDIRECT edges, whichever output they are of

A difference that isn't explained fails, and so does an explanation of none.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headwater_producers.spark.explain import LineageExplanation, LineageSource, explain_lineage
from spark.plan.goldens import check, lines, read_sections
from spark.tpch.independent import direct, indirect, schema_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.nightly, pytest.mark.spark]

HERE = Path(__file__).parent
TABLES = (HERE / "schema.sql").read_text()
QUERIES = sorted((HERE / "queries").glob("*.sql"))
SCHEMA = schema_of(TABLES)
EXPLAINED = read_sections((HERE / "differences.txt").read_text())


@pytest.fixture(scope="module")
def tpch(spark: SparkSession) -> SparkSession:
    """A session whose tables are TPC-H's, empty."""
    session = spark.newSession()
    session.sql("CREATE DATABASE IF NOT EXISTS tpch")
    session.sql("USE tpch")
    for statement in filter(str.strip, TABLES.split(";")):
        session.sql(f"{statement} USING parquet")
    return session


def test_all_the_queries_are_there() -> None:
    assert [path.stem for path in QUERIES] == [f"q{number:02}" for number in range(1, 23)]
    assert set(EXPLAINED) <= {path.stem for path in QUERIES}


@pytest.mark.parametrize("path", QUERIES, ids=lambda path: path.stem)
def test_lineage(tpch: SparkSession, path: Path) -> None:
    query = path.read_text()
    explained = explain_lineage(tpch.sql(query))
    assert explained.complete
    check("golden", path.stem, lines(explained), folder=HERE)
    emitted = [line.partition(": ") for line in EXPLAINED.get(path.stem, [])]
    assert all(reason for _, _, reason in emitted), "an explanation without a reason"
    assert differences(explained, query) == sorted(difference for difference, _, _ in emitted)


def differences(explained: LineageExplanation, query: str) -> list[str]:
    found: list[str] = []
    theirs = direct(query, SCHEMA)
    assert [output.path for output in explained.outputs] == list(theirs)
    for output in explained.outputs:
        ours = {_name(source) for source in output.sources if source.type == "DIRECT"}
        found += _compared(output.path, ours, theirs[output.path])
    everywhere = [*explained.influences, *(source for output in explained.outputs for source in output.sources)]
    found += _compared("*", {_name(s) for s in everywhere if s.type == "INDIRECT"}, indirect(query, SCHEMA))
    return sorted(found)


def _compared(output: str, ours: set[str], theirs: set[str]) -> list[str]:
    return [f"{output} + {name}" for name in theirs - ours] + [f"{output} - {name}" for name in ours - theirs]


def _name(source: LineageSource) -> str:
    assert source.name is not None
    table = source.name.rsplit("/", 1)[-1]
    return f"{table}.{source.path}" if source.path else table
