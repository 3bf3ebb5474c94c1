"""Script that runs one program and ends the program when its owner has ended for any reason. Standard library only.

    python guard.py LOG GRACE DELETE -- PROGRAM ARGUMENTS…

Standard input is a pipe from the owner, who never writes to it. The kernel closes the pipe when the owner ends, even by
SIGKILL; the guard then ends the program. SIGTERM to the guard has the same effect. Standard output gets one line, the
program's process id. On Linux the program also ends if the guard is killed.

LOG is the file for the program's output. GRACE is the time in seconds between SIGTERM and SIGKILL. DELETE is a folder
to remove afterwards, with its parent if empty, or `-`. With a folder, the program is killed at once, because its data
isn't needed.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import shutil
import signal
import subprocess
import sys

PR_SET_PDEATHSIG = 1


def die_with_parent() -> None:
    """In the child, before exec: ask the kernel to send SIGKILL to the child when the guard dies. Only on Linux."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def wait_for_end(program: subprocess.Popen[bytes], wakeups: int) -> None:
    """Return when the program has ended, the owner's pipe is closed, or SIGTERM has arrived."""
    while True:
        ready, _, _ = select.select([0, wakeups], [], [])
        if 0 in ready and not os.read(0, 1):
            return
        if wakeups in ready and signal.SIGTERM in os.read(wakeups, 64):
            return
        if program.poll() is not None:
            return


def end(program: subprocess.Popen[bytes], grace_seconds: float) -> None:
    """Send SIGTERM, and SIGKILL after the grace; only SIGKILL if the grace is 0."""
    if grace_seconds > 0:
        program.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            program.wait(grace_seconds)
    program.kill()
    program.wait()


def main(arguments: list[str]) -> int:
    """Guard one program; returns its exit status."""
    log, grace, delete, separator, *command = arguments
    if separator != "--" or not command:
        return 2
    wakeups, signalled = os.pipe()
    os.set_blocking(signalled, False)
    signal.set_wakeup_fd(signalled)
    # The handlers are empty, because the wake-up pipe gets the signal's number. The owner handles SIGINT.
    for number in (signal.SIGCHLD, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with open(log, "ab") as output:  # noqa: PTH123  pathlib would double the start-up time of this script
        try:
            program = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                preexec_fn=die_with_parent,  # noqa: PLW1509  the guard has one thread
            )
        except OSError as error:
            output.write(f"{command[0]}: {error.strerror}\n".encode())
            return 127
    try:
        with contextlib.suppress(BrokenPipeError):
            sys.stdout.write(f"{program.pid}\n")
            sys.stdout.flush()
        wait_for_end(program, wakeups)
    finally:
        if program.poll() is None:
            end(program, 0 if delete != "-" else float(grace))
        if delete != "-":
            shutil.rmtree(delete, ignore_errors=True)
            # Several guards may share the parent folder; the last guard finds it empty.
            with contextlib.suppress(OSError):
                os.rmdir(os.path.dirname(delete))  # noqa: PTH106, PTH120  see above
    return program.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
