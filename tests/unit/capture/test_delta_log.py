from __future__ import annotations

import json
from typing import Any

from headwater_producers.spark.connectors.delta.log import DeltaLog, StreamedCommit, delta_added
from headwater_producers.spark.jvm.files import TextFolder
from headwater_producers.spark.plan import PlanOutput, SourceKind
from headwater_producers.spark.streaming.interval import SinkCommits, sink_at
from headwater_schemas.events import Certainty, DatasetRef, DatasetUse
from headwater_schemas.facets import AddedFiles
from support.capture import DictFiles, snapshot_of

TABLE = PlanOutput(dataset=DatasetRef("file", "/t"), kind=SourceKind.TABLE)


class Table:
    """Its commits, one after the other; None: not a query's."""

    def __init__(self, *commits: tuple[str, int] | None, checkpoint: int | None = None) -> None:
        self.files = DictFiles()
        for version, commit in enumerate(commits):
            self.commit(version, commit)
        if checkpoint is not None:
            self.files.texts["file:/t/_delta_log/_last_checkpoint"] = json.dumps({"version": checkpoint, "size": 9})

    def commit(self, version: int, commit: tuple[str, int] | None) -> None:
        info = {"operation": "STREAMING UPDATE" if commit else "WRITE", "operationMetrics": {"numOutputRows": "5"}}
        actions: list[dict[str, Any]] = [{"commitInfo": info}, {"add": {"path": "x"}}]
        if commit is not None:
            actions.append({"txn": {"appId": commit[0], "version": commit[1], "lastUpdated": 1}})
        text = "\n".join(json.dumps(action, separators=(",", ":")) for action in actions)
        self.files.texts[f"file:/t/_delta_log/{version:020d}.json"] = text

    def log(self) -> DeltaLog:
        return DeltaLog(TextFolder("file:/t", self.files))


def version(found: StreamedCommit | None) -> int | None:
    return found.version if found is not None else None


def test_a_version_is_known_by_its_transaction() -> None:
    log = Table(None, ("q", 0), None, ("other", 1), ("q", 1)).log()
    assert version(log.streamed("q", 1)) == 4
    assert version(log.streamed("q", 0)) == 1
    assert version(log.streamed("other", 1)) == 3
    assert log.streamed("q", 2) is None


def test_the_files_that_a_commit_added() -> None:
    actions = [{"add": {"path": f"city=%C3%85l/part-{number:03}"}} for number in range(120)]
    text = "\n".join(json.dumps(each, separators=(",", ":")) for each in ({"remove": {"path": "old"}}, *actions))
    found = delta_added(text)
    assert found is not None
    assert (found.count, len(found.paths), found.paths[0]) == (120, 100, "city=Ål/part-000")
    clone = '{"add":{"path":"s3://bucket/t/part-0"}}'
    assert delta_added(clone) == AddedFiles(1, ("s3://bucket/t/part-0",))
    assert delta_added('{"commitInfo":{}}') is None
    marked = '{"remove":{"path":"x"}}\n{"add":{"path":"x"}}'
    assert delta_added(marked) is None
    streamed = Table(("q", 0)).log().streamed("q", 0)
    assert streamed is not None
    assert streamed.added == AddedFiles(1, ("x",))


def test_files_within_a_table_have_whole_paths() -> None:
    added = AddedFiles(3, ("x", "/y", "s3://other/z"))
    for namespace, name, whole in (
        ("file", "/t", "file:/t/x"),
        ("s3://b", "lake/t", "s3://b/lake/t/x"),
        ("hdfs://nn:8020", "/t/", "hdfs://nn:8020/t/x"),
    ):
        assert added.of(DatasetRef(namespace, name)) == AddedFiles(3, (whole, "/y", "s3://other/z"))


def test_paths_may_be_listed_without_values() -> None:
    assert AddedFiles(2, ("city=Oslo/part-0", "part-1")).without_values() == AddedFiles(2, ("part-1",))


def test_each_commit_is_read_once_as_the_table_grows() -> None:
    table = Table(("q", 0))
    log = table.log()
    assert version(log.streamed("q", 0)) == 0
    for batch in range(1, 20):
        table.commit(batch, ("q", batch))
        table.files.asked.clear()
        assert version(log.streamed("q", batch)) == batch
        assert len(table.files.asked) == 1


def test_it_begins_at_the_last_checkpoint_and_looks_back_from_there() -> None:
    table = Table(None, *(("q", batch) for batch in range(30)), checkpoint=20)
    for gone in range(5):
        del table.files.texts[f"file:/t/_delta_log/{gone:020d}.json"]
    log = table.log()
    assert version(log.streamed("q", 29)) == 30
    assert version(log.streamed("q", 4)) == 5
    assert log.streamed("q", 3) is None, "its commit has been cleaned up"


def test_what_another_start_had_written_already_is_found_too() -> None:
    """A crash between Delta's commit and Spark's: the batch runs again, and Delta commits nothing."""
    table = Table(("q", 0), ("q", 1), None, None)
    assert version(table.log().streamed("q", 1)) == 1
    assert table.log().streamed("q", 2) is None


def test_a_batch_that_committed_nothing_ends_the_search() -> None:
    table = Table(*((("q", batch) if batch != 150 else None) for batch in range(180)), checkpoint=170)
    log = table.log()
    assert log.streamed("q", 150) is None
    assert len(table.files.asked) < 60


def test_the_use_of_a_table() -> None:
    table = Table(None, ("q", 0))
    commits = SinkCommits("DeltaSink[file:/t]", "q", table.files)
    use = commits.use(TABLE, 0, None)
    assert (snapshot_of(use.position).snapshot_id, snapshot_of(use.position).parent_id) == ("1", "0")
    assert (use.certainty, use.rows) == (Certainty.EXACT, 5)
    assert commits.use(TABLE, 1, None) == DatasetUse(dataset=TABLE.dataset)


def test_a_log_that_can_not_be_read_is_emitted_without_a_position() -> None:
    table = Table(("q", 0), checkpoint=0)
    table.files.texts["file:/t/_delta_log/_last_checkpoint"] = "cut sh"
    assert SinkCommits("DeltaSink[file:/t]", "q", table.files).use(TABLE, 0, 7) == DatasetUse(
        dataset=TABLE.dataset, rows=7
    )


def test_which_sink_a_folder_is_written_by() -> None:
    assert sink_at(Table(None).files, "file:/t") == "DeltaSink[file:/t]"
    assert sink_at(DictFiles(), "file:/t") == "FileSink[file:/t]"
