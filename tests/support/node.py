"""Node and npm, which only system packages give: tests that need them are skipped where they aren't."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from support.waiting import patience

LEAST_VERSION = 20
_INSTALL = "apt install nodejs npm"


def npm(folder: Path, *arguments: str, seconds: float = 300.0) -> subprocess.CompletedProcess[str]:
    """Run `npm …` in a folder and return its result; skips without a Node that is new enough."""
    found, node = shutil.which("npm"), shutil.which("node")
    if found is None or node is None:
        pytest.skip(f"Node and npm are not installed: {_INSTALL}")
    printed = subprocess.run(
        [node, "--version"], capture_output=True, text=True, timeout=patience(60), check=True
    ).stdout
    version = re.match(r"v(\d+)\.", printed)
    if version is None or int(version[1]) < LEAST_VERSION:
        pytest.skip(f"Node is {printed.strip()}, and {LEAST_VERSION} or newer is needed: {_INSTALL}")
    return subprocess.run(
        [found, *arguments], cwd=folder, capture_output=True, text=True, timeout=patience(seconds), check=False
    )
