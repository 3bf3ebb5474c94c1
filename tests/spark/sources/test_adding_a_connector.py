"""A connector is one file and one line: capture asks it about what it declares, and nobody else about that."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from headwater_producers.spark import attach
from headwater_producers.spark.connectors.registry import REGISTRY
from headwater_schemas.events import Certainty, OpaqueRange, Position
from spark.sources.letters import OFFICE, Letters
from support.capture import FLUSH_SECONDS, RecordingSink

if TYPE_CHECKING:
    import pytest
    from pyspark.sql import SparkSession


def test_capture_asks_it_of_leaves_commands_and_scans(
    spark: SparkSession, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    letters = Letters()
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "one.txt").write_text("dear\nsir\n")
    spark.conf.set("spark.sql.sources.useV1SourceList", "")
    request.addfinalizer(lambda: spark.conf.unset("spark.sql.sources.useV1SourceList"))

    REGISTRY.add(letters)

    request.addfinalizer(lambda: REGISTRY.remove(letters))
    sink = RecordingSink()
    with attach(spark, sink=sink, job_name="post", capture_drain_timeout_seconds=FLUSH_SECONDS) as capture:
        frame = spark.read.text(str(tmp_path / "letters"))
        frame.where("value <> 'sir'").write.format("noop").mode("append").save()
        assert capture.flush(FLUSH_SECONDS)
    runs = [each.run_event for each in sink.events if each.run_event is not None and each.run_event.outputs]
    ended = next(each for each in runs if each.type.is_terminal)
    (read,), (wrote,) = ended.inputs, ended.outputs
    assert (read.dataset.namespace, read.dataset.name) == (OFFICE, "letters")
    assert (read.position, read.certainty) == (
        Position(opaque=OpaqueRange(from_json=None, to_json='"today"')),
        Certainty.EXACT,
    )
    assert (wrote.dataset.namespace, wrote.dataset.name) == (OFFICE, "parcels")
    (plan,) = [each.plan_event for each in sink.events if each.plan_event is not None]
    assert [each.name for each in plan.lineage.datasets] == ["letters", "parcels"]
    assert plan.lineage.complete
    assert plan.lineage.edges
