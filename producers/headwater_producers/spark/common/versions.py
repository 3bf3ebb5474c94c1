"""Which code a job is made of."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from importlib import metadata
from pathlib import Path

_GIT_TIMEOUT_SECONDS = 2.0


@cache
def capture_version() -> str:
    """Version of this distribution."""
    try:
        return metadata.version("headwater")
    except metadata.PackageNotFoundError:
        return "unknown"


def git_commit() -> str | None:
    """Commit of the checkout that the running script is in, `-dirty` with uncommitted changes to tracked files.

    None without a script, outside of a checkout, and where git is missing or slow.
    """
    script = getattr(sys.modules.get("__main__"), "__file__", None)
    if script is None:
        return None
    folder = str(Path(script).resolve().parent)
    commit = _git(folder, "rev-parse", "HEAD")
    if commit is None or commit.returncode != 0:
        return None
    changed = _git(folder, "diff", "--quiet", "HEAD")
    dirty = changed is not None and changed.returncode == 1
    return commit.stdout.strip() + ("-dirty" if dirty else "")


def _git(folder: str, *arguments: str) -> subprocess.CompletedProcess[str] | None:
    try:
        return subprocess.run(
            ["git", "-C", folder, *arguments],
            capture_output=True,
            text=True,
            timeout=_GIT_TIMEOUT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
