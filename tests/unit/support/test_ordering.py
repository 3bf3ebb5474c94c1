"""Tests that need servers stand at one end, those of Spark at the other, and those of what changed at the outside."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from support.ordering import changed_files, names_of, rank

SPARK = "tests/spark/capture/test_attach.py::test_a"
STREAM = "tests/spark/streaming/test_run.py::test_a"
TRACE = "tests/integration/analysis/test_trace.py::test_a"
FOLD = "tests/unit/fold/test_run.py::test_a"
UNIT = "tests/unit/cli/test_times.py::test_a[x/y]"
ALL = (UNIT, SPARK, FOLD, TRACE, STREAM)


def order(changed: list[str]) -> list[str]:
    return sorted(ALL, key=lambda test: rank(test, names_of(changed)))


def test_what_needs_servers_and_what_needs_spark_stand_at_the_ends() -> None:
    assert order([]) == [TRACE, UNIT, FOLD, SPARK, STREAM]


def test_tests_of_a_changed_folder_or_file_stand_outside() -> None:
    assert order(["graph/headwater_graph/fold/uses.py"]) == [FOLD, TRACE, UNIT, SPARK, STREAM]
    assert order(["cli/headwater/times.py"]) == [UNIT, TRACE, FOLD, SPARK, STREAM]
    assert order(["tests/unit/cli/test_times.py"])[0] == UNIT
    assert order(["producers/headwater_producers/spark/capture/batch.py"])[-1] == SPARK


def git(folder: Path, *arguments: str, at: str = "2026-01-01T12:00:00Z") -> None:
    environment = {**os.environ, "GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at, "GIT_CONFIG_GLOBAL": os.devnull}
    command = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
    subprocess.run(command, env=environment, check=True, capture_output=True)


def commit(folder: Path, name: str, at: str) -> None:
    (folder / name).touch()
    git(folder, "add", name)
    git(folder, "commit", "--message", name, at=at)


def test_what_changed_is_the_commits_of_the_last_hours_and_what_is_not_committed(tmp_path: Path) -> None:
    git(tmp_path, "init", "--initial-branch=main")
    commit(tmp_path, "old.py", "2026-01-01T01:00:00Z")
    commit(tmp_path, "first.py", "2026-01-01T10:00:00Z")
    commit(tmp_path, "second.py", "2026-01-01T12:00:00Z")
    (tmp_path / "new.py").touch()
    assert changed_files(tmp_path) == ["first.py", "second.py", "new.py"]


def test_on_a_branch_it_is_what_differs_from_the_main_one(tmp_path: Path) -> None:
    upstream = tmp_path / "upstream"
    upstream.mkdir()
    git(upstream, "init", "--initial-branch=main")
    commit(upstream, "old.py", "2026-01-01T11:00:00Z")
    git(tmp_path, "clone", str(upstream), "clone")
    commit(tmp_path / "clone", "mine.py", "2026-01-01T12:00:00Z")
    assert changed_files(tmp_path / "clone") == ["mine.py"]


def test_without_git_nothing_is_known_to_have_changed(tmp_path: Path) -> None:
    assert changed_files(tmp_path) == []
