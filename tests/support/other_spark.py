"""An environment with another PySpark than the locked one, and tests run in it.

    PYTHONPATH=tests uv run python -m support.other_spark 3.5.7 tests/spark/plan

runs them there; all that follows the version is pytest's. With `--record` before the version the results go into the
table of docs/spark-versions.md. All else in the environment is as locked. It is made once, by uv, in a minute or two,
and kept in the cache folder. PySpark is 400 MB of it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from headwater.stack.paths import cache_dir
from support.spark_results import record
from support.waiting import patience

ROOT = Path(__file__).parents[2]
_SECONDS = 600.0


class NotToBeHadError(Exception):
    """uv couldn't make the environment, by its last words: there is no way to the package index, mostly."""


def python_of(version: str) -> Path:
    """The Python of the environment for a version of PySpark, which is made or brought up to date first.

    Raises:
        NotToBeHadError: uv is missing, or can't reach the packages.
    """
    folder = cache_dir() / "other-spark" / version
    python = folder / "bin" / "python"
    variables = {**os.environ, "UV_PROJECT_ENVIRONMENT": str(folder)}
    run_uv(
        "sync", "--frozen", "--inexact", "--no-install-package", "pyspark", "--python", sys.executable, env=variables
    )
    run_uv("pip", "install", "--python", str(python), f"pyspark=={version}", env=variables)
    return python


def run_tests(version: str, *arguments: str, seconds: float | None = None) -> subprocess.CompletedProcess[str]:
    """pytest in that environment, in this process's folder; its output is captured where `seconds` limits it."""
    command = [str(python_of(version)), "-m", "pytest", *arguments]
    captured = seconds is not None
    limit = None if seconds is None else patience(seconds)
    # There, what an older Spark doesn't have is skipped, of which a run in CI would have to know the reasons.
    variables = {name: value for name, value in os.environ.items() if name != "CI"}
    return subprocess.run(
        command, cwd=ROOT, env=variables, text=True, capture_output=captured, timeout=limit, check=False
    )


def run_uv(*arguments: str, env: dict[str, str]) -> None:
    """Run uv quietly.

    Raises:
        NotToBeHadError: it is missing, hangs or fails.
    """
    try:
        done = subprocess.run(
            [os.environ.get("UV", "uv"), *arguments, "--quiet"],
            cwd=ROOT,
            env=env,
            text=True,
            capture_output=True,
            timeout=patience(_SECONDS),
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotToBeHadError(str(error)) from error
    if done.returncode != 0:
        raise NotToBeHadError(done.stderr.strip()[-500:])


def _record_tests(version: str, *arguments: str) -> int:
    with tempfile.TemporaryDirectory(prefix="headwater-spark-") as folder:
        report = Path(folder, "report.xml")
        ended = run_tests(version, f"--junitxml={report}", *arguments)
        record(version, report)
    return ended.returncode


if __name__ == "__main__":
    given = sys.argv[1:]
    if given[:1] == ["--record"]:
        sys.exit(_record_tests(*given[1:]))
    sys.exit(run_tests(*given).returncode)
