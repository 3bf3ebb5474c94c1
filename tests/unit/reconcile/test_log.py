from __future__ import annotations

from datetime import UTC, datetime

import pytest

from headwater_producers.spark.common.errors import CheckpointError
from headwater_producers.spark.jvm.files import LocalTextFiles
from headwater_producers.spark.streaming.checkpoint import QueryLog, StreamCheckpoint
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


def test_offsets_that_are_no_json_are_texts_and_lines_without_any_are_none() -> None:
    separated = "\u2028"
    files = DictFiles({"/cp/offsets/0": f'v1\n{{}}\nlsn-7\n\n-\n"a{separated}b"\n'})
    assert QueryLog("/cp/", files).batch(0).ends == ("lsn-7", None, f"a{separated}b")


def test_settings_are_those_of_the_micro_batch_that_was_planned_last() -> None:
    conf = {number: f'v1\n{{"conf":{{"a":"{number}"}}}}\n1' for number in (9, 10)}
    files = DictFiles({f"/cp/offsets/{number}": text for number, text in conf.items()})
    assert QueryLog("/cp", files).batch(9).settings == {"a": "9"}
    assert StreamCheckpoint("/cp", files).setting("a") == "10"
    assert StreamCheckpoint("/cp", files).setting("b") is None
    for newer in ("v1\n{}\n1", 'v1\n{"conf":null}\n1', "v9\n{}"):
        files.texts["/cp/offsets/11"] = newer
        assert StreamCheckpoint("/cp", files).setting("a") is None
    assert StreamCheckpoint("/cp", DictFiles()).setting("a") is None


def test_only_numbers_are_micro_batches() -> None:
    made = kafka_checkpoint(2)
    for name in ("x", "\N{SUPERSCRIPT TWO}", "-1", "_metadata"):
        made.files.texts[f"file:/cp/offsets/{name}"] = made.files.texts[f"file:/cp/commits/{name}"] = "v1"
    assert (log(made).planned(), log(made).committed(), log(made).sources()) == ([0, 1], [0, 1], 1)
    assert QueryLog("file:/cp/X/", made.files).location == "file:/cp/X"


def test_each_list_is_read_once() -> None:
    made = kafka_checkpoint(2)
    listed = log(made)
    assert (listed.planned(), listed.committed()) == ([0, 1], [0, 1])
    made.run(2, {"in": {"0": 99}})
    assert (listed.planned(), listed.committed()) == ([0, 1], [0, 1])


def test_topics_are_looked_for_in_so_many_sources() -> None:
    files = DictFiles({f"/cp/sources/{number}/0": 'v1\n{"t":{"0":0}}' for number in range(66)})
    assert sorted(StreamCheckpoint("/cp", files).topics(66)) == list(range(64))
    assert sorted(StreamCheckpoint("/cp", files).topics(3)) == list(range(3))


NO_LOGS: list[tuple[str, str]] = [
    ("v2\n{}\n{}", "^/cp/offsets/0 has version 'v2'; only v1"),
    ('v1\n{"batchTimestampMs":"now"}\n{}', "^/cp/offsets/0 is no offset log"),
    ("v1\nnothing\n{}", "is no offset log"),
    ("v1\n[]\n{}", "is no offset log"),
]


def test_what_is_no_offset_log(subtests: pytest.Subtests) -> None:
    for text, message in NO_LOGS:
        with subtests.test(text), pytest.raises(CheckpointError, match=message):
            QueryLog("/cp", DictFiles({"/cp/offsets/0": text})).batch(0)


def test_a_micro_batch_that_is_gone() -> None:
    with pytest.raises(CheckpointError, match=r"^/cp/offsets/7 isn't there any more"):
        QueryLog("/cp", DictFiles()).batch(7)


def test_what_is_no_checkpoint() -> None:
    with pytest.raises(CheckpointError, match="no file `metadata`"):
        QueryLog("/cp", DictFiles()).query_id()
    for text in ("{", "[]", '{"name":1}'):
        with pytest.raises(CheckpointError, match="names no query"):
            QueryLog("/cp", DictFiles({"/cp/metadata": text})).query_id()
    assert QueryLog("/nowhere/at/all", LocalTextFiles()).committed() == []
