"""`headwater run` where Spark brings its own PySpark, which only `spark-submit` knows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from headwater.errors import ExitCode
from support.waiting import patience

WITHOUT = (
    "import sys; sys.modules['pyspark'] = sys.modules['py4j'] = None; from headwater.cli import main; sys.exit(main())"
)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", WITHOUT, "run", *arguments],
        capture_output=True,
        text=True,
        timeout=patience(120),
        check=False,
    )


def test_the_bootstrap_is_named() -> None:
    done = run("--bootstrap")
    assert done.returncode == ExitCode.DONE, done.stderr
    assert Path(done.stdout.strip()).read_text().startswith('"""Entry point for `spark-submit`')


def test_a_script_can_not_be_run(tmp_path: Path) -> None:
    job = tmp_path / "job.py"
    job.write_text("print('ran')")
    done = run(str(job))
    assert done.returncode == ExitCode.CONFIGURATION
    assert "[spark]" in done.stderr
    assert "ran" not in done.stdout
