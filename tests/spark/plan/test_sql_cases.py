"""Each statement of cases/*.sql has the lineage that golden/*.txt says."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headwater_producers.spark.explain import explain_lineage
from spark.plan.goldens import check, lines, read_sections
from support.spark_versions import where_spark_can

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

CASES = [
    pytest.param(path.stem, title, "\n".join(statement), id=f"{path.stem}: {title}")
    for path in sorted((Path(__file__).parent / "cases").glob("*.sql"))
    for title, statement in read_sections(path.read_text(), "-- ").items()
]


@pytest.mark.parametrize(("family", "title", "statement"), CASES)
def test_lineage(tables: SparkSession, family: str, title: str, statement: str) -> None:
    *setup, query = [part for part in statement.split(";") if part.strip()]
    with where_spark_can():
        for part in setup:
            tables.sql(part)
        frame = tables.sql(query)
    found = lines(explain_lineage(frame))
    assert not any(line.endswith("<- ") for line in found), "a column of nothing: not even a constant"
    check(family, title, found)
