"""Snapshot of an Iceberg table that a write made, and its parent: batch writes, and micro-batches of a stream."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from headwater_schemas.events import Certainty, DatasetUse, LineageEvent
from spark.sources.watching import Watched
from support.waiting import patience

pytestmark = pytest.mark.spark
TABLE = "ice.db.chained"


def snapshots(uses: Iterable[DatasetUse]) -> list[tuple[str | None, str, str | None]]:
    """Parent, id and operation of each use, all EXACT."""
    found = []
    for use in uses:
        assert use.certainty is Certainty.EXACT
        assert use.position is not None
        made = use.position.table_snapshot
        assert made is not None
        found.append((made.parent_id, made.snapshot_id, made.operation))
    return found


def written(events: list[LineageEvent]) -> list[tuple[str | None, str, str | None]]:
    entries = [entry for e in events if e.interval_event is not None for entry in e.interval_event.entries]
    ends = [e.run_event for e in events if e.run_event is not None and e.run_event.processing_type != "STREAMING"]
    return snapshots([use for end in ends for use in end.outputs] + [use for entry in entries for use in entry.outputs])


def test_each_names_its_parent(watched: Watched, tmp_path: Path) -> None:
    spark = watched.spark
    spark.sql("CREATE NAMESPACE IF NOT EXISTS ice.db")
    spark.sql(f"CREATE TABLE {TABLE} (id BIGINT) USING iceberg")
    watched.new_events()
    spark.sql(f"INSERT INTO {TABLE} VALUES (1), (2)")
    spark.sql(f"INSERT OVERWRITE {TABLE} VALUES (3), (4)")
    spark.sql(f"DELETE FROM {TABLE} WHERE id = 3")
    emitted = written(watched.new_events())
    spark.range(1).write.parquet(str(tmp_path / "in"))
    watched.new_events()
    stream = spark.readStream.schema("id BIGINT").parquet(str(tmp_path / "in")).writeStream.format("iceberg")
    query = stream.option("checkpointLocation", str(tmp_path / "cp")).trigger(availableNow=True).toTable(TABLE)
    assert query.awaitTermination(int(patience(120)))
    emitted += written(watched.new_events())
    log = spark.sql(f"SELECT parent_id, snapshot_id, operation FROM {TABLE}.snapshots ORDER BY committed_at").collect()
    expected = [(row[0] and str(row[0]), str(row[1]), row[2]) for row in log]
    assert emitted == expected
    assert [parent for parent, _, _ in emitted] == [None, *(made for _, made, _ in emitted[:-1])]
    spark.table(TABLE).write.json(str(tmp_path / "read"))
    [end] = [e.run_event for e in watched.new_events() if e.run_event is not None and e.run_event.type.is_terminal]
    assert snapshots(end.inputs) == expected[-1:]


def test_a_branch_is_the_table_and_emitted_to_be_a_branch(watched: Watched, tmp_path: Path) -> None:
    spark = watched.spark
    spark.sql("CREATE NAMESPACE IF NOT EXISTS ice.db")
    spark.sql("CREATE TABLE ice.db.branched (id BIGINT) USING iceberg")
    spark.sql("INSERT INTO ice.db.branched VALUES (1)")
    spark.sql("ALTER TABLE ice.db.branched CREATE BRANCH audit")
    watched.new_events()
    spark.sql("INSERT INTO ice.db.branched.branch_audit VALUES (2)")
    spark.table("ice.db.branched.branch_audit").write.json(str(tmp_path / "read"))
    new_events = watched.new_events()
    [first, second] = [e.run_event for e in new_events if e.run_event is not None and e.run_event.type.is_terminal]
    assert [use.dataset.name.rsplit("/", 1)[-1] for use in (*first.outputs, *second.inputs)] == ["branched"] * 2
    assert json.loads(first.outputs[0].facets["headwater_branch"]) == {"name": "audit"}
    names = {link.name for e in new_events if e.dataset_event is not None for link in e.dataset_event.symlinks or ()}
    assert names <= {"db.branched"}
