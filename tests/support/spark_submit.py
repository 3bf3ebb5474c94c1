"""A script under plain spark-submit, on this machine's two cores."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from headwater.stack import ensure_jars, java_runtime
from support.running import QUICK_JVM
from support.waiting import patience


def submit(script: Path, *flags: str, environment: Mapping[str, str], python: Path | None = None) -> str:
    """Run it to its end; its stdout.

    Args:
        script: the job.
        flags: its own.
        environment: of its driver.
        python: of an environment with another PySpark, which then has no further jars; None: this one's.
    """
    interpreter = python or Path(sys.executable)
    command = [str(interpreter.with_name("spark-submit")), "--master", "local[1]", "--driver-memory", "512m"]
    command += ["--driver-java-options", QUICK_JVM]
    if python is None:
        command += ["--jars", ",".join(map(str, ensure_jars("spark")))]
    command += [str(script), *flags]
    variables = {**os.environ, **java_runtime().environment(), "PYSPARK_PYTHON": str(interpreter), **environment}
    done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=patience(300), check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout
