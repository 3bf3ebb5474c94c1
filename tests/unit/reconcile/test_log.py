from __future__ import annotations

from datetime import UTC, datetime

import pytest

from headwater_producers.spark.common.errors import CheckpointError
from headwater_producers.spark.jvm.files import LocalFiles
from headwater_producers.spark.streaming.checkpoint import QueryLog
from support.capture import DictFiles
from support.checkpoints import BEGAN_MS, QUERY, HandWritten, kafka_checkpoint


def log(made: HandWritten) -> QueryLog:
    return QueryLog(made.location, made.files)


def test_what_a_checkpoint_has() -> None:
    made = kafka_checkpoint(12)
    made.purge(3)
    made.plan(12, {"in": {"0": 999}})
    assert log(made).query_id() == QUERY
    assert log(made).committed() == list(range(3, 12)), "in the order of numbers, without checksums"
    assert log(made).planned() == list(range(3, 13))
    assert (log(made).before(4), log(made).before(3)) == (3, None)


def test_a_planned_batch() -> None:
    made = HandWritten()
    made.plan(7, {"in": {"0": 3}}, None, 5, {"logOffset": 2}, watermark_ms=1_000)
    batch = log(made).batch(7)
    assert batch.ends == ({"in": {"0": 3}}, None, 5, {"logOffset": 2})
    assert batch.planned_at == datetime.fromtimestamp((BEGAN_MS + 7_000) / 1000, UTC)
    assert batch.watermark == datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)


def test_a_continuous_query_logs_no_times() -> None:
    files = DictFiles({"/cp/offsets/0": 'v1\n\n{"0":{"value":-1}}'})
    batch = QueryLog("/cp", files).batch(0)
    assert (batch.planned_at, batch.watermark, batch.ends) == (None, None, ({"0": {"value": -1}},))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("v2\n{}\n{}", "version 'v2'; only v1"),
        ("v1\nnothing\n{}", "is no offset log"),
        ("v1\n[]\n{}", "is no offset log"),
    ],
)
def test_what_is_no_offset_log(text: str, message: str) -> None:
    with pytest.raises(CheckpointError, match=message):
        QueryLog("/cp", DictFiles({"/cp/offsets/0": text})).batch(0)


def test_what_is_no_checkpoint() -> None:
    with pytest.raises(CheckpointError, match="no file `metadata`"):
        QueryLog("/cp", DictFiles()).query_id()
    for text in ("{", "[]", '{"name":1}'):
        with pytest.raises(CheckpointError, match="names no query"):
            QueryLog("/cp", DictFiles({"/cp/metadata": text})).query_id()
    assert QueryLog("/nowhere/at/all", LocalFiles()).committed() == []
