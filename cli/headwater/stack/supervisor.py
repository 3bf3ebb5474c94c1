"""Supervisor process of `headwater up`, which owns both JVMs until SIGTERM.

    python -m headwater.stack.supervisor DATA_DIR [--quick]

Standard input is a pipe from the starting process, which owns the stack at first: if that process ends for any reason,
the stack ends, too. After the byte `HANDED_OVER`, the stack stays.

On standard output the supervisor prints one JSON line, when both servers answer (`{"ready": true}`) or could not be
started (`{"error": …, "fix": …, "exit_code": …}`). Its log is standard error. A server that ends unexpectedly isn't
restarted automatically: this is logged, and `headwater status` shows it. On SIGUSR1, which the next `headwater up`
sends, the supervisor restarts servers that have ended or don't answer.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path

from headwater.errors import ConfigurationError, ExitCode, HeadwaterError
from headwater.stack import state
from headwater.stack.embedded import EmbeddedStack
from headwater.stack.paths import OURS, PRIVATE_UMASK, private_folder

HANDED_OVER = b"+"
REVIVE = signal.SIGUSR1

_CHECK_SECONDS = 1.0


def supervise(data_dir: Path, *, quick: bool = False) -> None:
    """Start the stack of this folder; run it until SIGTERM, the end of both servers, or the owner's early end.

    Raises:
        HeadwaterError: The stack could not be started, or another supervisor uses the folder.
    """
    stop, revive = threading.Event(), threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    signal.signal(REVIVE, lambda *_: revive.set())
    os.umask(PRIVATE_UMASK)
    private_folder(data_dir, ours=OURS)
    threading.Thread(target=_watch_owner, args=(stop,), name="owner", daemon=True).start()
    with (data_dir / "supervisor.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConfigurationError(
                f"Another headwater uses {data_dir}.", fix="End it with `headwater down`."
            ) from None
        stack = EmbeddedStack(data_dir, wanted=state.remembered_ports(data_dir), quick=quick)
        try:
            info = stack.start(cancelled=stop.is_set)
            state.write(data_dir, state.StackRecord(state.ProcessId.of(os.getpid()), info), stack.ports)
            _report({"ready": True})
            _log(f"up: Kafka {info.bootstrap_servers}, Neo4j {info.neo4j_uri}")
            while _watch(stack, stop, revive):
                _log("restarting servers that don't answer")
                info = stack.revive(cancelled=stop.is_set)
                state.write(data_dir, state.StackRecord(state.ProcessId.of(os.getpid()), info), stack.ports)
                _log(f"up: Kafka {info.bootstrap_servers}, Neo4j {info.neo4j_uri}")
        finally:
            stack.stop()
            state.clear(data_dir)
            _log("down")


def _watch_owner(stop: threading.Event) -> None:
    if os.read(sys.stdin.fileno(), 1) != HANDED_OVER:
        _log("the starting process has ended before it handed the stack over")
        stop.set()


def _watch(stack: EmbeddedStack, stop: threading.Event, revive: threading.Event) -> bool:
    """Wait until ended servers should be restarted; False if there is nothing left to supervise."""
    logged: set[str] = set()
    while not stop.wait(_CHECK_SECONDS):
        for name in set(stack.ended()) - logged:
            logged.add(name)
            _log(f"{name} has ended by itself")
        if len(logged) == 2:
            return False
        if revive.is_set():
            revive.clear()
            return True
    return False


def _report(line: dict[str, object]) -> None:
    # `up` reads only this line; afterwards the pipe has no reader.
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def _log(text: str) -> None:
    sys.stderr.write(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ} {text}\n")
    sys.stderr.flush()


def main(arguments: list[str]) -> int:
    """Supervise the stack of the folder that the first argument names."""
    try:
        supervise(Path(arguments[0]), quick="--quick" in arguments[1:])
    except HeadwaterError as error:
        _log(error.message)
        _report({"error": error.message, "fix": error.fix, "exit_code": int(error.exit_code)})
        return error.exit_code
    return ExitCode.DONE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
