"""`headwater reconcile` without a graph: what it says, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from headwater.cli import main
from headwater.errors import ExitCode, InputError, UnreachableError
from headwater.reconciling.checkpoints import NAME_THE_FOLDER, location, unreadable_as_errors
from headwater.reconciling.tables import is_name, is_table
from headwater_producers.spark.jvm.files import LocalTextFiles
from headwater_producers.spark.streaming.gaps import spans
from support.checkpoints import QUERY, kafka_checkpoint, written

OFFLINE = ("--no-graph", "--dry-run", "--job", "app.copy")


@pytest.fixture
def checkpoint(tmp_path: Path) -> str:
    made = kafka_checkpoint(5)
    made.plan(5, {"in": {"0": 99}})
    return str(written(made, tmp_path / "cp"))


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any]:
    status = main(["reconcile", *arguments, "--json"])
    return status, json.loads(capsys.readouterr().out)


def test_what_would_be_sent(checkpoint: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, printed = run(capsys, checkpoint, *OFFLINE, "--source", "0=kafka://here")
    assert status == ExitCode.DONE
    assert printed == {
        "checkpoints": [
            {
                "checkpoint": f"file:{checkpoint}",
                "query_id": QUERY,
                "job": {"namespace": "default", "name": "app.copy"},
                "batches": {"count": 5, "first": 0, "last": 4},
                "not_emitted": None,
                "uncommitted": [5],
                "unreadable": [],
                "purged": 0,
                "gaps": None,
            }
        ],
        "dry_run": True,
        "sent": 0,
    }


def test_for_people(checkpoint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reconcile", checkpoint, checkpoint, *OFFLINE, "--source", "0=kafka://here"]) == ExitCode.DONE
    captured = capsys.readouterr()
    assert captured.out.count("5: 0..5") == 2
    assert "10 would be sent (--dry-run)." in captured.err


def test_what_is_not_certain_is_an_error(
    subtests: pytest.Subtests, checkpoint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    cases = [
        ((*OFFLINE,), ExitCode.BAD_INPUT, "source 0 (Kafka, topic in): its dataset is unknown"),
        (("--no-graph", "--dry-run"), ExitCode.BAD_INPUT, "the job has to be named"),
        ((*OFFLINE, "--source", "0"), ExitCode.BAD_INPUT, None),
        ((*OFFLINE, "--source", "0=rate"), ExitCode.BAD_INPUT, None),
    ]
    for arguments, status, printed in cases:
        with subtests.test(arguments=arguments):
            assert main(["reconcile", checkpoint, *arguments]) == status
            assert printed is None or printed in capsys.readouterr().err


def test_what_is_no_checkpoint(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, printed = run(capsys, str(tmp_path / "none"), *OFFLINE)
    assert status == ExitCode.NOT_FOUND
    assert printed["error"]["fix"] == "Name the folder that was the query's checkpointLocation."


def test_a_file_is_no_checkpoint(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("x")
    status, printed = run(capsys, str(tmp_path / "file"), *OFFLINE)
    assert status == ExitCode.BAD_INPUT
    assert printed["error"]["message"] == f"file:{tmp_path}/file is a file, not a folder."


class Thrown:
    """A Java exception as py4j shows it."""

    def __init__(self, name: str, message: str | None, cause: Thrown | None = None) -> None:
        self.getClass = lambda: SimpleNamespace(getName=lambda: name)
        self.getMessage = lambda: message
        self.getCause = lambda: cause


class JavaError(Exception):
    def __init__(self, thrown: Thrown) -> None:
        super().__init__("An error occurred while calling o36.exists.\n\tat java.base/…")
        self.java_exception = thrown


def test_what_the_jvm_says_is_one_line(subtests: pytest.Subtests) -> None:
    cases = [
        (
            Thrown(
                "java.lang.RuntimeException",
                "java.lang.ClassNotFoundException: Class org.S3A not found",
                Thrown("java.lang.ClassNotFoundException", "Class org.S3A not found"),
            ),
            InputError,
            "Spark here has no package for s3a: Class org.S3A not found.",
            'Add the package: PYSPARK_SUBMIT_ARGS="--packages org.apache.hadoop:hadoop-aws:VERSION pyspark-shell".',
        ),
        (
            Thrown("java.lang.IllegalArgumentException", "x", Thrown("java.net.UnknownHostException", "nohost")),
            UnreachableError,
            "s3a://lake/cp can't be reached: nohost.",
            "Check its host and port, and the network from here.",
        ),
        (
            Thrown("java.nio.file.AccessDeniedException", "s3a://lake/cp:\n Forbidden; token=hunter2"),
            InputError,
            "s3a://lake/cp can't be read: AccessDeniedException: s3a://lake/cp: Forbidden; token=[redacted].",
            NAME_THE_FOLDER,
        ),
        (
            Thrown("java.io.EOFException", None),
            InputError,
            "s3a://lake/cp can't be read: EOFException: java.io.EOFException.",
            NAME_THE_FOLDER,
        ),
    ]
    for thrown, kind, message, fix in cases:
        with subtests.test(thrown=thrown):
            with pytest.raises(kind) as refused, unreadable_as_errors("s3a://lake/cp"):
                raise JavaError(thrown)
            assert (refused.value.message, refused.value.fix) == (message, fix)


def test_a_mistake_of_ours_is_not_hidden() -> None:
    with pytest.raises(LookupError), unreadable_as_errors("s3a://lake/cp"):
        raise LookupError


def test_one_that_can_not_be_rebuilt_is_named_and_keeps_no_other_back(
    checkpoint: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "cp/offsets/2").write_text("v9\n{}\n{}")
    status, printed = run(capsys, checkpoint, *OFFLINE, "--source", "0=kafka://here")
    assert status == ExitCode.DONE
    [reported] = printed["checkpoints"]
    assert reported["batches"]["count"] == 3
    assert [each["batch_id"] for each in reported["unreadable"]] == [2, 3]
    assert "only v1 is known" in reported["unreadable"][0]["reason"]


def test_where_a_checkpoint_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert location("cp/") == f"file:{tmp_path}/cp"
    assert location("/cp") == "file:/cp"
    assert location("s3a://lake/cp/X/") == "s3a://lake/cp/X"


def test_spans() -> None:
    assert spans([]) == []
    assert spans([3, 4, 9]) == [(3, 4), (9, 9)]


def test_a_table_needs_the_graph(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "orders" / "_delta_log").mkdir(parents=True)
    (tmp_path / "orders" / "_delta_log" / f"{0:020d}.json").touch()
    for table in (str(tmp_path / "orders"), "db.orders"):
        status, printed = run(capsys, table, "--no-graph", "--dry-run")
        assert status == InputError.exit_code
        assert "--no-graph" in json.dumps(printed)


def test_a_name_in_a_catalog_is_no_path(subtests: pytest.Subtests) -> None:
    cases = [
        ("db.orders", True),
        ("ice.db.`order-lines`", True),
        ("orders", False),
        ("/lake/db.orders", False),
    ]
    for text, expected in cases:
        with subtests.test(text=text):
            assert is_name(text) is expected


def test_what_is_a_table(tmp_path: Path, checkpoint: str) -> None:
    (tmp_path / "ice" / "metadata").mkdir(parents=True)
    assert not is_table(str(tmp_path / "ice"), LocalTextFiles())
    (tmp_path / "ice" / "metadata" / "v1.metadata.json").touch()
    assert is_table(str(tmp_path / "ice"), LocalTextFiles())
    assert is_table(checkpoint, LocalTextFiles()) is False
