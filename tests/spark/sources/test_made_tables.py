"""Tables that a V1 command makes of a query: they are emitted as tables, by their name, though their rows are files."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from headwater_schemas.events import DatasetEvent, LineageEvent
from spark.sources.watching import Watched

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


pytestmark = pytest.mark.spark

MAKES: dict[str, tuple[Callable[[SparkSession], object], str]] = {
    "made_by_sql": (lambda s: s.sql("CREATE TABLE made_by_sql USING parquet AS SELECT 1 AS id"), "CREATE"),
    "made_by_append": (lambda s: s.range(1).write.mode("append").saveAsTable("made_by_append"), "CREATE"),
    "made_by_sql again": (
        lambda s: s.range(1).write.format("parquet").mode("overwrite").saveAsTable("made_by_sql"),
        "OVERWRITE",
    ),
}


@pytest.mark.parametrize("name", MAKES)
def test_a_table_is_made(watched: Watched, name: str) -> None:
    watched.new_events()
    make, lifecycle = MAKES[name]
    make(watched.spark)
    new_events = watched.new_events()
    ends = [e for e in new_events if e.run_event is not None and e.run_event.type.is_terminal]
    assert len({e.run.run_id for e in ends if e.run is not None}) == 1, "one run"
    assert ends[-1].event_time == max(e.event_time for e in ends)
    assert ends[-1].run_event is not None
    [use] = ends[-1].run_event.outputs
    assert json.loads(use.facets["lifecycleStateChange"]) == {"lifecycleStateChange": lifecycle}
    body = last_body(new_events)
    assert (body.type, str(body.lifecycle)) == ("TABLE", lifecycle)
    assert body.symlinks is not None
    assert [link.name.rsplit("/", 1)[-1] for link in body.symlinks] == [f"default.{name.split(maxsplit=1)[0]}"]


def test_an_append_to_a_table_makes_none(watched: Watched) -> None:
    watched.spark.sql("CREATE TABLE there_already (id BIGINT) USING parquet")
    watched.new_events()
    watched.spark.range(1).write.mode("append").saveAsTable("there_already")
    new_events = watched.new_events()
    [end] = [e.run_event for e in new_events if e.run_event is not None and e.run_event.type.is_terminal]
    assert "lifecycleStateChange" not in end.outputs[0].facets
    assert [e for e in new_events if e.dataset_event is not None and e.dataset_event.lifecycle is not None] == []


def last_body(events: list[LineageEvent]) -> DatasetEvent:
    """Latest event of the only dataset that is emitted."""
    emitted = [e for e in events if e.dataset_event is not None]
    body = max(emitted, key=lambda e: e.event_time).dataset_event
    assert body is not None
    return body
