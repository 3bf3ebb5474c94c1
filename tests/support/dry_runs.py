"""Many scripts run against empty tables in one process, by the same functions as `headwater review` has: a JVM for each
takes 10 s, and a script in one that runs takes half a second.

    with DryRuns(tables) as runs:
        version = runs.version("spark.table('orders').write.parquet('/out')")

The process answers lines of JSON: a script in, its reports out.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TextIO

import pytest

import support
from headwater.dry_run import DryRun
from headwater.reviewing import runs_with_rows, version_of_runs
from headwater.stack import java_runtime
from headwater.stack.spark import installed_pyspark
from headwater_review.jobs.version import JobVersion
from support.waiting import patience

HEAD = "from pyspark.sql import SparkSession, Window, functions as F\nspark = SparkSession.builder.getOrCreate()\n"


def missing_method(script: str) -> str | None:
    """A method that a script calls and the installed PySpark doesn't have: 4.0 has brought these."""
    from pyspark.sql import DataFrame, DataFrameWriterV2

    of = {"mergeInto": DataFrame, "clusterBy": DataFrameWriterV2}
    return next((name for name, owner in of.items() if f".{name}(" in script and not hasattr(owner, name)), None)


class DryRuns:
    """The process.

    Args:
        tables: columns as DDL, by name.
    """

    def __init__(self, tables: Mapping[str, str]) -> None:
        self._tables = dict(tables)
        self._scratch = tempfile.TemporaryDirectory(prefix="dry-runs-")

    def __enter__(self) -> Self:
        environment = {
            **os.environ,
            **java_runtime().environment(),
            "PYTHONPATH": str(Path(support.__path__[0]).parent),
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_LOCAL_IP": "127.0.0.1",
        }
        self._process = subprocess.Popen(
            [sys.executable, "-m", "support.dry_runs", self._scratch.name, json.dumps(self._tables)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            encoding="utf-8",
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(timeout=patience(60))
        self._scratch.cleanup()

    def version(self, script: str, named: str = "job.py") -> JobVersion:
        """Run a script without rows and return its reads and writes; `spark`, `F` and `Window` are defined."""
        return version_of_runs(self._run(script, named, None), [])

    def with_rows(self, script: str, named: str = "job.py") -> JobVersion:
        """Run a script without rows, then with a row wherever it asks for one, and return its reads and writes."""
        first = self._run(script, named, None)
        return version_of_runs(first, runs_with_rows(lambda empty: self._run(script, named, empty)))

    def _run(self, script: str, named: str, empty: Sequence[str] | None) -> DryRun:
        if (method := missing_method(script)) is not None:
            pytest.skip(f"PySpark {installed_pyspark()} has no {method}")
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps([HEAD + script, empty]), file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        assert answer, "the process has ended"
        found = DryRun(named)
        for what, content in json.loads(answer):
            found.collect(what, content)
        return found


class _Collected:
    """A channel in the same process."""

    def __init__(self, tables: Mapping[str, str]) -> None:
        self._tables = tables
        self.reports: list[tuple[str, dict[str, Any]]] = []

    def ask(self, kind: str, name: str) -> str | None:
        return self._tables.get(name)

    def report(self, what: str, content: dict[str, Any]) -> None:
        self.reports.append((what, content))

    def problem(self, text: str, fix: str = "") -> None:
        self.report("problem", {"text": text, "fix": fix})


def _serve(scratch: Path, tables: Mapping[str, str], answers: TextIO) -> None:
    from headwater_dry_run.__main__ import is_by_a_made_up_row, missing, prepare, problem
    from headwater_dry_run.line_coverage import LineTracer
    from headwater_dry_run.session import make_session

    os.chdir(scratch)
    session: Any = make_session(scratch)
    channel: Any = _Collected(tables)
    sources, looks = prepare(session, channel, scratch)
    script = scratch / "job.py"
    for line in sys.stdin:
        text, empty = json.loads(line)
        channel.reports.clear()
        sources.forget()
        looks.begin(empty)
        script.write_text(text, encoding="utf-8")
        lines = LineTracer(str(script), [])
        raised: Exception | None = None
        try:
            code = compile(text, str(script), "exec")
            lines.start()
            exec(code, {"__name__": "__main__"})
        except Exception as error:  # noqa: BLE001  whatever a script raises is a finding
            raised = error
            lines.stop()
            if not is_by_a_made_up_row(error, channel, lines, looks):
                problem(error, str(script), channel)
            traceback.print_exc()
        except SystemExit as left:
            lines.stop()
            if left.code and not is_by_a_made_up_row(left, channel, lines, looks):
                channel.problem(f"exit status {left.code}")
        finally:
            lines.stop()
        missing(sources, [raised], channel)
        for view in session._jsparkSession.catalog().listTables().collectAsList():
            if view.isTemporary():
                session._jsparkSession.catalog().dropTempView(view.name())
        channel.report("lines", {"unrun": lines.unrun(sources.compared), "all": lines.statements()})
        print(json.dumps(channel.reports), file=answers, flush=True)


if __name__ == "__main__":
    _out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    _serve(Path(sys.argv[1]).resolve(), json.loads(sys.argv[2]), _out)
