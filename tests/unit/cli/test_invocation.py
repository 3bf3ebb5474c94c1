"""Commands that Headwater prints run as they are printed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from headwater import cli
from headwater.invocation import as_called, program

if TYPE_CHECKING:
    import pytest


def test_the_program_as_it_was_called(subtests: pytest.Subtests, monkeypatch: pytest.MonkeyPatch) -> None:
    cases = [
        ({"HEADWATER_COMMAND": "./bin/headwater", "UV_RUN_RECURSION_DEPTH": "1"}, "./bin/headwater"),
        ({"HEADWATER_COMMAND": "/a folder/bin/headwater"}, "'/a folder/bin/headwater'"),
        ({"UV_RUN_RECURSION_DEPTH": "1"}, "uv run headwater"),
        ({}, "headwater"),
    ]
    for variables, expected in cases:
        with subtests.test(variables=variables):
            for name in ("HEADWATER_COMMAND", "UV_RUN_RECURSION_DEPTH"):
                monkeypatch.delenv(name, raising=False)
            for name, value in variables.items():
                monkeypatch.setenv(name, value)
            assert program() == expected
            assert as_called("Start it with `headwater up`, headwater itself is fine.") == (
                f"Start it with `{expected} up`, headwater itself is fine."
            )


def test_what_status_advises_is_as_it_was_called(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HEADWATER_COMMAND", "./bin/headwater")
    monkeypatch.setenv("HEADWATER_DATA_DIR", str(tmp_path))
    assert cli.main(["status"]) == 3
    assert "`./bin/headwater up`" in capsys.readouterr().out
    assert cli.main(["status", "--nonsense"]) == 2
    assert "Usage: ./bin/headwater status" in capsys.readouterr().err
