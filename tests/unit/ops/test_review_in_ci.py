"""The review's templates for CI: valid, and with the command line that they are meant to have."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from support.review_in_ci import FILE, JOB, action, git, pull_request, run_action, run_template, step, template

# Prints its arguments, and ends as its test wants.
STUB = """#!/bin/sh
for each in "$@"; do printf '%s\\n' "$each" >> "$CALLED"; done
echo '## A comment' > "${RUNNER_TEMP:-.}/review.md"
exit "${STUB_STATUS:-0}"
"""
HOSTILE = "$(touch gone); `touch gone`"


def published(name: str) -> Any:
    """A JSON Schema that GitHub or GitLab publishes, as check-jsonschema brings it."""
    folder = resources.files("check_jsonschema.builtin_schemas").joinpath("vendor")
    return json.loads(folder.joinpath(f"{name}.json").read_text(encoding="utf-8"))


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("headwater", "gh"):
        (folder / name).write_text(STUB)
        (folder / name).chmod(0o755)
    monkeypatch.setenv("CALLED", str(tmp_path / "called"))
    return folder


def called(folder: Path) -> list[str]:
    return (folder / "called").read_text().splitlines()


def test_the_action_is_one() -> None:
    jsonschema.validate(action(), published("github-actions"))


def test_the_template_is_one() -> None:
    for name in (".headwater-review", ".headwater-job-review"):
        jsonschema.validate({"orders": template(name) | {"stage": "test"}}, published("gitlab-ci"))


def test_no_input_is_part_of_a_script() -> None:
    assert not any("${{" in each.get("run", "") for each in action()["runs"]["steps"])


def test_the_action_compares_with_the_base(tmp_path: Path, commands: Path) -> None:
    clone, _ = pull_request(tmp_path, "id int, b int", "id int, c int")
    outputs, temporary, _ = run_action(tmp_path, clone, commands, RENAME="b=c x=y")
    before = f"{temporary}/before-orders.sql"
    assert called(tmp_path) == [
        *("review", "--fail-on", "BREAKING", "--markdown", f"{temporary}/review.md"),
        *("--sarif", f"{temporary}/review.sarif", "--dataset", "orders", "--rename", "b=c", "--rename", "x=y"),
        *("--", before, FILE),
    ]
    assert Path(before).read_text() == "id int, b int"
    assert outputs == {"status": "0"}
    assert (temporary / "summary").read_text() == "## A comment\n"


def test_a_new_file_is_compared_with_the_graph(tmp_path: Path, commands: Path) -> None:
    clone, base = pull_request(tmp_path, None, "id int")
    run_action(tmp_path, clone, commands)
    assert called(tmp_path)[-2:] == ["--", FILE]
    (tmp_path / "called").unlink()
    assert run_template(clone, base, commands).returncode == 0
    assert called(tmp_path)[-2:] == ["--", FILE]


def test_schemas_without_the_graph(tmp_path: Path, commands: Path) -> None:
    """No dataset has to be named; a file that is new has nothing to be compared with."""
    clone, base = pull_request(tmp_path, "id int", "id bigint")
    without = {"GRAPH": "false", "DATASET": ""}
    outputs, temporary, _ = run_action(tmp_path, clone, commands, **without)
    assert run_template(clone, base, commands, **without).returncode == 0
    assert outputs == {"status": "0"}
    assert called(tmp_path) == [
        *("review", "--fail-on", "BREAKING", "--markdown", f"{temporary}/review.md"),
        *("--sarif", f"{temporary}/review.sarif", "--no-graph", "--", f"{temporary}/before-orders.sql", FILE),
        *("review", "--fail-on", "BREAKING", "--markdown", "headwater-review.md", "--gitlab"),
        *("headwater-review.json", "--no-graph", "--", "headwater-before/orders.sql", FILE),
    ]


def test_a_new_schema_without_the_graph_is_stated_to_be_new(tmp_path: Path, commands: Path) -> None:
    clone, base = pull_request(tmp_path, None, "id bigint")
    outputs, temporary, _ = run_action(tmp_path, clone, commands, GRAPH="false")
    assert outputs == {"status": "0"}
    assert "## Schema `schemas/orders.sql` is new" in (temporary / "summary").read_text()
    assert run_template(clone, base, commands, GRAPH="false").returncode == 0
    assert "`schemas/orders.sql` is new" in (clone / "headwater-review.md").read_text()
    assert run_template(clone, "0" * 40, commands, GRAPH="false").returncode != 0
    assert not (tmp_path / "called").exists()


@pytest.mark.parametrize("status", ["0", "2", "5"])
def test_the_verdict_ends_the_job(tmp_path: Path, commands: Path, status: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STUB_STATUS", status)
    clone, base = pull_request(tmp_path, "id int", "id bigint")
    outputs, _, _ = run_action(tmp_path, clone, commands)
    assert outputs == {"status": status}
    assert run_template(clone, base, commands).returncode == int(status)
    assert step("Verdict")["run"] == 'exit "${STATUS:-1}"'


def test_the_template_compares_with_the_base(tmp_path: Path, commands: Path) -> None:
    clone, base = pull_request(tmp_path, "id int, b int", "id int, c int")
    assert run_template(clone, base, commands, RENAME="b=c").returncode == 0
    assert called(tmp_path) == [
        *("review", "--fail-on", "BREAKING", "--markdown", "headwater-review.md"),
        *("--gitlab", "headwater-review.json", "--rename", "b=c", "--dataset", "orders"),
        *("--", "headwater-before/orders.sql", FILE),
    ]
    assert (clone / "headwater-before" / "orders.sql").read_text() == "id int, b int"


def test_values_are_no_commands(tmp_path: Path, commands: Path) -> None:
    clone, base = pull_request(tmp_path, "id int", "id bigint")
    run_action(tmp_path, clone, commands, DATASET=HOSTILE)
    run_template(clone, base, commands, DATASET=HOSTILE)
    assert called(tmp_path).count(HOSTILE) == 2
    assert not (clone / "gone").exists()


OF_A_JOB = {"DATASET": "", "SCHEMA": "", "JOB": JOB, "ARGUMENTS": "--day 2026-01-01 *", "TABLES": "t.json"}
OF_A_JOB |= {"PY_FILES": "lib util.zip", "GRAPH": "false"}


def test_the_action_compares_a_job_with_the_base(tmp_path: Path, commands: Path) -> None:
    clone, _ = pull_request(tmp_path, "old", "new", JOB)
    outputs, temporary, _ = run_action(tmp_path, clone, commands, **OF_A_JOB)
    assert called(tmp_path) == [
        *("review", "--fail-on", "BREAKING", "--markdown", f"{temporary}/review.md"),
        *("--sarif", f"{temporary}/review.sarif", "--no-graph", "--against", "FETCH_HEAD", "--tables", "t.json"),
        *("--py-files", "lib", "--py-files", "util.zip", "--", JOB, "--day", "2026-01-01", "*"),
    ]
    assert outputs == {"status": "0"}


def test_the_template_compares_a_job_with_the_base(tmp_path: Path, commands: Path) -> None:
    clone, base = pull_request(tmp_path, "old", "new", JOB)
    assert run_template(clone, base, commands, ".headwater-job-review", **OF_A_JOB).returncode == 0
    assert called(tmp_path) == [
        *("review", "--against", base, "--fail-on", "BREAKING"),
        *("--markdown", "headwater-review.md", "--gitlab", "headwater-review.json", "--no-graph"),
        *("--tables", "t.json", "--py-files", "lib", "--py-files", "util.zip", "--", JOB, "--day", "2026-01-01", "*"),
    ]


def test_a_new_job_is_stated_to_be_new(tmp_path: Path, commands: Path) -> None:
    clone, base = pull_request(tmp_path, None, "new", JOB)
    outputs, temporary, _ = run_action(tmp_path, clone, commands, **OF_A_JOB)
    assert outputs == {"status": "0"}
    assert "`jobs/orders.py` is new" in (temporary / "summary").read_text()
    assert run_template(clone, base, commands, ".headwater-job-review", **OF_A_JOB).returncode == 0
    assert "`jobs/orders.py` is new" in (clone / "headwater-review.md").read_text()
    assert json.loads((clone / "headwater-review.json").read_text()) == []
    assert not (tmp_path / "called").exists()


def test_a_base_that_isnt_there_is_no_pass(tmp_path: Path, commands: Path) -> None:
    clone, _ = pull_request(tmp_path, "old", "new", JOB)
    done = run_template(clone, "0" * 40, commands, ".headwater-job-review", **OF_A_JOB)
    assert done.returncode == 2
    assert "has no revision" in done.stderr
    git(clone, "remote", "set-url", "origin", str(tmp_path / "nowhere"))
    with pytest.raises(AssertionError):
        run_action(tmp_path, clone, commands, **OF_A_JOB)
    assert not (tmp_path / "called").exists()
