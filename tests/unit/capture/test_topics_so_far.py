"""The topics that a running query was last seen to read, by the JVM's progress."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from headwater_producers.spark.execution.describe import _topics_so_far
from support.capture import recorded


def test_of_no_progress_there_are_none() -> None:
    assert _topics_so_far(SimpleNamespace(lastProgress=lambda: None)) == {}


@pytest.mark.parametrize("lacking", [(), ("inputRowsPerSecond", "processedRowsPerSecond")])
def test_a_progress_without_rates_is_read_too(lacking: tuple[str, ...]) -> None:
    """Spark leaves out a rate that is no number; PySpark's `lastProgress` raises a KeyError then."""
    progress = json.loads(recorded("kafka_next_batch"))
    for source in progress["sources"]:
        for name in lacking:
            del source[name]
    query = SimpleNamespace(lastProgress=lambda: SimpleNamespace(json=lambda: json.dumps(progress)))
    assert _topics_so_far(query) == {0: tuple(progress["sources"][0]["endOffset"])}


def test_a_source_that_has_no_offset_yet() -> None:
    progress = json.loads(recorded("kafka_next_batch"))
    progress["sources"][0]["endOffset"] = None
    query = SimpleNamespace(lastProgress=lambda: SimpleNamespace(json=lambda: json.dumps(progress)))
    assert _topics_so_far(query) == {0: ()}
