from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from headwater_producers.spark.streaming.interval import StateOperator, parse_progress
from support.capture import recorded


def test_a_first_batch_has_no_start() -> None:
    progress = parse_progress(recorded("kafka_first_batch"))
    assert (progress.name, progress.batch_id, progress.executed) == ("enrich", 0, True)
    [source] = progress.sources
    assert source.start is None
    assert source.end == {"in": {"0": 8, "1": 12}}
    assert source.rows == 20
    assert progress.rows_out == 20
    assert not progress.has_watermark


def test_watermark_and_state() -> None:
    progress = parse_progress(recorded("windows_with_watermark"))
    assert progress.started_at == datetime(2026, 11, 21, 7, 2, 9, 139_000, tzinfo=UTC)
    assert progress.watermark == datetime(2024, 1, 1, 0, 0, 9, tzinfo=UTC)
    assert progress.duration_ms == 5902
    assert (progress.state_rows, progress.state_bytes, progress.rows_dropped_late) == (5, 1560, 0)
    assert progress.operators == (StateOperator("stateStoreSave", rows=5, bytes=1560, dropped_late=0),)
    assert progress.sink == "FileSink[file:/data/win]"
    assert progress.rows_out is None, "-1: sinks of the first API don't tell"


def test_a_batch_without_data_was_executed_all_the_same() -> None:
    progress = parse_progress(recorded("windows_without_data"))
    assert progress.executed
    assert progress.sources[0].rows == 0


def test_an_idle_trigger_is_no_batch() -> None:
    """Older Sparks report it under the id of the batch that hasn't run yet."""
    idle = json.loads(recorded("kafka_next_batch"))
    idle["durationMs"] = {"latestOffset": 3, "triggerExecution": 3}
    assert not parse_progress(json.dumps(idle)).executed


def test_the_epoch_is_no_watermark_yet() -> None:
    document = json.loads(recorded("windows_with_watermark"))
    document["eventTime"] = {"watermark": "1970-01-01T00:00:00.000Z"}
    progress = parse_progress(json.dumps(document))
    assert progress.watermark is None
    assert progress.has_watermark


def test_an_offset_may_be_embedded_as_text() -> None:
    document = json.loads(recorded("kafka_next_batch"))
    document["sources"][0]["endOffset"] = '{"in": {"0": 9}}'
    document["sources"][0]["startOffset"] = "no JSON"
    [source] = parse_progress(json.dumps(document)).sources
    assert source.end == {"in": {"0": 9}}
    assert source.start == "no JSON"


def test_anything_else_is_refused(subtests: pytest.Subtests) -> None:
    for text in ("", "{", "[]", "null", '{"id": "x"}', '{"id":"a","runId":"b","batchId":0}'):
        with subtests.test(text), pytest.raises(ValueError, match="not a StreamingQueryProgress"):
            parse_progress(text)
