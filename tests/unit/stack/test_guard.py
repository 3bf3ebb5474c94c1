"""A guarded program ends with its owner, whatever becomes of the owner. Real processes, small ones."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import psutil
import pytest

from headwater.errors import HeadwaterError
from headwater.stack import process
from headwater.stack.process import GuardedProcess
from headwater.stack.state import ProcessId
from support.waiting import patience

SLEEP = [sys.executable, "-c", "import time; print('begun', flush=True); time.sleep(600)"]
STUBBORN = [
    sys.executable,
    "-c",
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('begun', flush=True); time.sleep(600)",
]
OWNER = textwrap.dedent("""
    import sys, time
    from pathlib import Path
    from headwater.stack.process import GuardedProcess
    guarded = GuardedProcess("sleeper", sys.argv[2:], output=Path(sys.argv[1]))
    print(guarded.pid, flush=True)
    time.sleep(600)
""")


def begun(guarded: GuardedProcess, output: Path) -> None:
    guarded.wait_until(lambda: "begun" in output.read_text(), timeout_seconds=patience(20), cancelled=lambda: False)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_the_program_ends_with_its_owner(number: signal.Signals, tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", OWNER, str(tmp_path / "output"), *SLEEP],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as owner:
        assert owner.stdout is not None
        program = ProcessId.of(int(owner.stdout.readline()))
        assert program.alive()
        owner.send_signal(number)
    assert program.wait_gone(patience(10))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child of its parent's death")
def test_the_program_ends_with_a_killed_guard(tmp_path: Path) -> None:
    guarded = GuardedProcess("sleeper", SLEEP, output=tmp_path / "output")
    program = ProcessId.of(guarded.pid)
    os.kill(psutil.Process(guarded.pid).ppid(), signal.SIGKILL)
    assert program.wait_gone(patience(10))
    assert guarded.ended()
    guarded.stop()


def test_a_program_that_ignores_sigterm_is_killed_after_its_grace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "GRACE_SECONDS", 0.3)
    guarded = GuardedProcess("stubborn", STUBBORN, output=tmp_path / "output")
    begun(guarded, tmp_path / "output")
    program = ProcessId.of(guarded.pid)
    guarded.stop()
    assert not program.alive()


def test_the_folder_to_delete_goes_with_the_program(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    guarded = GuardedProcess("stubborn", STUBBORN, output=folder / "output", delete=folder)
    begun(guarded, folder / "output")
    guarded.stop()
    guarded.stop()
    assert not folder.exists()


def test_a_program_that_ends_while_starting_is_reported_with_its_last_words(tmp_path: Path) -> None:
    guarded = GuardedProcess("short", ["sh", "-c", "echo so it goes; exit 3"], output=tmp_path / "output")
    with pytest.raises(HeadwaterError, match=r"short ended while starting\.\nso it goes"):
        guarded.wait_until(lambda: False, timeout_seconds=patience(20), cancelled=lambda: False)
    guarded.stop()


def test_a_program_that_is_not_there_is_reported(tmp_path: Path) -> None:
    with pytest.raises(HeadwaterError, match="/nonexistent/java"):
        GuardedProcess("absent", ["/nonexistent/java"], output=tmp_path / "output")
