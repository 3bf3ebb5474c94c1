"""Iceberg's procedures: no listener is called for them; what they made is emitted wherever the table is met again."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater_schemas.events import LineageEvent
from spark.sources.watching import Watched, run_lines

pytestmark = pytest.mark.spark

TABLE = "db.maintained"
CALL = "CALL ice.system"


def test_what_is_emitted_of_procedures(watched: Watched, tmp_path: Path) -> None:
    spark = watched.spark
    spark.sql("CREATE NAMESPACE IF NOT EXISTS ice.db")
    spark.sql(f"CREATE TABLE ice.{TABLE} (id INT) USING iceberg")
    for number in range(2):
        spark.sql(f"INSERT INTO ice.{TABLE} VALUES ({number})")
    first, second = (row.snapshot_id for row in spark.sql(f"SELECT * FROM ice.{TABLE}.snapshots").collect())
    watched.new_events()
    rewritten = spark.sql(
        f"{CALL}.rewrite_data_files(table => '{TABLE}', options => map('rewrite-all', 'true'))"
    ).first()
    assert rewritten is not None
    assert rewritten.rewritten_data_files_count == 2
    # Its files are written like an append, to be committed later, or never. It was: the rows are the same ones.
    new_events = watched.new_events()
    assert run_lines(new_events) == [
        "read maintained iceberg@…",
        "wrote maintained iceberg@… replace rows=2 files=1 +bytes",
    ]
    assert chain(new_events) == [(str(second), str(second))]
    assert [e for e in new_events if e.plan_event is not None] == []

    spark.table(f"ice.{TABLE}").write.json(str(tmp_path / "after-rewriting"))
    [read, _] = run_lines(watched.new_events())
    assert read.startswith("read maintained iceberg@… replace rows=2"), "and of the rewriting nothing more"

    # A procedure that makes no snapshot is seen by what is read then.
    spark.sql(f"{CALL}.rollback_to_snapshot('{TABLE}', {first})").collect()
    assert run_lines(watched.new_events()) == []
    spark.table(f"ice.{TABLE}").write.json(str(tmp_path / "after-rollback"))
    assert run_lines(watched.new_events())[0].startswith("read maintained iceberg@… append rows=1")

    spark.sql("SELECT 5 AS id").write.parquet(str(tmp_path / "files"))
    watched.new_events()
    spark.sql(f"{CALL}.add_files(table => '{TABLE}', source_table => '`parquet`.`{tmp_path / 'files'}`')").collect()
    spark.sql(f"{CALL}.cherrypick_snapshot('{TABLE}', {second})").collect()
    new_events = watched.new_events()
    assert run_lines(new_events) == [
        # Iceberg doesn't say how large they are.
        "wrote maintained iceberg@… append rows=1 files=1",
        "read maintained iceberg@…",
        "wrote maintained iceberg@… append rows=1 files=1 +bytes",
    ]
    assert [read for read, _ in chain(new_events)] == [None, str(second)], "a picked snapshot is named, not added files"


def chain(events: list[LineageEvent]) -> list[tuple[str | None, str | None]]:
    """Snapshots of each run's end: the one that it read, and the parent of the one that it wrote."""
    found = []
    for end in (e.run_event for e in events if e.run_event is not None and e.run_event.type.is_terminal):
        read = [use.position.table_snapshot for use in end.inputs if use.position is not None]
        [made] = [use.position.table_snapshot for use in end.outputs if use.position is not None]
        assert made is not None
        found.append((read[0].snapshot_id if read and read[0] is not None else None, made.parent_id))
    return found
