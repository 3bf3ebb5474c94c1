"""Iceberg's procedures: nothing is told of them that isn't so, and what they made is seen by the next read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from spark.sources.watching import run_lines

if TYPE_CHECKING:
    from pathlib import Path

    from spark.sources.watching import Watched

pytestmark = pytest.mark.spark

TABLE = "db.maintained"


def test_what_is_told_of_procedures(watched: Watched, tmp_path: Path) -> None:
    spark = watched.spark
    spark.sql("CREATE NAMESPACE IF NOT EXISTS ice.db")
    spark.sql(f"CREATE TABLE ice.{TABLE} (id INT) USING iceberg")
    for number in range(2):
        spark.sql(f"INSERT INTO ice.{TABLE} VALUES ({number})")
    first = spark.sql(f"SELECT snapshot_id FROM ice.{TABLE}.snapshots ORDER BY committed_at LIMIT 1").first()
    assert first is not None
    watched.news()
    rewritten = spark.sql(
        f"CALL ice.system.rewrite_data_files(table => '{TABLE}', options => map('rewrite-all', 'true'))"
    ).first()
    assert rewritten is not None
    assert rewritten.rewritten_data_files_count == 2
    # Its files are written like an append, to be committed later, or never: the rows are the same ones.
    assert run_lines(watched.news()) == []
    spark.table(f"ice.{TABLE}").write.json(str(tmp_path / "after-rewriting"))
    assert run_lines(watched.news())[0].startswith("read maintained iceberg@… replace rows=2")
    spark.sql(f"CALL ice.system.rollback_to_snapshot('{TABLE}', {first.snapshot_id})").collect()
    assert run_lines(watched.news()) == []
    spark.table(f"ice.{TABLE}").write.json(str(tmp_path / "after-rollback"))
    assert run_lines(watched.news())[0].startswith("read maintained iceberg@… append rows=1")
