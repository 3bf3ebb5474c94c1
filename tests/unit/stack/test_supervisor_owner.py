"""A supervisor ends with the process that started it, until it was handed over. The stack only pretends."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from headwater.stack.supervisor import HANDED_OVER
from support.waiting import patience, stays

SCRIPT = """
import sys
from pathlib import Path
from headwater.stack import supervisor
from headwater.stack.info import Member, StackInfo
from headwater.stack.ports import STANDARD

folder = Path(sys.argv[1])

class Stack:
    ports = STANDARD
    def __init__(self, *_, **__): pass
    def ended(self): return []
    def stop(self): (folder / "stopped").touch()
    def start(self, *, cancelled):
        member = Member(1, "1", folder / "log")
        return StackInfo("h:1", "bolt://h:2", "neo4j", "http://h:3/", folder / "p", folder, "21", member, member)

supervisor.EmbeddedStack = Stack
sys.exit(supervisor.main([str(folder)]))
"""


@pytest.fixture
def supervisor(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b'{"ready": true}\n'
        try:
            yield process
        finally:
            process.kill()


def test_it_ends_when_its_owner_is_gone(supervisor: subprocess.Popen[bytes], tmp_path: Path) -> None:
    assert supervisor.stdin is not None
    supervisor.stdin.close()  # as the kernel does for an owner that is killed
    assert supervisor.wait(patience(20)) == 0
    assert (tmp_path / "stopped").exists()
    assert not (tmp_path / "stack.json").exists()


def test_it_stays_once_it_was_handed_over(supervisor: subprocess.Popen[bytes], tmp_path: Path) -> None:
    assert supervisor.stdin is not None
    supervisor.stdin.write(HANDED_OVER)
    supervisor.stdin.close()
    stays(lambda: supervisor.poll() is None, 1.5)  # it looks once a second
    supervisor.send_signal(signal.SIGTERM)
    assert supervisor.wait(patience(20)) == 0
    assert (tmp_path / "stopped").exists()
