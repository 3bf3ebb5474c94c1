"""Bootstrap: attaches to the script's sessions, and runs the script.

Exit statuses before the script runs: 2 for a command line or script that can't be read, 6 for wrong settings.

A script whose session can't be captured is ended before it has read or written anything, in two cases:

- `headwater run` with a wrong setting, whatever the policy: exit status 6, as for a setting that is known to be wrong
  before the script runs
- any entry point, under an emission policy that fails the job: exit status 6 for a wrong setting, else 1

In all other cases the script runs on, and the error is in the log.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from headwater_producers.spark import CaptureSettings, CaptureSettingsError, attach
from headwater_producers.spark.common.settings import ENV_PREFIX, EmissionPolicy, headwater_properties, property_name
from headwater_producers.spark.driver import shutdown
from headwater_producers.spark.driver.capture import running_capture
from headwater_producers.spark.running.command_line import RunRequest, UsageError, parse
from headwater_producers.spark.running.hooks import attach_to_sessions
from headwater_producers.spark.running.script import run_script

_BAD_INPUT = 2
CONFIGURATION = 6
_FAILED = 1
_SETTING = "emission_policy"
_PATIENT = {str(policy) for policy in EmissionPolicy if not policy.fails}


def exit_status(error: Exception, session: Any, request: RunRequest) -> int:
    """Return the exit status with which to end a script; 0: the script continues.

    Args:
        session: a classic session; None for Spark Connect, which has no properties of capture.
    """
    wrong = isinstance(error, CaptureSettingsError)
    properties = headwater_properties(session) if session is not None else {}
    if (wrong and request.exits_on_wrong_settings) or wants_lineage(request.settings, properties):
        return CONFIGURATION if wrong else _FAILED
    return 0


def wants_lineage(settings: Mapping[str, str], properties: Mapping[str, str]) -> bool:
    """Return True if the emission policy fails a job without lineage; some of the settings may be wrong.

    An unknown value counts as such a policy: perhaps the strictest was meant. A misspelt property with a policy as its
    value counts, too.

    Args:
        properties: Spark's properties whose names begin with `spark.headwater.`.
    """
    wanted = (
        settings.get(_SETTING)
        or properties.get(property_name(_SETTING))
        or os.environ.get(f"{ENV_PREFIX}{_SETTING.upper()}")
    )
    if wanted:
        return wanted not in _PATIENT
    return any(value in set(EmissionPolicy) - _PATIENT for value in properties.values())


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
    # Settings of `spark-submit --conf` are only known with the session; all others are checked before the job begins.
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
            # For a script that catches the exception that should end it, or creates its session in another thread.
            shutdown.ends_with(status)
            _refuse(f"lineage isn't captured: {error}", status)
        raise


def _refuse(reason: str, status: int) -> NoReturn:
    sys.stderr.write(f"headwater run: {reason}\n")
    raise SystemExit(status)


if __name__ == "__main__":
    main()
