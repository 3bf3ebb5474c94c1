"""promtool, which only a system package gives: tests that need it are skipped where it isn't."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from support.waiting import patience


def accept(*arguments: object, stdin: str | None = None, folder: Path | None = None) -> str:
    """Run promtool and return its output, failing where it refuses; a warning of its linters is a refusal."""
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is not installed: apt install prometheus")
    ran = subprocess.run(
        [promtool, *map(str, arguments)],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=patience(60),
        check=False,
        cwd=folder,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def accept_scrape(text: str) -> str:
    """Check an answer of `/metrics`: names, types, units and help, and the number of series of each metric."""
    return accept("check", "metrics", "--extended", stdin=text)
