"""`headwater review OLD NEW --no-graph`: two schemas compared where there is no Neo4j."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from headwater.cli import main
from support.sarif import check_sarif


@pytest.fixture(autouse=True)
def no_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks it nevertheless is refused."""
    monkeypatch.setenv("HEADWATER_NEO4J_URI", "bolt://127.0.0.1:1")


def reviewed(folder: Path, old: str, new: str, *options: str) -> int:
    (folder / "old.sql").write_text(old, encoding="utf-8")
    (folder / "new.sql").write_text(new, encoding="utf-8")
    return main(["review", str(folder / "old.sql"), str(folder / "new.sql"), "--no-graph", *options])


def test_the_verdict_is_that_of_the_kind(
    subtests: pytest.Subtests, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cases = [
        ("a int, b int", "a int", "BREAKING", 5),
        ("a bigint", "a int", "DEGRADED", 0),
        ("a int", "a int, b int not null", "DEGRADED", 0),
        ("a int", "a int not null", "DEGRADED", 0),
        ("a int", "a int, b int", "COSMETIC", 0),
        ("a int", "a bigint", "COSMETIC", 0),
        ("a int, b int", "b int, a int", "NONE", 0),
    ]
    for old, new, verdict, status in cases:
        with subtests.test(old=old, new=new):
            assert reviewed(tmp_path, old, new, "--fail-on", "BREAKING", "--json") == status
            answer: dict[str, Any] = json.loads(capsys.readouterr().out)
            assert answer["severity"] == verdict
            assert answer["notes"] == [
                "The graph wasn't asked: each difference is judged as if somebody read the column or dataset."
            ]
            assert answer["dataset"]["name"] == str(tmp_path / "new.sql")


def test_a_rename_and_what_looks_like_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    schemas = "order_id int, b int", "order_ids int, b int"
    assert reviewed(tmp_path, *schemas) == 0
    assert "Is it renamed to order_ids? Then give --rename order_id=order_ids." in capsys.readouterr().out
    assert reviewed(tmp_path, *schemas, "--rename", "order_id=order_ids", "--dataset", "orders") == 0
    text = capsys.readouterr().out
    assert "orders: BREAKING" in text
    assert "1 difference (1 BREAKING)." in text
    assert reviewed(tmp_path, *schemas, "--rename", "nothing=order_ids") == 2
    assert "--rename" in capsys.readouterr().err


def test_what_is_written_states_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {name: tmp_path / name for name in ("markdown", "sarif", "gitlab")}
    options = [word for name, file in files.items() for word in (f"--{name}", str(file))]
    assert reviewed(tmp_path, "a int, b int", "a int", *options, "--at", "value") == 0
    assert "The graph wasn't asked" in files["markdown"].read_text()
    assert "value.b is removed" in files["markdown"].read_text()
    check_sarif(json.loads(files["sarif"].read_text()))
    assert [each["severity"] for each in json.loads(files["gitlab"].read_text())] == ["blocker"]


def test_what_cant_be_compared(
    subtests: pytest.Subtests, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cases = [
        (["new.sql", "--no-graph"], "There is only one schema"),
        (["new.sql", "new.sql"], "or compare two files with --no-graph"),
        (["new.sql", "broken.sql", "--no-graph"], "broken.sql, line 1: is no CREATE TABLE"),
        (["new.sql", "nowhere.sql", "--no-graph"], "nowhere.sql can't be read"),
    ]
    for command, message in cases:
        with subtests.test(command=command):
            monkeypatch.chdir(tmp_path)
            Path("new.sql").write_text("a int")
            Path("broken.sql").write_text("create nothing")
            assert main(["review", *command]) == 2
            assert message in capsys.readouterr().err


def test_5000_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new = (", ".join(f"c{number} {kind}" for number in range(5_000)) for kind in ("int", "bigint"))
    assert reviewed(tmp_path, old, new, "--json", "--fail-on", "DEGRADED") == 0
    assert len(json.loads(capsys.readouterr().out)["differences"]) == 5_000
