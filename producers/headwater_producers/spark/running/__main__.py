"""Bootstrap: attaches to the script's sessions, and runs the script.

Exit statuses before the script runs: 2 for a command line or script that can't be read, 6 for wrong settings. For
settings found wrong at the session's start see `refusal`.
"""

from __future__ import annotations

import functools
import importlib.util
import sys
from pathlib import Path
from typing import Any, NoReturn

from headwater_producers.spark import CaptureSettings, CaptureSettingsError, attach
from headwater_producers.spark.driver import shutdown
from headwater_producers.spark.driver.capture import running_capture
from headwater_producers.spark.running.command_line import RunRequest, UsageError, parse
from headwater_producers.spark.running.hooks import attach_to_sessions
from headwater_producers.spark.running.refusal import CONFIGURATION, exit_status
from headwater_producers.spark.running.script import run_script

_BAD_INPUT = 2


def main() -> None:
    """Run this process's command line."""
    try:
        request = parse(sys.argv[1:])
        source = Path(request.script).read_bytes()
    except UsageError as error:
        _refuse(str(error), _BAD_INPUT)
    except OSError as error:
        _refuse(f"can't open {error.filename}: {error.strerror}", _BAD_INPUT)
    _prepare(request)
    run_script(request.script, source, request.arguments)


def _prepare(request: RunRequest) -> None:
    # Settings of `spark-submit --conf` are known with the session only; all others are checked before the job begins.
    try:
        settings = CaptureSettings.load({}, "--set", **request.settings)
    except CaptureSettingsError as error:
        _refuse(str(error), CONFIGURATION)
    if settings.capture_enabled:
        if importlib.util.find_spec("pyspark") is None:
            _refuse("there is no PySpark for this Python: install headwater[spark], or use spark-submit", CONFIGURATION)
        attach_to_sessions(functools.partial(_attach, request=request))


def _attach(session: Any, request: RunRequest) -> None:
    classic = hasattr(session, "_jsparkSession")
    # A further session of a captured application joins it, and needs no settings.
    settings: dict[str, Any] = {} if classic and running_capture(session) is not None else request.settings
    try:
        attach(session, **settings)
    except Exception as error:
        if status := exit_status(error, session if classic else None, request):
            # Also where the script catches the exception that ends it, or makes its session in another thread.
            shutdown.ends_with(status)
            _refuse(f"lineage isn't captured: {error}", status)
        raise


def _refuse(reason: str, status: int) -> NoReturn:
    sys.stderr.write(f"headwater run: {reason}\n")
    raise SystemExit(status)


if __name__ == "__main__":
    main()
