from __future__ import annotations

import hashlib
import json

import pytest

from headwater_producers.spark.connectors.files.log import file_set, parse_log, sink_files, source_files
from headwater_producers.spark.jvm.files import TextFolder
from headwater_producers.spark.plan.settings import MAX_PATHS
from support.capture import DictFiles


def sink_log(*paths: str, action: str = "add") -> str:
    return "\n".join(["v1", *(json.dumps({"path": path, "size": 10, "action": action}) for path in paths)])


def source_log(**batches: list[str]) -> str:
    lines = [
        json.dumps({"path": path, "timestamp": 1, "batchId": int(batch[1:])})
        for batch, paths in batches.items()
        for path in paths
    ]
    return "\n".join(["v1", *lines])


def paths_of(files: DictFiles, batch: int) -> tuple[str, ...] | None:
    found = sink_files(TextFolder("/out", files), batch)
    return None if found is None else file_set(found).paths


def test_a_sink_batch_is_its_own_log_file() -> None:
    files = DictFiles({"/out/_spark_metadata/3": sink_log("b", "a")})
    logged = sink_files(TextFolder("/out/", files), 3)
    assert logged is not None
    found = file_set(logged)
    assert (found.count, found.bytes, found.paths) == (2, 20, ("a", "b"))
    assert found.manifest_digest == hashlib.sha256(b"a\nb\n").hexdigest()


def test_a_sink_batch_without_files_is_an_empty_set() -> None:
    logged = sink_files(TextFolder("/out", DictFiles({"/out/_spark_metadata/0": "v1"})), 0)
    assert logged is not None
    found = file_set(logged)
    assert (found.count, found.bytes, found.paths) == (0, 0, ())


def test_a_compacted_sink_batch_is_what_its_predecessors_lack() -> None:
    files = DictFiles(
        {
            "/out/_spark_metadata/0": sink_log("a"),
            "/out/_spark_metadata/1": sink_log("b"),
            "/out/_spark_metadata/2.compact": sink_log("a", "b", "c"),
            "/out/_spark_metadata/3": sink_log("d"),
            "/out/_spark_metadata/4": sink_log(),
            "/out/_spark_metadata/5.compact": sink_log("a", "b", "c", "d", "e"),
        }
    )
    assert paths_of(files, 2) == ("c",)
    assert paths_of(files, 5) == ("e",)


def test_a_compacted_sink_batch_after_a_hole_is_not_known() -> None:
    files = DictFiles({"/out/_spark_metadata/1": sink_log("b"), "/out/_spark_metadata/3.compact": sink_log("a", "b")})
    assert paths_of(files, 3) is None


def test_a_sink_batch_that_is_gone_is_not_known() -> None:
    assert paths_of(DictFiles(), 0) is None


def test_deleted_files_are_not_added() -> None:
    assert parse_log(sink_log("a", action="delete")) == ()


def test_source_files_are_those_of_the_log_batches_after_the_start() -> None:
    files = DictFiles(
        {
            "/cp/0": source_log(b0=["a"]),
            "/cp/1": source_log(b1=["b"]),
            "/cp/2.compact": source_log(b0=["a"], b1=["b"], b2=["c"]),
        }
    )
    log = TextFolder("/cp", files)
    taken = [source_files(log, after, up_to) for after, up_to in [(None, 0), (0, 2), (2, 2), (2, 3)]]
    assert [None if each is None else each.paths for each in taken] == [("a",), ("b", "c"), (), None]


def test_sizes_that_are_not_known_have_no_sum() -> None:
    [logged] = parse_log(source_log(b0=["a"]))
    assert file_set([logged]).bytes is None


def test_a_position_lists_some_paths_and_digests_all() -> None:
    many = parse_log(sink_log(*(f"{number:04}" for number in range(MAX_PATHS + 5))))
    whole, part = file_set(many), file_set(many[:MAX_PATHS])
    assert (whole.count, len(whole.paths)) == (MAX_PATHS + 5, MAX_PATHS)
    assert whole.paths == part.paths
    assert whole.manifest_digest != part.manifest_digest


def test_an_unknown_log_is_refused(subtests: pytest.Subtests) -> None:
    for text in ("", "v2\n{}", "v1\n{cut"):
        with subtests.test(text), pytest.raises((ValueError, IndexError)):
            parse_log(text)
