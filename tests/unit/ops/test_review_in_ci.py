"""The review's templates for CI: valid, and with the command line that they are meant to have."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from support.review_in_ci import FILE, action, pull_request, run_action, run_template, step, template

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
    job = template() | {"stage": "test"}
    jsonschema.validate({"orders schema": job}, published("gitlab-ci"))


def test_no_input_is_part_of_a_script() -> None:
    assert not any("${{" in each.get("run", "") for each in action()["runs"]["steps"])


def test_the_action_compares_with_the_base(tmp_path: Path, commands: Path) -> None:
    clone, _ = pull_request(tmp_path, "id int, b int", "id int, c int")
    outputs, temporary, _ = run_action(tmp_path, clone, commands, RENAME="b=c x=y")
    before = f"{temporary}/before-orders.sql"
    assert called(tmp_path) == [
        *("review", "--dataset", "orders", "--fail-on", "BREAKING", "--rename", "b=c", "--rename", "x=y"),
        *("--markdown", f"{temporary}/review.md", "--sarif", f"{temporary}/review.sarif", "--", before, FILE),
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
        *("review", "--dataset", "orders", "--fail-on", "BREAKING"),
        *("--markdown", "headwater-review.md", "--gitlab", "headwater-review.json"),
        *("--rename", "b=c", "--", "headwater-before/orders.sql", FILE),
    ]
    assert (clone / "headwater-before" / "orders.sql").read_text() == "id int, b int"


def test_values_are_no_commands(tmp_path: Path, commands: Path) -> None:
    clone, base = pull_request(tmp_path, "id int", "id bigint")
    run_action(tmp_path, clone, commands, DATASET=HOSTILE)
    run_template(clone, base, commands, DATASET=HOSTILE)
    assert called(tmp_path).count(HOSTILE) == 2
    assert not (clone / "gone").exists()
