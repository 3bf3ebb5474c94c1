"""A script under plain spark-submit, on this machine's two cores."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from headwater.stack import ensure_jars, java_runtime
from support.running import QUICK_JVM

SPARK_SUBMIT = Path(sys.executable).parent / "spark-submit"


def submit(script: Path, *flags: str, environment: Mapping[str, str]) -> str:
    """Run it to its end; its stdout."""
    command = [str(SPARK_SUBMIT), "--master", "local[1]", "--driver-memory", "512m"]
    command += ["--driver-java-options", QUICK_JVM]
    command += ["--jars", ",".join(map(str, ensure_jars("spark"))), str(script), *flags]
    variables = {**os.environ, **java_runtime().environment(), "PYSPARK_PYTHON": sys.executable, **environment}
    done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout
