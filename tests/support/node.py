"""Node and npm, which only system packages give: tests that need them are skipped where they aren't."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from headwater.stack.paths import cache_dir
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


def npm_ci(folder: Path) -> None:
    """Install the locked packages of a folder; skips where npm can't get them."""
    installed = npm(folder, "ci", "--prefer-offline", "--no-audit", "--no-fund")
    if re.search(
        r"code (?:ENOTFOUND|EAI_AGAIN|ECONN\w+|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTCACHED)", installed.stderr
    ):
        pytest.skip(f"npm has no way to the packages that package-lock.json names: {installed.stderr[:400]}")
    assert installed.returncode == 0, installed.stderr


def installed_packages(sources: Path) -> Path:
    """Folder in the cache with the packages that `package-lock.json` of `sources` names; made by the first who asks."""
    names = ("package.json", "package-lock.json", ".npmrc")
    digest = hashlib.blake2b(b"".join((sources / name).read_bytes() for name in names), digest_size=6).hexdigest()
    folder = cache_dir() / "node" / f"{sources.name}-{digest}"
    if folder.exists():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="draft.", dir=folder.parent) as draft:
        made = Path(draft) / "made"
        made.mkdir()
        for name in names:
            shutil.copy(sources / name, made)
        npm_ci(made)
        try:
            made.rename(folder)
        except OSError:
            # Another process was faster, with the same packages.
            assert folder.exists()
    return folder
