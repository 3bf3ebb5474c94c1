"""Isolation of a dry run: each case in a process of its own, since isolation can't be taken back."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.waiting import patience

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="network namespaces are Linux's")

SCRIPT = """
import socket, sys
from pathlib import Path
from headwater_dry_run import isolation
{before}
alone = isolation.isolate(Path(sys.argv[1]), [])
try:
    socket.create_connection(("127.0.0.1", int(sys.argv[2])), timeout=5).close()
except OSError:
    print(alone, "unreachable")
else:
    print(alone, "reachable")
"""
NO_NAMESPACE = "isolation._leave_network = lambda: (_ for _ in ()).throw(OSError('refused'))"
NO_LOOPBACK = """
def refuse(*_):
    raise PermissionError("Operation not permitted")
isolation.fcntl.ioctl = refuse
"""


@pytest.fixture
def port() -> Iterator[int]:
    """A server on loopback."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def ran(folder: Path, port: int, before: str = "") -> str:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(before=before), str(folder), str(port)],
        capture_output=True,
        text=True,
        timeout=patience(60),
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_network_is_gone(tmp_path: Path, port: int) -> None:
    assert ran(tmp_path, port) in ("True unreachable", "False reachable")


@pytest.mark.parametrize("before", [NO_NAMESPACE, NO_LOOPBACK], ids=["no namespace", "a namespace without loopback"])
def test_a_system_that_refuses_leaves_the_network_as_it_is(tmp_path: Path, port: int, before: str) -> None:
    """Without its loopback no JVM could be reached: the dry run has to go on with that of the system."""
    assert ran(tmp_path, port, before) == "False reachable"


def test_refused_removals_are_listed(tmp_path: Path) -> None:
    """A script may catch the error, and would have removed the files all the same."""
    scratch, kept = tmp_path / "scratch", tmp_path / "kept"
    for folder in (scratch, kept):
        folder.mkdir()
        (folder / "file").touch()
    script = """
import contextlib, os, shutil, sys
from pathlib import Path
from headwater_dry_run import isolation
scratch, kept = map(Path, sys.argv[1:])
removals = []
isolation.isolate(scratch, removals)
(scratch / "file").unlink()
with contextlib.suppress(OSError):
    (kept / "new").mkdir()
for remove in (shutil.rmtree, os.rmdir):
    with contextlib.suppress(OSError):
        remove(kept)
print(removals)
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(scratch), str(kept)],
        capture_output=True,
        text=True,
        timeout=patience(60),
        check=True,
    )
    assert done.stdout.strip() == str([f"shutil.rmtree({str(kept)!r})", f"os.rmdir({str(kept)!r})"])
    assert (kept / "file").exists()
