"""The scripts of the review's templates for CI, run in a repository with a pull request."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
ACTION = ROOT / "ops" / "github-action" / "action.yml"
TEMPLATE = ROOT / "ops" / "gitlab" / "review.gitlab-ci.yml"
FILE = "schemas/orders.sql"
JOB = "jobs/orders.py"

_OF_JOBS = {"JOB": "", "ARGUMENTS": "", "TABLES": "", "PY_FILES": "", "GRAPH": "true"}


def action() -> Any:
    """GitHub's action."""
    return yaml.safe_load(ACTION.read_text(encoding="utf-8"))


def template(name: str = ".headwater-review") -> Any:
    """GitLab's job, with what it extends."""
    jobs = yaml.safe_load(TEMPLATE.read_text(encoding="utf-8"))
    found = jobs[name]
    return {**jobs[found.pop("extends")], **found} if "extends" in found else found


def step(name: str) -> Any:
    """A step of the action."""
    return next(each for each in action()["runs"]["steps"] if each.get("name") == name)


def git(folder: Path, *arguments: str) -> str:
    """Run git and return its output."""
    names = ("-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "init.defaultBranch=main")
    done = subprocess.run(["git", *names, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def pull_request(folder: Path, before: str | None, after: str, file: str = FILE) -> tuple[Path, str]:
    """A clone whose branch changes a file, and the commit that it began at."""
    origin, clone = folder / "origin", folder / "clone"
    origin.mkdir()
    git(origin, "init", "--quiet")
    (origin / "README").write_text("x")
    if before is not None:
        (origin / file).parent.mkdir()
        (origin / file).write_text(before)
    git(origin, "add", ".")
    git(origin, "commit", "--quiet", "-m", "before")
    git(folder, "clone", "--quiet", str(origin), str(clone))
    (clone / file).parent.mkdir(exist_ok=True)
    (clone / file).write_text(after)
    return clone, git(clone, "rev-parse", "HEAD")


def run_script(
    script: str, shell: str, folder: Path, variables: Mapping[str, str], commands: Path
) -> subprocess.CompletedProcess[str]:
    """Run a script, with the commands of a folder before all others."""
    environment = {**os.environ, **variables, "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}"}
    arguments = [shell, "-e", "-c", script]
    return subprocess.run(arguments, cwd=folder, env=environment, check=False, capture_output=True, text=True)


def run_action(folder: Path, clone: Path, commands: Path, **inputs: str) -> tuple[dict[str, str], Path, str]:
    """The action's review step: its outputs, the folder that it wrote to, and what it printed."""
    temporary = folder / "runner"
    temporary.mkdir()
    variables = {
        "DATASET": "orders",
        "SCHEMA": FILE,
        "RENAME": "",
        **_OF_JOBS,
        "FAIL_ON": "BREAKING",
        "BASE": "main",
        "RUNNER_TEMP": str(temporary),
        "GITHUB_OUTPUT": str(temporary / "output"),
        "GITHUB_STEP_SUMMARY": str(temporary / "summary"),
        **inputs,
    }
    done = run_script(step("Review")["run"], "bash", clone, variables, commands)
    assert done.returncode == 0, done.stderr
    lines = (temporary / "output").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines), temporary, done.stdout + done.stderr


def run_template(
    clone: Path, base: str, commands: Path, name: str = ".headwater-review", **inputs: str
) -> subprocess.CompletedProcess[str]:
    """GitLab's job."""
    given = {"DATASET": "orders", "SCHEMA": FILE, "RENAME": "", **_OF_JOBS, "FAIL_ON": "BREAKING"}
    variables = {**given, "CI_MERGE_REQUEST_DIFF_BASE_SHA": base, **inputs}
    (script,) = template(name)["script"]
    return run_script(script, "sh", clone, variables, commands)
