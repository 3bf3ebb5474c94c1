"""Code version of a job without a setting: the git commit of its script, or the distribution that it is in."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

import pytest

from headwater_producers.spark import CaptureSettings
from headwater_producers.spark.common.versions import Code, running_code
from headwater_producers.spark.driver.attach import event_context
from headwater_producers.spark.events.parent import NOBODY


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The script that runs, in a folder that isn't the current one."""
    folder = tmp_path / "jobs"
    folder.mkdir()
    main = ModuleType("__main__")
    main.__file__ = str(folder / "job.py")
    (folder / "job.py").write_text("1\n")
    monkeypatch.setitem(sys.modules, "__main__", main)
    # No repository that the temporary folder may lie in.
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
    return folder / "job.py"


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false")
    done = subprocess.run(["git", *identity, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def commit(script: Path) -> str:
    git(script.parent, "init", "--quiet")
    git(script.parent, "add", ".")
    git(script.parent, "commit", "--quiet", "--message", "x")
    return git(script.parent, "rev-parse", "HEAD")


def test_the_commit_of_the_scripts_checkout(script: Path) -> None:
    commit_id = commit(script)
    assert running_code().version == commit_id
    (script.parent / "notes.txt").write_text("not tracked")
    assert running_code().version == commit_id
    script.write_text("2\n")
    assert running_code().version == f"{commit_id}-dirty"


def test_none_outside_of_a_checkout_and_without_a_script(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert running_code().version is None
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))
    assert running_code().version is None


def test_none_without_git(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(script)
    monkeypatch.setenv("PATH", "")
    assert running_code().version is None


def test_it_is_the_version_that_is_emitted_unless_another_is_named(script: Path) -> None:
    def emitted(**given: str) -> str | None:
        settings = CaptureSettings.load(**given)
        return event_context(settings, app_name="a", spark_version="4.0.0", started_by=NOBODY).versions.code

    assert emitted() is None
    commit_id = commit(script)
    assert emitted() == commit_id
    assert emitted(job_code_version="v7") == "v7"


def test_script_repository_and_branch_of_the_checkout(script: Path) -> None:
    assert running_code() == Code(script=str(script))
    commit_id = commit(script)
    git(script.parent, "branch", "--move", "fix-delays")
    assert running_code() == Code(script="job.py", commit=commit_id, branch="fix-delays")
    git(script.parent, "remote", "add", "origin", "https://bob:hunter2@git.example/flights.git")
    settings = CaptureSettings.load()
    about = event_context(settings, app_name="a", spark_version="4.0.0").about
    assert about is not None
    assert about.repository == "https://[redacted]@git.example/flights.git"
    git(script.parent, "checkout", "--quiet", "--detach")
    assert running_code().branch is None


def test_a_module_of_an_installed_distribution(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    main = sys.modules["__main__"]
    main.__spec__ = ModuleSpec("msgspec.json", None)
    code = running_code()
    assert code.package == f"msgspec {metadata.version('msgspec')}"
    assert code.version == code.package


def test_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))
    assert running_code({"JPY_SESSION_NAME": "/notebooks/delays.ipynb"}) == Code(script="/notebooks/delays.ipynb")
