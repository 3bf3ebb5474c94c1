"""Entry point of a dry run: isolate, make a session, replace readers and writers, run the script, report.

Exit statuses: 0 for a report, even if the script failed; 2 for an invalid command line.
"""

from __future__ import annotations

import argparse
import atexit
import dis
import json
import os
import sys
import threading
import traceback
from collections.abc import Collection
from pathlib import Path
from typing import Any, Final

from headwater_dry_run.channel import Channel, end_with_parent
from headwater_dry_run.delta import serve_delta
from headwater_dry_run.isolation import NotAllowedError, isolate
from headwater_dry_run.line_coverage import LineTracer
from headwater_dry_run.looks import Looks
from headwater_dry_run.merging import Merging, merge_by_methods
from headwater_dry_run.options import without_secrets
from headwater_dry_run.output import Frames
from headwater_dry_run.reading import serve_reads
from headwater_dry_run.session import keep_session, make_session
from headwater_dry_run.sources import MissingSchemaError, Sources
from headwater_dry_run.statements import run_statements
from headwater_dry_run.writing import Writes, intercept_writes
from headwater_producers.spark.running.script import run_script

# Bytecode of `raise` and `assert`.
_RAISE: Final = dis.opmap["RAISE_VARARGS"]
_NEEDS_DATA: Final = (IndexError, StopIteration, KeyError)


def main() -> None:
    """Run this process's command line."""
    flags = argparse.ArgumentParser(allow_abbrev=False)
    flags.add_argument(
        "--channel", required=True, help="file descriptors: for answers to read, and for reports to write"
    )
    flags.add_argument("--scratch", type=Path, required=True, help="the only folder that may be written")
    flags.add_argument("--parent", type=int, required=True, help="process id of the parent; this process ends with it")
    flags.add_argument(
        "--empty", type=json.loads, help="places that get no rows, as JSON; the others get a made-up row"
    )
    flags.add_argument("script")
    flags.add_argument("arguments", nargs=argparse.REMAINDER)
    given = flags.parse_args()
    answers, reports = (int(each) for each in given.channel.split(","))
    channel = Channel(answers, reports)
    scratch = given.scratch.resolve()
    source = Path(given.script).read_bytes()
    removals: list[str] = []
    alone = isolate(scratch, removals)
    end_with_parent(given.parent)
    os.chdir(scratch)
    # A script may attach capture itself: in a dry run capture has nothing to report.
    os.environ["HEADWATER_CAPTURE_ENABLED"] = "false"
    session = make_session(scratch)
    stop = type(session).stop
    sources, looks = prepare(session, channel, scratch, given.empty)
    channel.report("begin", {"network": not alone})
    lines = LineTracer(given.script, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    raised: list[BaseException | None] = []

    def failed(found: threading.ExceptHookArgs) -> None:
        if found.exc_value is not None:
            raised.append(found.exc_value)
            problem(found.exc_value, given.script, channel)

    def end() -> None:
        missing(sources, raised, channel)
        for text in removals:
            channel.report("ddl", {"text": without_secrets(text)})
        channel.report("lines", {"unrun": lines.unrun(sources.compared), "all": lines.statements()})
        channel.report("end", {"inputs": len(sources.identities)})
        stop(session)

    threading.excepthook = failed
    # Runs last: before it, Python waits for the script's threads and calls the script's exit handlers.
    atexit.register(end)
    raised.append(_run(given.script, source, given.arguments, channel, lines, looks))
    if channel.forked:
        # The script continues in its original process, and ends there.
        os._exit(0)


def prepare(
    session: Any, channel: Channel, scratch: Path, empty: Collection[str] | None = None
) -> tuple[Sources, Looks]:
    """Replace PySpark's readers and writers in this process, irreversibly.

    Args:
        scratch: the only folder that may be written.
        empty: see `Looks`.
    """
    keep_session(session)
    sources = Sources(session, channel, scratch)
    frames = Frames(sources)
    writes = Writes(sources, frames)
    serve_reads(sources)
    intercept_writes(writes)
    run_statements(sources, writes)
    merging = Merging(writes)
    merge_by_methods(merging)
    serve_delta(merging)
    looks = Looks(sources, empty)
    looks.serve()
    return sources, looks


def _run(
    script: str, source: bytes, arguments: list[str], channel: Channel, lines: LineTracer, looks: Looks
) -> BaseException | None:
    """Run the script; report and return the exception that it raised."""
    try:
        lines.start()
        try:
            run_script(script, source, arguments)
        finally:
            lines.stop()
    except SystemExit as left:
        if channel.forked:
            # A forked process ends here: it has nothing to report.
            os._exit(left.code if isinstance(left.code, int) else int(left.code is not None))
        if left.code not in (None, 0) and not is_by_a_made_up_row(left, channel, lines, looks):
            channel.problem(
                f"The script ends with exit status {left.code}.",
                "Give its own arguments after --, as the job gets them.",
            )
    except BaseException as error:
        if not is_by_a_made_up_row(error, channel, lines, looks):
            problem(error, script, channel)
        return error
    return None


def is_by_a_made_up_row(raised: BaseException, channel: Channel, lines: LineTracer, looks: Looks) -> bool:
    """Report and return True if the script itself raised because of a made-up row, such as in a check of its data."""
    trace = raised.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if looks.last is None or trace is None or raised.__context__ is not None:
        return False
    if not isinstance(raised, SystemExit):
        code = trace.tb_frame.f_code
        if not lines.is_ours(code.co_filename) or code.co_code[trace.tb_lasti] != _RAISE:
            return False
    channel.report("stop", {"look": looks.last})
    return True


def missing(sources: Sources, raised: Collection[BaseException | None], channel: Channel) -> None:
    """Report each source without a known schema whose error the script has caught, and so continued."""
    for each in sources.missing.values():
        if not any(each is one for one in raised):
            channel.problem(f"The script continues without a source that it reads: {each}.", each.fix)


def problem(error: BaseException, script: str, channel: Channel) -> None:
    """Report the script's exception."""
    line = _line(error, script)
    where = f" in line {line}" if line else ""
    if isinstance(error, MissingSchemaError):
        channel.problem(f"The script reads a source without a known schema{where}: {error}.", error.fix)
        return
    if isinstance(error, NotAllowedError):
        channel.problem(
            f"The script fails{where}: {error}.", "Remove this action, or make it depend on an argument of the script."
        )
        return
    text = " ".join(str(error).split("\n\nJVM stacktrace", 1)[0].split())[:400]
    fix = "Correct the script, or declare the schema that it expects with --tables FILE."
    if isinstance(error, _NEEDS_DATA) or "NoneType" in text or "EMPTY" in text.upper():
        fix = "Every source is empty in a dry run, and the script may need a row. Make it work with empty tables."
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
