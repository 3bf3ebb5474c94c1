"""Queries that Delta runs for itself are no reads of a program, and its log is no part of the table."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import functions as F  # noqa: N812  the name every PySpark program uses

from spark.sources.watching import Watched

pytestmark = [pytest.mark.nightly, pytest.mark.spark]


def test_functions_have_nothing_of_them_nor_the_table_of_its_log(watched: Watched, tmp_path: Path) -> None:
    spark, path = watched.spark, str(tmp_path / "table")
    spark.range(4).selectExpr("id", "'x' AS email").write.format("delta").save(path)
    spark.sql(f"UPDATE delta.`{path}` SET email = 'y' WHERE id = 1")
    spark.sql(f"DELETE FROM delta.`{path}` WHERE id = 0")
    spark.range(2, 6).selectExpr("id", "'z' AS email").createOrReplaceTempView("updates")
    spark.sql(
        f"MERGE INTO delta.`{path}` t USING updates u ON t.id = u.id "
        "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    spark.range(2).select(F.udf(str)("id")).write.json(str(tmp_path / "named"))
    spark.read.json(f"{path}/_delta_log/*.json").write.json(str(tmp_path / "log"))
    events = watched.new_events()
    assert not [event.job.name for event in events if event.job is not None and event.job.name.endswith("collect")]
    seen = [event.dataset_event for event in events if event.dataset_event is not None]
    schemas = [body.schema for body in seen if body.dataset.name == path and body.schema is not None]
    assert {field.path for schema in schemas for field in schema.fields} == {"id", "email"}
