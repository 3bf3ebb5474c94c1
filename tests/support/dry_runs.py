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
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TextIO

import support
from headwater.stack import java_runtime
from headwater_consumers.review.jobs.version import JobVersion, version_of

HEAD = "from pyspark.sql import SparkSession, Window, functions as F\nspark = SparkSession.builder.getOrCreate()\n"


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
        self._process.wait(timeout=60)
        self._scratch.cleanup()

    def version(self, script: str, named: str = "job.py") -> JobVersion:
        """What a script would read and write; `spark`, `F` and `Window` are there."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(HEAD + script), file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        assert answer, "the process has ended"
        found = json.loads(answer)
        inputs = [(each["kind"], each["name"]) for each in found["input"]]
        problems = [(each["text"], each["fix"]) for each in found["problem"]]
        return version_of(named, found["output"], inputs, [each["text"] for each in found["ddl"]], problems)


class _Collected:
    """A channel in the same process."""

    def __init__(self, tables: Mapping[str, str]) -> None:
        self._tables = tables
        self.reports: dict[str, list[dict[str, Any]]] = {}
        self.clear()

    def clear(self) -> None:
        self.reports = {"output": [], "input": [], "problem": [], "ddl": []}

    def ask(self, kind: str, name: str) -> str | None:
        return self._tables.get(name)

    def report(self, what: str, content: dict[str, Any]) -> None:
        self.reports[what].append(content)

    def problem(self, text: str, fix: str = "") -> None:
        self.report("problem", {"text": text, "fix": fix})


def _serve(scratch: Path, tables: Mapping[str, str], answers: TextIO) -> None:
    from headwater_producers.spark.dry_run.__main__ import prepare, problem
    from headwater_producers.spark.dry_run.session import make_session

    os.chdir(scratch)
    session: Any = make_session(scratch)
    channel: Any = _Collected(tables)
    sources = prepare(session, channel, scratch)
    for line in sys.stdin:
        channel.clear()
        sources.forget()
        try:
            exec(compile(json.loads(line), "job.py", "exec"), {"__name__": "__main__"})
        except Exception as error:  # noqa: BLE001  whatever a script raises is a finding
            problem(error, "job.py", channel)
            traceback.print_exc()
        for view in session._jsparkSession.catalog().listTables().collectAsList():
            if view.isTemporary():
                session._jsparkSession.catalog().dropTempView(view.name())
            elif f"`{view.name()}`" not in sources._tables:
                session._jsparkSession.sql(f"DROP TABLE `{view.name()}`")
        print(json.dumps(channel.reports), file=answers, flush=True)


if __name__ == "__main__":
    _out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    _serve(Path(sys.argv[1]).resolve(), json.loads(sys.argv[2]), _out)
