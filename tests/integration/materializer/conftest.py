"""Commands of this process in the test's own world."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from headwater import cli


@pytest.fixture
def headwater(
    settings: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Any]:
    """A command's document; its exit status is `status`, or any if that is None."""
    for name, value in settings.items():
        monkeypatch.setenv(name, value)

    def run(*arguments: str, status: int | None = 0) -> Any:
        capsys.readouterr()
        assert cli.main([*arguments, "--json"]) == status or status is None
        return json.loads(capsys.readouterr().out or "null")

    return run
