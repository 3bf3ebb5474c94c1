"""Writes of dead drivers: what a table's log shows of each, which event ends it, and what is kept for the next."""

from __future__ import annotations

import json
import logging
import os
import shutil
import sqlite3
import stat
from collections.abc import Generator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from py4j.protocol import Py4JError

from headwater_producers.outbox.locked_file import create_locked
from headwater_producers.spark.events.batch import BatchRun, batch_started, plan_to_be
from headwater_producers.spark.events.dedup_cache import DedupCache
from headwater_producers.spark.events.left_writes import (
    LeftWrite,
    WriteFate,
    WriteOutcome,
    WriteTarget,
    left_write,
    mark_of,
    recovered_end,
    write_facet,
)
from headwater_producers.spark.events.writes import Counts, Write
from headwater_producers.spark.left_writes.left_tables import KeptWrite, KeptWrites, became_of, ends_of, location
from headwater_producers.spark.left_writes.open_writes import OpenWrites
from headwater_producers.spark.plan import PlanDescription, PlanInput, PlanOutput, SourceKind, WriteMode
from headwater_schemas.events import (
    Certainty,
    ColumnEdge,
    ColumnLineage,
    DatasetRef,
    JobRef,
    LineageEvent,
    ParentRun,
    Provenance,
    PublicationState,
    RunEventType,
)
from headwater_schemas.facets import WRITE_FACET
from spark.plan.goldens import check_table
from support.capture import DictFiles, body, event_context, snapshot_of
from support.events import full_job_event

BEGAN = datetime(2026, 11, 23, 12, 0, tzinfo=UTC)
TABLE = "/lake/orders"
OURS = mark_of("app-run")


def write(format_: str = "delta", **fields: Any) -> LeftWrite:
    known: dict[str, Any] = {
        "tenant": "default",
        "job": JobRef("default", "daily.orders"),
        "run_id": "run-1",
        "started_at": BEGAN,
        "seen_at": BEGAN + timedelta(minutes=5),
        "application": "local-1",
        "app_run": "app-run",
        "marked": True,
        "targets": (WriteTarget(dataset=DatasetRef("file", TABLE), format=format_),),
        "parent": ParentRun("app-run", JobRef("default", "daily")),
    }
    return LeftWrite(**(known | fields))


def delta(*commits: tuple[int, str, str | None], first: int = 0) -> DictFiles:
    """A table's log: of each commit the seconds after the write began, its operation and its `userMetadata`."""
    texts = {}
    for number, (seconds, operation, metadata) in enumerate(commits, start=first):
        at = int((BEGAN + timedelta(seconds=seconds)).timestamp() * 1000)
        info: dict[str, Any] = {"timestamp": at, "operation": operation, "operationMetrics": {"numOutputRows": "7"}}
        if metadata is not None:
            info["userMetadata"] = metadata
        texts[f"{TABLE}/_delta_log/{number:020d}.json"] = json.dumps({"commitInfo": info}, separators=(",", ":"))
    return DictFiles(texts)


def idempotent(seconds: int) -> DictFiles:
    """A commit of the transaction (nightly, 7), and before and behind it two of others."""
    files = delta(CREATED, (seconds - 1, "WRITE", None), (seconds, "WRITE", None), (seconds + 1, "WRITE", OURS))
    for number, made in ((1, ["nightly", 6]), (2, ["nightly", 7])):
        action = json.dumps({"txn": {"appId": made[0], "version": made[1]}}, separators=(",", ":"))
        files.texts[f"{TABLE}/_delta_log/{number:020d}.json"] += f"\n{action}\n"
    return files


CREATED = (-9_000, "CREATE TABLE", None)


def test_the_one_commit_of_its_application_since_it_began_is_taken_for_its_own() -> None:
    files = delta(
        CREATED, (-60, "WRITE", OURS), (3, "WRITE", OURS), (4, "WRITE", mark_of("another")), (5, "MERGE", OURS)
    )
    found = became_of(write(), files)
    assert (found.verdict, found.certainty) == (WriteFate.COMMITTED, Certainty.INFERRED)
    assert (snapshot_of(found.position).snapshot_id, found.counts.rows) == ("2", 7)
    assert found.at == BEGAN + timedelta(seconds=3)


TRANSACTION = {"transaction": ("nightly", 7), "marked": False}
UNMARKED = {"marked": False}
DELTA: list[tuple[str, DictFiles, dict[str, Any], WriteFate]] = [
    ("one commit with the application's mark", delta(CREATED, (3, "WRITE", OURS)), {}, WriteFate.COMMITTED),
    (
        "the same, of a MERGE",
        delta(CREATED, (3, "MERGE", OURS)),
        {"command": "MergeIntoCommand"},
        WriteFate.COMMITTED,
    ),
    (
        "two, one of which another run claims",
        delta(CREATED, (3, "WRITE", OURS), (4, "WRITE", OURS)),
        {"claimed": frozenset({"1"})},
        WriteFate.COMMITTED,
    ),
    ("two that nobody claims", delta(CREATED, (3, "WRITE", OURS), (4, "WRITE", OURS)), {}, WriteFate.UNKNOWN),
    (
        "one that another run claims",
        delta(CREATED, (3, "WRITE", OURS)),
        {"claimed": frozenset({"1"})},
        WriteFate.NOTHING,
    ),
    (
        "one with another application's mark",
        delta(CREATED, (3, "WRITE", mark_of("another"))),
        {},
        WriteFate.NOTHING,
    ),
    (
        "one without a mark; the application marks its own",
        delta(CREATED, (3, "WRITE", None)),
        {},
        WriteFate.NOTHING,
    ),
    (
        "one without a mark; the application marks none",
        delta(CREATED, (3, "WRITE", None)),
        UNMARKED,
        WriteFate.UNKNOWN,
    ),
    ("one with a `userMetadata` of the job's own", delta(CREATED, (3, "WRITE", "mine")), {}, WriteFate.UNKNOWN),
    ("one with the transaction of an idempotent write", idempotent(3), TRANSACTION, WriteFate.COMMITTED),
    ("that transaction, committed before it began", idempotent(-60), TRANSACTION, WriteFate.NOTHING),
    ("one of another kind", delta(CREATED, (3, "OPTIMIZE", OURS)), {}, WriteFate.NOTHING),
    ("none", delta(CREATED), UNMARKED, WriteFate.NOTHING),
    ("no table is there", DictFiles(), {}, WriteFate.NOTHING),
    (
        "the log was cleaned up to a time after it began",
        delta((3, "OPTIMIZE", None), first=7),
        {},
        WriteFate.UNKNOWN,
    ),
    ("more than 200 commits", delta(*[(3, "OPTIMIZE", None)] * 300), {}, WriteFate.UNKNOWN),
]
OTHERS: list[tuple[str, DictFiles, dict[str, Any], WriteFate]] = [
    ("several datasets in one write", delta(CREATED), {"targets": write().targets * 2}, WriteFate.UNKNOWN),
    ("files, Kafka, JDBC", delta(CREATED), {"targets": write("parquet").targets}, WriteFate.UNKNOWN),
]


def test_what_a_delta_log_shows(subtests: pytest.Subtests) -> None:
    for case, files, fields, verdict in (*DELTA, *OTHERS):
        with subtests.test(case):
            found = became_of(write(**fields), files)
            assert found.verdict is verdict, (case, found.reason)
            assert bool(found.reason) is (verdict is not WriteFate.COMMITTED)


def snapshot(number: int, seconds: int, parent: int | None, application: str = "local-1", **summary: str) -> Any:
    found = {
        "snapshot-id": number,
        "timestamp-ms": int((BEGAN + timedelta(seconds=seconds)).timestamp() * 1000),
        "summary": {"operation": "append", "spark.app.id": application, "added-records": "3"} | summary,
    }
    return found if parent is None else found | {"parent-snapshot-id": parent}


def iceberg(*snapshots: Any, current: int, name: str = "v2.metadata.json") -> DictFiles:
    """A table's metadata, before which there was an older file."""
    metadata = {
        "current-snapshot-id": current,
        "refs": {"main": {"snapshot-id": current, "type": "branch"}},
        "snapshots": list(snapshots),
    }
    return DictFiles({f"{TABLE}/metadata/{name}": json.dumps(metadata), f"{TABLE}/metadata/v1.metadata.json": "{}"})


OLD = snapshot(1, -9_000, None)


class Catalogs:
    """Fake catalogs of a session with a table's current metadata."""

    def __init__(self, *snapshots: Any, current: int) -> None:
        [text] = [text for text in iceberg(*snapshots, current=current).texts.values() if text != "{}"]
        self._metadata: dict[str, Any] = json.loads(text)

    def of(self, target: WriteTarget) -> dict[str, Any] | None:
        return self._metadata if target.dataset.name == TABLE else None


OF_A_CATALOG = "00002-a.metadata.json"
"""The name of a metadata file in any but a Hadoop catalog."""

ICEBERG: list[tuple[str, DictFiles, WriteFate]] = [
    ("one snapshot of the application", iceberg(OLD, snapshot(2, 3, 1), current=2), WriteFate.COMMITTED),
    (
        "the same, and a later one of another application",
        iceberg(OLD, snapshot(2, 3, 1), snapshot(3, 4, 2, "x"), current=3),
        WriteFate.COMMITTED,
    ),
    ("two", iceberg(OLD, snapshot(2, 3, 1), snapshot(3, 4, 2), current=3), WriteFate.UNKNOWN),
    ("one that is staged, and not published", iceberg(OLD, snapshot(2, 3, 1), current=1), WriteFate.NOTHING),
    ("one of another application", iceberg(OLD, snapshot(2, 3, 1, "x"), current=2), WriteFate.NOTHING),
    (
        "one of the same id, with another run's mark",
        iceberg(OLD, snapshot(2, 3, 1, **{"headwater.run": "another"}), current=2),
        WriteFate.NOTHING,
    ),
    ("none", iceberg(OLD, current=1), WriteFate.NOTHING),
    ("no table is there", DictFiles(), WriteFate.NOTHING),
    (
        "the newest metadata file is compressed",
        iceberg(OLD, snapshot(2, 3, 1), current=2, name="v2.gz.metadata.json"),
        WriteFate.UNKNOWN,
    ),
    (
        "the newest is compressed, named as by older versions",
        iceberg(OLD, snapshot(2, 3, 1), current=2, name="v2.metadata.json.gz"),
        WriteFate.UNKNOWN,
    ),
    ("snapshots since it began have expired", iceberg(snapshot(3, 4, 2, "x"), current=3), WriteFate.UNKNOWN),
    (
        "a table of another catalog than Hadoop's, without a session that has it",
        iceberg(OLD, snapshot(2, 3, 1), current=2, name=OF_A_CATALOG),
        WriteFate.UNKNOWN,
    ),
]
# By the catalog of a session; the file is one that a killed driver has left, too.
IN_A_SESSION: list[tuple[str, Catalogs, WriteFate]] = [
    (
        "a table of the session's REST, JDBC, Hive or Glue catalog, which has its snapshot",
        Catalogs(OLD, snapshot(2, 3, 1), current=2),
        WriteFate.COMMITTED,
    ),
    ("the same, and the catalog has none", Catalogs(OLD, current=1), WriteFate.NOTHING),
]


@pytest.mark.parametrize(("case", "catalogs", "verdict"), IN_A_SESSION)
def test_what_the_catalogs_of_a_session_show(case: str, catalogs: Catalogs, verdict: WriteFate) -> None:
    left = iceberg(OLD, snapshot(2, 3, 1), current=2, name=OF_A_CATALOG)
    found = became_of(write("iceberg"), left, catalogs)
    assert found.verdict is verdict, (case, found.reason)
    target = WriteTarget(dataset=DatasetRef("file", "/lake/elsewhere"), format="iceberg")
    elsewhere = DictFiles({name.replace(TABLE, "/lake/elsewhere"): text for name, text in left.texts.items()})
    found = became_of(write("iceberg", targets=(target,)), elsewhere, catalogs)
    assert found.verdict is WriteFate.UNKNOWN
    assert "no catalog of the session has the table" in found.reason


def test_what_iceberg_s_metadata_show(subtests: pytest.Subtests) -> None:
    for case, files, verdict in ICEBERG:
        with subtests.test(case):
            found = became_of(write("iceberg"), files)
            assert found.verdict is verdict, (case, found.reason)
            if verdict is WriteFate.COMMITTED:
                assert (snapshot_of(found.position).snapshot_id, found.counts.rows) == ("2", 3)


def test_the_page_shows_these_cases() -> None:
    rows = [("Delta", case, verdict) for case, _, _, verdict in DELTA]
    rows += [("Iceberg", case, verdict) for case, _, verdict in ICEBERG]
    rows += [("Iceberg", case, verdict) for case, _, verdict in IN_A_SESSION]
    rows += [("any", case, verdict) for case, _, _, verdict in OTHERS]
    table = "".join(f"| {format_} | {case} | {verdict} |\n" for format_, case, verdict in rows)
    page = Path(__file__).parents[3] / "docs" / "sources-and-sinks.md"
    check_table(page, "left", f"| table | its log shows | |\n|---|---|---|\n{table}")


def test_ends() -> None:
    files = delta(CREATED, (3, "WRITE", OURS))
    ended = recovered_end(write(), became_of(write(), files), producer="p")
    end = body(ended)
    assert (end.type, end.provenance, end.publication) == (
        RunEventType.COMPLETE,
        Provenance.RECONCILED,
        PublicationState.PUBLISHED,
    )
    assert [(use.dataset.name, use.certainty, use.rows) for use in end.outputs] == [(TABLE, Certainty.INFERRED, 7)]
    assert ended.event_id == recovered_end(write(), became_of(write(), files), producer="p").event_id, "sent again"

    for verdict, publication, facet in (
        (WriteFate.NOTHING, PublicationState.UNPUBLISHED, "headwater_nothingWritten"),
        (WriteFate.UNKNOWN, PublicationState.UNKNOWN, "headwater_unknownOutputs"),
    ):
        end = body(recovered_end(write(), WriteOutcome(verdict=verdict, reason="so it is"), producer="p"))
        assert (end.type, end.provenance, end.publication) == (RunEventType.ABORT, Provenance.RECONCILED, publication)
        assert (end.outputs, end.ended_at) == ((), write().seen_at)
        assert json.loads(end.run_facets[facet])["reason"] == "so it is"


# What is kept.

LINEAGE = ColumnLineage(
    datasets=(DatasetRef("file", "/in"), DatasetRef("file", TABLE)),
    edges=(ColumnEdge(output=1, output_field="id", input=0, input_field="id"),),
)


def started(run_id: str = "run-1") -> tuple[LineageEvent, LineageEvent | None]:
    """START of a write, and its plan."""
    out = PlanOutput(dataset=DatasetRef("file", TABLE), kind=SourceKind.TABLE, format="delta", mode=WriteMode.APPEND)
    read = PlanInput(dataset=DatasetRef("file", "/in"), kind=SourceKind.FILE)
    description = PlanDescription(inputs=(read,), outputs=(out,), lineage=LINEAGE, command="AppendData")
    run = BatchRun(
        write=Write(description=description, written=Counts()), started_at=BEGAN, ended_at=BEGAN, run_id=run_id
    )
    context = event_context("daily")
    facet = write_facet(description, application="local-1", app_run="app-run", marked=True, producer="p")
    *_, start = batch_started(context, run, DedupCache(), {WRITE_FACET: facet})
    return start, plan_to_be(context, run)


def open_writes(folder: Path, app_run: str, job: str = "daily") -> OpenWrites:
    return OpenWrites(folder, app_run, JobRef("default", job), "default")


def died(kept: OpenWrites) -> None:
    """Close the connection like the kernel does when a process is gone."""
    assert kept._connection is not None
    kept._connection.close()
    kept._connection = None


def test_a_start_has_all_that_is_needed() -> None:
    start, _ = started()
    found = left_write(start, seen_at=BEGAN)
    assert found is not None
    assert (found.application, found.app_run, found.marked, found.command) == ("local-1", "app-run", True, "AppendData")
    assert found.targets == (WriteTarget(dataset=DatasetRef("file", TABLE), format="delta"),)
    assert (found.inputs, found.job.name) == ((DatasetRef("file", "/in"),), "daily.orders")


def test_what_a_dead_driver_left_is_taken_once_by_the_same_job(tmp_path: Path) -> None:
    dead = open_writes(tmp_path / "writes", "first")
    for run_id in ("run-1", "run-2"):
        dead.add(*started(run_id))
    dead.seen(BEGAN + timedelta(minutes=7))
    dead.claim("run-1", "4")
    dead.remove("run-2")

    assert list(open_writes(tmp_path / "writes", "second").left()) == [], "its driver lives"
    died(dead)
    assert list(open_writes(tmp_path / "writes", "second", "hourly").left()) == [], "another job's"
    [[kept]] = open_writes(tmp_path / "writes", "second").left()
    assert (kept.write.run_id, sorted(kept.write.claimed)) == ("run-1", ["4"])
    assert kept.write.seen_at == BEGAN + timedelta(minutes=7)
    assert kept.plan is not None
    assert list(open_writes(tmp_path / "writes", "third").left()) == [], "they were taken"
    assert not list((tmp_path / "writes").iterdir())


def test_what_a_dead_driver_left_ends_with_its_application(tmp_path: Path) -> None:
    dead = open_writes(tmp_path, "first")
    dead.add(*started())
    died(dead)
    [left] = open_writes(tmp_path, "second").left()
    plan, end, application = ends_of(left, delta(CREATED, (3, "WRITE", OURS)), producer="p")
    assert plan.plan_event is not None
    assert body(end).plan_digest == plan.plan_event.digest
    assert application.job == JobRef("default", "daily")
    assert (body(application).type, body(application).provenance) == (RunEventType.ABORT, Provenance.RECONCILED)


def test_nothing_is_left_where_all_have_ended(tmp_path: Path) -> None:
    kept = open_writes(tmp_path / "writes", "first")
    kept.add(*started())
    kept.remove("run-1")
    kept.close()
    assert not list(tmp_path.iterdir())


def test_a_write_that_is_open_when_capture_ends_is_left(tmp_path: Path) -> None:
    kept = open_writes(tmp_path, "first")
    kept.add(*started())
    kept.close()
    [[left]] = open_writes(tmp_path, "second").left()
    assert left.write.run_id == "run-1"


LOCATIONS: list[tuple[DatasetRef, str]] = [
    (DatasetRef("file", "/lake/orders"), "/lake/orders"),
    (DatasetRef("s3://bucket", "lake/orders"), "s3a://bucket/lake/orders"),
    (DatasetRef("s3://bucket", "/lake/orders"), "s3a://bucket/lake/orders"),
    (DatasetRef("hdfs://nn:8020", "/lake/orders"), "hdfs://nn:8020/lake/orders"),
]


def test_where_a_table_lies_is_written_as_hadoop_has_it(subtests: pytest.Subtests) -> None:
    for dataset, expected in LOCATIONS:
        with subtests.test(dataset=dataset):
            assert location(dataset) == expected


UNSHOWN: list[tuple[tuple[WriteTarget, ...], str]] = [
    ((), "the write's target isn't known"),
    (write().targets * 2, "the write has several targets"),
    (write("parquet").targets, "the target's format doesn't record which write added a file"),
]


def test_why_nothing_shows_what_became_of_a_write(subtests: pytest.Subtests) -> None:
    for targets, reason in UNSHOWN:
        with subtests.test(targets=targets):
            assert became_of(write(targets=targets), delta(CREATED)) == WriteOutcome(
                verdict=WriteFate.UNKNOWN, reason=reason
            )


class Unreadable(DictFiles):
    """Files that can't be read, for a reason."""

    def __init__(self, reason: Exception) -> None:
        super().__init__(delta(CREATED).texts)
        self._reason = reason

    def read(self, path: str) -> str | None:
        raise self._reason


def test_a_log_that_cannot_be_read_is_a_reason_whatever_failed(
    subtests: pytest.Subtests, caplog: pytest.LogCaptureFixture
) -> None:
    for reason in (OSError("gone"), ValueError("gone"), KeyError("gone"), Py4JError("gone")):
        with subtests.test(reason=reason):
            caplog.clear()
            with caplog.at_level(logging.DEBUG, "headwater_producers.spark.left_writes.left_tables"):
                found = became_of(write(), Unreadable(reason))
            assert found.verdict is WriteFate.UNKNOWN
            assert found.reason == f"the target's log can't be read: {reason}"
            [record] = caplog.records
            assert record.getMessage() == "lineage capture: the log of a table can't be read"
            assert record.exc_info


def test_of_a_write_that_committed_nothing_there_is_no_plan(caplog: pytest.LogCaptureFixture) -> None:
    _, plan = started()
    early = KeptWrite(write(run_id="early", seen_at=BEGAN), plan)
    late = KeptWrite(write(run_id="late"), None)
    with caplog.at_level(logging.INFO, "headwater_producers.spark.left_writes.left_tables"):
        ends = list(ends_of([late, early], delta(CREATED), producer="p"))
    assert [event.run.run_id for event in ends if event.run is not None] == ["late", "early", "app-run"]
    assert [body(event).plan_digest for event in ends] == [None, None, None]
    assert ends[-1].event_time == write().seen_at, "when the last of them was seen"
    reason = became_of(write(), delta(CREATED)).reason
    assert [record.getMessage() for record in caplog.records] == [
        f"lineage capture: run {run_id} of a dead driver: NOTHING {reason}" for run_id in ("late", "early")
    ]


def test_of_a_write_whose_plan_is_not_known_the_commit_is_reported_without_one() -> None:
    files = delta(CREATED, (3, "WRITE", OURS))
    [end, _] = ends_of([KeptWrite(write(), None)], files, producer="p")
    assert (body(end).type, body(end).plan_digest) == (RunEventType.COMPLETE, None)
    start, _ = started()
    [end, _] = ends_of([KeptWrite(write(), start)], files, producer="p")
    assert body(end).plan_digest is None, "an event that is no plan's"


def test_only_an_application_with_a_run_ends() -> None:
    assert len(list(ends_of([KeptWrite(write(parent=None), None)], delta(CREATED), producer="p"))) == 1
    assert list(ends_of([], delta(CREATED), producer="p")) == []


def test_an_application_without_an_outbox_keeps_nothing() -> None:
    kept = KeptWrites()
    kept.add(*started())
    assert list(kept.left()) == []


def test_the_folder_is_the_owners_alone_and_has_a_file_of_each_application(tmp_path: Path) -> None:
    folder = tmp_path / "destination" / "writes"
    for app_run in ("first", "second"):
        open_writes(folder, app_run).add(*started())
    assert {path.name for path in folder.iterdir() if path.suffix == ".db"} == {"first.db", "second.db"}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.parametrize("made_again", [False, True], ids=["gone", "gone and made again"])
def test_a_folder_that_another_process_has_just_removed_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made_again: bool
) -> None:
    folder, tries = tmp_path / "destination" / "writes", 0

    def removed_at_first(path: Path) -> sqlite3.Connection | None:
        nonlocal tries
        tries += 1
        if tries == 1:
            shutil.rmtree(folder.parent)
            if made_again:
                folder.mkdir(mode=0o700, parents=True)
            raise FileNotFoundError
        return create_locked(path)

    monkeypatch.setattr("headwater_producers.spark.left_writes.open_writes.create_locked", removed_at_first)
    kept = open_writes(folder, "first")
    kept.add(*started())
    kept.close()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [[each.write.run_id for each in left] for left in open_writes(folder, "second").left()] == [["run-1"]]


def test_what_is_no_write_is_not_kept(tmp_path: Path) -> None:
    kept = open_writes(tmp_path, "first")
    kept.add(full_job_event(), None)
    kept.seen(BEGAN)
    kept.claim("run-1", "4")
    kept.remove("run-1")
    kept.close()
    assert not list(tmp_path.iterdir())


def test_files_of_no_concern_do_not_keep_from_those_behind_them(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    own, living, others = open_writes(tmp_path, "a"), open_writes(tmp_path, "b"), open_writes(tmp_path, "d", "hourly")
    for kept in (own, living, others):
        kept.add(*started())
    died(others)
    (tmp_path / "c.db").write_bytes(b"no database" * 100)
    for app_run in ("e", "f"):
        dead = open_writes(tmp_path, app_run)
        dead.add(*started(f"run of {app_run}"))
        died(dead)
    assert [[each.write.run_id for each in left] for left in own.left()] == [["run of e"], ["run of f"]]
    assert sorted(path.name for path in tmp_path.glob("*.db")) == ["a.db", "b.db", "c.db", "d.db"]
    text = f"lineage capture: the writes that a dead driver left in {tmp_path / 'c.db'} can't be read: "
    assert [record.getMessage() for record in caplog.records] == [f"{text}file is not a database"]
    assert [len(left) for left in open_writes(tmp_path, "g", "hourly").left()] == [1]


def test_what_was_not_taken_to_the_end_is_left_for_the_next(tmp_path: Path) -> None:
    dead = open_writes(tmp_path, "first")
    dead.add(*started())
    died(dead)
    taken = iter(open_writes(tmp_path, "second").left())
    assert len(next(taken)) == 1
    assert isinstance(taken, Generator)
    taken.close()
    assert len(list(open_writes(tmp_path, "third").left())) == 1


def test_of_a_driver_that_died_as_it_made_the_file_nothing_is_left(tmp_path: Path) -> None:
    (tmp_path / "first.db").touch()
    assert list(open_writes(tmp_path, "second").left()) == [[]]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("statement", ["UPDATE writes SET start = x'00'", "UPDATE writes SET claimed = 'no JSON'"])
def test_a_write_that_can_not_be_read_is_left_out(tmp_path: Path, statement: str) -> None:
    dead = open_writes(tmp_path, "first")
    for run_id in ("run-1", "run-2"):
        dead.add(*started(run_id))
    assert dead._connection is not None
    dead._connection.execute(f"{statement} WHERE run = 'run-1'")
    died(dead)
    [left] = open_writes(tmp_path, "second").left()
    assert [each.write.run_id for each in left] == ["run-2"]


@pytest.mark.parametrize("over", [0, 1], ids=["400 days", "a second more"])
def test_what_nobody_has_taken_for_400_days_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, over: int
) -> None:
    dead = open_writes(tmp_path, "first", "hourly")
    dead.add(*started())
    died(dead)
    left_at = 1_800_000_000
    os.utime(tmp_path / "first.db", (left_at, left_at))
    clock = SimpleNamespace(time=lambda: float(left_at + 34_560_000 + over))
    monkeypatch.setattr("headwater_producers.spark.left_writes.open_writes.time", clock)
    assert list(open_writes(tmp_path, "second").left()) == [[]] * over
    assert (tmp_path / "first.db").exists() == (not over)


def test_a_disk_that_fails_is_reported_with_what_to_do(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "writes").touch()
    kept = open_writes(tmp_path / "writes", "first")
    kept.add(*started())
    kept.add(*started("run-2"))
    kept.remove("run-1")
    kept.close()
    [record] = caplog.records
    begin, end = record.getMessage().split("writes'")
    assert begin.startswith("lineage capture: running batch writes can't be saved (")
    assert end == "); after a crash, `headwater reconcile TABLE` recovers them"


def test_a_file_that_fails_is_reported_once_and_written_no_more(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kept = open_writes(tmp_path, "first")
    kept.add(*started())
    assert kept._connection is not None
    kept._connection.execute("DROP TABLE writes")
    kept.seen(BEGAN)
    kept.add(*started("run-2"))
    kept.close()
    assert [record.getMessage().partition("(")[2].partition(")")[0] for record in caplog.records] == [
        "no such table: writes"
    ]
