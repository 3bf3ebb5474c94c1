"""Starts and stops the supervised stack, without output. Used by `headwater up` and `headwater down`."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from headwater.errors import ExitCode, HeadwaterError
from headwater.stack import state
from headwater.stack.health import kafka_answers, neo4j_answers
from headwater.stack.info import StackInfo
from headwater.stack.jars import ensure_jars
from headwater.stack.kafka import START_SECONDS as KAFKA_START_SECONDS
from headwater.stack.neo4j import START_SECONDS as NEO4J_START_SECONDS
from headwater.stack.paths import OURS, PRIVATE_UMASK, private_folder, write_private
from headwater.stack.supervisor import HANDED_OVER, REVIVE

# The supervisor gives each JVM 30 s (`process.GRACE_SECONDS`), both at once.
STOP_SECONDS = 45.0


class StartError(HeadwaterError):
    """The supervisor could not start the stack; carries its message and exit code."""

    def __init__(self, message: str, *, fix: str, exit_code: ExitCode) -> None:
        super().__init__(message, fix=fix)
        self.exit_code = exit_code


def bring_up(data_dir: Path, *, quick: bool = False) -> StackInfo:
    """Start a supervised stack on this folder, or keep the one that already runs there.

    An interruption during the wait ends the new stack.

    Raises:
        HeadwaterError: The stack could not be started; no server is left running.
    """
    with kept_up(data_dir, quick=quick) as info:
        return info


@contextlib.contextmanager
def kept_up(data_dir: Path, *, quick: bool = False) -> Iterator[StackInfo]:
    """Run a supervised stack on this folder, which stays up if the block ends without an error.

    Until then the stack belongs to this process: it ends if the block raises or the process is killed, even by SIGKILL.
    A stack that already runs there is left unchanged.

    Raises:
        HeadwaterError: The stack could not be started; no server is left running.
    """
    if running := state.find_running_stack(data_dir):
        yield running
        return
    supervisor, info = _started(data_dir, quick=quick)
    try:
        yield info
    except BaseException:
        bring_down(data_dir)
        _let_go(supervisor)
        raise
    with contextlib.suppress(BrokenPipeError):  # raised if the supervisor has already ended
        os.write(_pipe(supervisor).fileno(), HANDED_OVER)
    _let_go(supervisor)


def _started(data_dir: Path, *, quick: bool) -> tuple[subprocess.Popen[bytes], StackInfo]:
    # Here and not in the supervisor: this process has the terminal that a progress bar needs.
    for name in ("kafka", "neo4j"):
        ensure_jars(name)
    private_folder(data_dir, ours=OURS)
    log = data_dir / "supervisor.log"
    write_private(log, "")
    with log.open("wb") as output:
        supervisor = subprocess.Popen(
            [sys.executable, "-m", "headwater.stack.supervisor", str(data_dir), *(["--quick"] if quick else [])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=output,
            start_new_session=True,
            umask=PRIVATE_UMASK,
        )
    assert supervisor.stdout is not None  # noqa: S101  Popen was asked to make one
    with supervisor.stdout as reports:
        try:
            report = json.loads(reports.readline() or b"{}")
        except BaseException:
            supervisor.terminate()
            _pipe(supervisor).close()
            supervisor.wait()
            raise
    info = state.find_running_stack(data_dir)
    if report.get("ready") and info:
        return supervisor, info
    _pipe(supervisor).close()
    supervisor.wait()
    raise StartError(
        report.get("error") or f"The supervisor ended while starting.\n{log.read_text(encoding='utf-8')[-2000:]}",
        fix=report.get("fix") or f"See {log}.",
        exit_code=ExitCode(report.get("exit_code", ExitCode.UNEXPECTED)),
    )


def _pipe(supervisor: subprocess.Popen[bytes]) -> IO[bytes]:
    assert supervisor.stdin is not None  # noqa: S101  Popen was asked to make one
    return supervisor.stdin


def _let_go(supervisor: subprocess.Popen[bytes]) -> None:
    _pipe(supervisor).close()
    # The supervisor outlives this process on purpose; without this line, Popen would warn.
    supervisor.returncode = 0


def bring_down(data_dir: Path) -> bool:
    """End the stack of this folder and wait until it has ended; return whether one was running."""
    record = state.read(data_dir)
    if record is None:
        state.clear(data_dir)
        return False
    members: list[state.ProcessId] = []
    for member in (record.info.kafka, record.info.neo4j):
        with contextlib.suppress(ProcessLookupError):
            members.append(state.ProcessId.of(member.pid))
    with contextlib.suppress(ProcessLookupError):
        os.kill(record.supervisor.pid, signal.SIGTERM)
    if not record.supervisor.wait_gone(STOP_SECONDS):
        with contextlib.suppress(ProcessLookupError):
            # This closes the pipes of the guards, which then end the JVMs.
            os.kill(record.supervisor.pid, signal.SIGKILL)
    for process in members:
        process.wait_gone(STOP_SECONDS)
    state.clear(data_dir)
    return True


def revive(data_dir: Path) -> None:
    """Ask this folder's supervisor to restart servers that don't answer; the others keep running.

    If a server can't be started in time, the supervisor ends, and the whole stack with it.
    """
    record = state.read(data_dir)
    if record is None:
        return
    with contextlib.suppress(ProcessLookupError):
        os.kill(record.supervisor.pid, REVIVE)
    deadline = time.monotonic() + KAFKA_START_SECONDS + NEO4J_START_SECONDS
    while time.monotonic() < deadline:
        now = state.read(data_dir)
        if now is None or (kafka_answers(now.info) and neo4j_answers(now.info)):
            return
        time.sleep(0.2)
    bring_down(data_dir)


def purge(data_dir: Path) -> None:
    """Delete the data of a stack that is down, and the folder if nothing else is in it."""
    for name in OURS:
        path = data_dir / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        data_dir.rmdir()
