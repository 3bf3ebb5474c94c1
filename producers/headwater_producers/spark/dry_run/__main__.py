"""One dry run: isolate, make a session, replace readers and writers, run the script, report.

Exit statuses: 0 reported, whatever came of the script; 2 a command line that can't be read.
"""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from pathlib import Path
from typing import Any, Final

from headwater_producers.spark.dry_run.channel import Channel
from headwater_producers.spark.dry_run.isolation import NotAllowedError, isolate
from headwater_producers.spark.dry_run.output import Frames
from headwater_producers.spark.dry_run.reading import serve_reads
from headwater_producers.spark.dry_run.session import keep_session, make_session
from headwater_producers.spark.dry_run.sources import MissingSchemaError, Sources
from headwater_producers.spark.dry_run.statements import run_statements
from headwater_producers.spark.dry_run.writing import Writes, intercept_writes
from headwater_producers.spark.running.script import run_script

_NEEDS_DATA: Final = (IndexError, StopIteration, KeyError)


def main() -> None:
    """Does what this process's command line asks for."""
    flags = argparse.ArgumentParser(allow_abbrev=False)
    flags.add_argument("--channel", required=True, help="descriptors to read answers from, and to write reports to")
    flags.add_argument("--scratch", type=Path, required=True, help="the only folder that may be written")
    flags.add_argument("script")
    flags.add_argument("arguments", nargs=argparse.REMAINDER)
    given = flags.parse_args()
    answers, reports = (int(each) for each in given.channel.split(","))
    channel = Channel(answers, reports)
    scratch = given.scratch.resolve()
    source = Path(given.script).read_bytes()
    alone = isolate(scratch)
    os.chdir(scratch)
    # A script that attaches capture itself has nothing to report.
    os.environ["HEADWATER_CAPTURE_ENABLED"] = "false"
    session = make_session(scratch)
    stop = type(session).stop
    sources = prepare(session, channel, scratch)
    channel.report("begin", {"network": not alone})
    _run(given.script, source, given.arguments, channel)
    channel.report("end", {"inputs": len(sources.identities)})
    stop(session)


def prepare(session: Any, channel: Channel, scratch: Path) -> Sources:
    """Replace PySpark's readers and writers in this process; they can't be put back."""
    keep_session(session)
    sources = Sources(session, channel, scratch)
    frames = Frames(sources)
    writes = Writes(sources, frames)
    serve_reads(sources)
    intercept_writes(writes)
    run_statements(sources, writes)
    return sources


def _run(script: str, source: bytes, arguments: list[str], channel: Channel) -> None:
    try:
        run_script(script, source, arguments)
    except SystemExit as left:
        if left.code not in (None, 0):
            channel.problem(
                f"The script ends with exit status {left.code}.",
                "Give its own arguments after --, as the job gets them.",
            )
    except BaseException as error:
        problem(error, script, channel)


def problem(error: BaseException, script: str, channel: Channel) -> None:
    """Report what the script raised."""
    line = _line(error, script)
    where = f" in line {line}" if line else ""
    if isinstance(error, MissingSchemaError):
        channel.problem(f"The script reads a source without a known schema{where}: {error}.", error.fix)
        return
    if isinstance(error, NotAllowedError):
        channel.problem(
            f"The script fails{where}: {error}.", "Leave that out, or put it behind an argument of the script."
        )
        return
    text = " ".join(str(error).split("\n\nJVM stacktrace", 1)[0].split())[:400]
    fix = "Correct the script, or declare the schema that it expects with --tables FILE."
    if isinstance(error, _NEEDS_DATA) or "NoneType" in text or "EMPTY" in text.upper():
        fix = "Every source is empty here: the script may need a row. Have it stand an empty table."
    channel.problem(f"The script fails{where}: {type(error).__name__}: {text}", fix)


def _line(error: BaseException, script: str) -> int | None:
    if isinstance(error, SyntaxError):
        return error.lineno
    file = str(Path(script).absolute())
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename in {script, file}]
    return lines[-1] if lines else None


if __name__ == "__main__":
    main()
    sys.stdout.flush()
