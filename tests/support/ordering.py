"""Order of the tests where two processes share them, as `bin/test` runs them: one from the front, one from the back.

At the front are the tests that need Kafka and Neo4j, at the back those of Spark, in the middle those that need neither.
So mostly one process alone starts the servers and plans each statement, and one alone has a Spark session; they meet in
the middle. Tests of what changed stand at the outer ends, so that a mistake shows in minutes.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from xdist.scheduler import LoadFileScheduling

if TYPE_CHECKING:
    from xdist.workermanage import WorkerController

ROOT = Path(__file__).parents[2]

SERVERS = ("tests/integration/", "tests/browser/", "tests/contract/materializer/", "tests/faults/")
"""Folders whose tests share a Kafka and a Neo4j."""
SPARK = ("tests/spark/", "tests/integration/demo/")
"""Folders whose tests share a Spark session, or start servers of their own."""

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


def rank(test: str, words: frozenset[str]) -> int:
    """Sort key of a test, from the front to the back.

    Args:
        test: Node id, `tests/unit/fold/test_run.py::test_x`.
        words: Names of the folders and files that changed, from `names_of`.
    """
    path = PurePosixPath(test.partition("::")[0])
    changed = not words.isdisjoint({*path.parts[1:-1], path.stem.removeprefix("test_")})
    if test.startswith(SPARK):
        return 5 if changed else 4
    if test.startswith(SERVERS):
        return 1 if changed else 2
    return 0 if changed else 3


class FromBothEnds(LoadFileScheduling):  # type: ignore[misc]  # it has no types
    """Whole files from the front of the queue for the first process, from the back for every other."""

    def _assign_work_unit(self, node: WorkerController) -> None:
        if node.gateway.id != "gw0":
            self.workqueue.move_to_end(next(reversed(self.workqueue)), last=False)
        super()._assign_work_unit(node)


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
