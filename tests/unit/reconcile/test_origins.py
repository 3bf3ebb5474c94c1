from __future__ import annotations

import json

import pytest

from headwater_producers.spark.common.errors import UnknownOriginError
from headwater_producers.spark.streaming.checkpoint import QueryLog
from headwater_producers.spark.streaming.origins import origins
from headwater_schemas.events import DatasetRef
from support.checkpoints import HandWritten, kafka_checkpoint

HERE, THERE = DatasetRef("kafka://here", "in"), DatasetRef("kafka://there", "in")
FOLDER, RATE = DatasetRef("file", "/data/in"), DatasetRef("memory://spark/app", "rate")


def found(
    made: HandWritten, known: list[DatasetRef], given: dict[int, str] | None = None
) -> dict[int, list[DatasetRef]]:
    inputs, _ = origins(QueryLog(made.location, made.files), known, given or {})
    out: dict[int, list[DatasetRef]] = {}
    for each in inputs:
        assert each.source_index is not None
        out.setdefault(each.source_index, []).append(each.dataset)
    return out


def mixed() -> HandWritten:
    made = HandWritten()
    line = json.dumps({"path": "file:///data/in/day/1.json", "timestamp": 1, "batchId": 0})
    made.files.texts["file:/cp/sources/1/0"] = f"v1\n{line}"
    made.first(0, {"in": {"0": 0}})
    made.run(0, {"in": {"0": 1}}, {"logOffset": 0}, 5)
    return made


def test_each_source_finds_its_dataset() -> None:
    known = [HERE, DatasetRef("file", "/data"), FOLDER, DatasetRef("file", "/data/in2"), RATE]
    assert found(mixed(), [HERE, FOLDER, RATE]) == {0: [HERE], 1: [FOLDER], 2: [RATE]}
    with pytest.raises(UnknownOriginError, match="source 2"):
        found(mixed(), known)
    assert found(mixed(), known, {2: "memory://spark/app rate"}) == {0: [HERE], 1: [FOLDER], 2: [RATE]}


def test_of_two_clusters_none_is_taken() -> None:
    with pytest.raises(UnknownOriginError, match=r"source 0 \(Kafka, topic in\)"):
        found(kafka_checkpoint(1), [HERE, THERE])
    assert found(kafka_checkpoint(1), [HERE, THERE], {0: "kafka://there"}) == {0: [THERE]}


def test_a_topic_that_nobody_has_seen_is_on_the_cluster_of_the_others() -> None:
    assert found(kafka_checkpoint(1), [DatasetRef("kafka://here", "older")]) == {0: [HERE]}


def test_files_outside_of_every_known_folder_are_of_none() -> None:
    with pytest.raises(UnknownOriginError, match=r"files such as file:///data/in/day/1\.json"):
        found(mixed(), [HERE, DatasetRef("file", "/data/inbox"), RATE])


def test_a_folder_is_found_though_spark_logs_its_files_percent_encoded() -> None:
    made, odd = mixed(), DatasetRef("file", "/data/in [1]")
    logged = made.files.texts["file:/cp/sources/1/0"]
    made.files.texts["file:/cp/sources/1/0"] = logged.replace("/data/in/", "/data/in%20%5B1%5D/")
    assert found(made, [HERE, odd, RATE])[1] == [odd]


def test_nothing_known_is_an_error_and_not_a_guess() -> None:
    for index, made in ((0, kafka_checkpoint(1)), (0, mixed())):
        with pytest.raises(UnknownOriginError) as error:
            found(made, [])
        assert error.value.source == index


def test_a_source_of_ones_own_may_have_offsets_like_kafkas() -> None:
    shelf = DatasetRef("memory://spark/app", "shelves")
    assert found(kafka_checkpoint(1), [shelf]) == {0: [shelf]}
    assert found(kafka_checkpoint(1), [HERE, shelf], {0: "memory://spark/app shelves"}) == {0: [shelf]}


def test_an_error_names_what_it_may_be() -> None:
    with pytest.raises(UnknownOriginError) as error:
        found(kafka_checkpoint(1), [HERE, THERE])
    assert str(error.value) == (
        "source 0 (Kafka, topic in): its dataset is unknown; not one of kafka://here in, kafka://there in"
    )


def test_a_checkpoint_without_a_micro_batch_has_no_sources() -> None:
    made = HandWritten()
    assert origins(QueryLog(made.location, made.files), [HERE], {}) == ((), 0)


def test_two_sources_that_nothing_describes_are_not_the_one_dataset_left() -> None:
    made = HandWritten()
    made.run(0, 5, 6)
    with pytest.raises(UnknownOriginError) as error:
        found(made, [RATE])
    assert error.value.source == 0


def test_a_topic_is_on_the_cluster_that_has_it() -> None:
    assert found(kafka_checkpoint(1), [HERE, DatasetRef("kafka://there", "other")]) == {0: [HERE]}


@pytest.mark.parametrize("log", ["0", "9.compact"])
def test_a_folder_is_found_by_the_newest_log_there_is(log: str) -> None:
    made = HandWritten()
    line = json.dumps({"path": "file:///data/in/1.json", "timestamp": 1, "batchId": 0})
    made.files.texts[f"file:/cp/sources/0/{log}"] = f"v1\n{line}"
    made.run(0, {"logOffset": 9})
    assert found(made, [FOLDER]) == {0: [FOLDER]}


def test_sources_with_equal_ends_are_several_if_each_has_written_something() -> None:
    made = HandWritten()
    made.run(0, {"in": {"0": 5}}, {"in": {"0": 5}})
    log = QueryLog(made.location, made.files)
    assert origins(log, [HERE], {})[1] == 2
    made.first(0, {"in": {"0": 0}})
    inputs, count = origins(QueryLog(made.location, made.files), [HERE], {})
    assert ([each.source_index for each in inputs], count) == ([0], 1), "one, which is logged twice"
    made.first(1, {"in": {"0": 0}})
    inputs, count = origins(QueryLog(made.location, made.files), [HERE], {})
    assert ([each.source_index for each in inputs], count) == ([0, 1], 2)


def test_the_latest_micro_batch_shows_what_is_read() -> None:
    made = HandWritten()
    made.run(0, {"out": {"0": 5}})
    made.run(1, {"in": {"0": 5}})
    assert found(made, [HERE]) == {0: [HERE]}


STATED: list[tuple[str, DatasetRef]] = [
    ("memory://spark/app rate", RATE),
    ("/data/in", FOLDER),
    ("/data/in ", FOLDER),
    ("s3://bucket/data", DatasetRef("s3://bucket", "data")),
]


def test_a_person_states_namespace_and_name_or_a_path(subtests: pytest.Subtests) -> None:
    for given, expected in STATED:
        with subtests.test(given):
            made = HandWritten()
            made.run(0, 5)
            assert found(made, [], {0: given}) == {0: [expected]}


def test_what_neither_kafka_nor_a_folder_describes_is_named_as_that() -> None:
    made = HandWritten()
    made.run(0, 5)
    with pytest.raises(UnknownOriginError) as error:
        found(made, [])
    assert str(error.value) == "source 0 (neither Kafka nor files): its dataset is unknown"
