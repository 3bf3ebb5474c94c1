"""Order of the tests where several processes share them, as `bin/test` runs them.

First the tests of what changed, so that a mistake shows in minutes. Then the folders whose tests take longest, so that
all processes end at about the same time.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[2]

FIRST = (
    "tests/integration/demo/",
    "tests/faults/",
    "tests/spark/",
    "tests/integration/",
    "tests/browser/",
    "tests/contract/materializer/",
    "tests/simulation/",
)
"""The folders that take minutes, in this order; then all others, in seconds."""

_VARIABLE = "TESTS_CHANGED"
_ONE_CHANGE_HOURS = 4


def remember_changes(root: Path = ROOT) -> None:
    """Look up the changed files once, in the first process; the processes that it starts inherit them."""
    if _VARIABLE not in os.environ:
        os.environ[_VARIABLE] = "\n".join(changed_files(root))


def changed_files(root: Path) -> list[str]:
    """List the files that differ from the main branch, or where HEAD is that, those of its last hours.

    Empty where git or the history is missing: the order is then that of the folders alone.
    """
    base = _git(root, "merge-base", "HEAD", "origin/HEAD")
    head = _git(root, "rev-parse", "HEAD")
    if base in ([], head):
        committed = _git(root, "show", "--no-patch", "--format=%ct", "HEAD")
        before = int(committed[0]) - _ONE_CHANGE_HOURS * 3600 if committed else 0
        base = _git(root, "rev-list", "--max-count=1", f"--before={before}", "HEAD")
    return [*_git(root, "diff", "--name-only", *base), *_git(root, "ls-files", "--others", "--exclude-standard")]


def _git(root: Path, *arguments: str) -> list[str]:
    try:
        done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False)
    except OSError:
        return []
    return done.stdout.split() if done.returncode == 0 else []


def rank(test: str, words: frozenset[str]) -> tuple[bool, int]:
    """Sort key of a test: those of changed parts first, then the folders of `FIRST`.

    Args:
        test: Node id, `tests/unit/fold/test_run.py::test_x`.
        words: Names of the folders and files that changed, from `names_of`.
    """
    path = PurePosixPath(test.partition("::")[0])
    changed = not words.isdisjoint({*path.parts[1:-1], path.stem.removeprefix("test_")})
    return (not changed, next((turn for turn, folder in enumerate(FIRST) if test.startswith(folder)), len(FIRST)))


def names_of(changed: Iterable[str]) -> frozenset[str]:
    """Names by which tests of changed files are found: the file's own, and that of its folder.

    `graph/headwater_graph/fold/run.py` ⇒ `fold`, `run`.
    """
    paths = [PurePosixPath(path) for path in changed]
    return frozenset(
        name for path in paths for name in (path.parent.name, path.stem.removeprefix("test_")) if name != "tests"
    )


def names_of_changes() -> frozenset[str]:
    """Names of what `remember_changes` found."""
    return names_of(os.environ.get(_VARIABLE, "").split("\n"))
