"""Dry runs of two versions of a script against empty tables, whose schemas come from a file and the graph."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from headwater.console import console
from headwater.dry_run import DryRun, Stop, dry_run
from headwater.errors import InputError
from headwater.lean_imports import without
from headwater_schemas.visible import visible

with without("numpy", "pandas"):
    from headwater_analysis.declaring.problems import DeclarationError
    from headwater_review.jobs.version import JobVersion, Statement, Unrun, version_of
    from headwater_review.reading.files import read_schema
    from headwater_review.schema import Schema

_GIT_SECONDS: Final = 60
_MOST_RUNS: Final = 5
_LINE: Final = re.compile(r" in line [\d,]+")


@dataclass(frozen=True, slots=True)
class Script:
    """A version of a job.

    Attributes:
        named: name of the script in answers.
    """

    path: Path
    named: str


class DeclaredTables:
    """Lookup of the schemas of scripts' inputs.

    Args:
        tables: schema by name of table, from the file (`tables_of`).
        graph: lookup in the graph, for names that aren't in `tables`: kind and name ⇒ schema; None: no graph.
    """

    def __init__(self, tables: Mapping[str, Schema], graph: Callable[[str, str], Schema | None] | None) -> None:
        self._tables = {_plain(name): schema for name, schema in tables.items()}
        self._graph = graph
        # Both versions may ask at the same time; one transaction at a time is enough.
        self._lock = threading.Lock()

    def __call__(self, kind: str, name: str) -> str | None:
        """Columns as DDL; None if unknown."""
        with self._lock:
            schema = self._tables.get(_plain(name))
            if schema is None and self._graph is not None:
                schema = self._graph(kind, name)
        return None if schema is None else ddl_of(schema)


def ddl_of(schema: Schema) -> str | None:
    """Top-level columns as Spark's DDL; None if a type is unknown."""
    top = [column for steps, column in schema.columns.items() if len(steps) == 1]
    if not top or any(column.type is None for column in top):
        return None
    return ", ".join(f"{_quoted(column.steps[0])} {column.type}" for column in top)


def tables_of(file: Path) -> dict[str, Schema]:
    """Read a file of schemas: a JSON object from names to DDL, or to a schema in any format of `headwater review`.

    Raises:
        InputError: the file can't be read, or a schema is invalid. The message has the name of the table.
    """
    try:
        content: Any = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{visible(str(file))} can't be read: {error.strerror}.") from error
    except ValueError as error:
        raise InputError(f"{visible(str(file))} is no JSON: {error}.") from error
    except RecursionError as error:
        raise InputError(f"{visible(str(file))} can't be read: its JSON is nested too deep.") from error
    if not isinstance(content, dict):
        raise InputError(f"{visible(str(file))}: an object of names and schemas is expected.")
    out: dict[str, Schema] = {}
    for name, given in content.items():
        text = given if isinstance(given, str) else json.dumps(given)
        try:
            out[name] = read_schema(f"{file}, {name}", text)
        except DeclarationError as error:
            raise InputError("\n".join(visible(str(problem)) for problem in error.problems)) from error
    return out


def run_both(
    old: Script,
    new: Script,
    arguments: Sequence[str],
    declared: DeclaredTables,
    seconds: float,
    libraries: Sequence[Path],
) -> tuple[JobVersion, JobVersion]:
    """Run both versions at the same time. An exception during the wait, such as by Ctrl-C, ends both."""
    stop = Stop()

    def run(script: Script, empty: Sequence[str] | None) -> DryRun:
        return dry_run(
            script.path,
            arguments,
            declared,
            seconds=seconds,
            libraries=libraries,
            named=script.named,
            stop=stop,
            empty=empty,
        )

    with ThreadPoolExecutor(2) as both:
        try:
            found = [*both.map(lambda script: run(script, None), (old, new))]
            with_rows: list[list[DryRun]] = [[], []]
            if any(each.looks for each in found) and all(each.ended for each in found) and _have_same_problems(*found):
                with_rows = [*both.map(lambda script: runs_with_rows(lambda empty: run(script, empty)), (old, new))]
        except BaseException:
            stop.now()
            raise
    if any(each.network for each in found):
        console.warning(
            "this system can't isolate a dry run from the network: connections of the scripts' Python were blocked, "
            "connections of their JVM weren't"
        )
    before, after = (version_of_runs(first, others) for first, others in zip(found, with_rows, strict=True))
    return before, after


def _have_same_problems(old: DryRun, new: DryRun) -> bool:
    """Return True if both runs have the same problems, ignoring line numbers."""
    before, after = ([_LINE.sub("", text) for text, _ in run.problems] for run in (old, new))
    return before == after


def runs_with_rows(run: Callable[[Sequence[str]], DryRun]) -> list[DryRun]:
    """Run a script with a made-up row at each location that asks for rows; return the runs, in order.

    If the script ends itself because of a row, for example because it checks for rows that shouldn't exist, the script
    runs again without a row at this location. It runs 5 times at most.
    """
    runs: list[DryRun] = []
    empty: list[str] = []
    while len(runs) < _MOST_RUNS:
        runs.append(run(empty))
        location = runs[-1].stopped
        if location is None or location in empty:
            break
        empty.append(location)
    return runs


def version_of_runs(first: DryRun, runs_with_rows: Sequence[DryRun]) -> JobVersion:
    """Merge the runs of a version: the first, which got no rows, and the runs that got made-up rows."""
    unrun_lines = [{(each["file"], each["line"]) for each in run.unrun} for run in runs_with_rows]
    unrun = [each for each in first.unrun if all((each["file"], each["line"]) in lines for lines in unrun_lines)]
    looks = list(dict.fromkeys(location for run in (first, *runs_with_rows) for location in run.looks))
    version = _version_of_run(first)
    with_rows = _version_of_run(runs_with_rows[-1]) if runs_with_rows else None
    return replace(
        version,
        looks=tuple(looks),
        unrun=tuple(Unrun(**each) for each in unrun),
        statements=tuple(
            Statement(each["text"], frozenset(each["sets"]), frozenset(each["uses"])) for each in first.statements
        ),
        with_rows=with_rows,
    )


def _version_of_run(run: DryRun) -> JobVersion:
    version = version_of(run.script, run.outputs, run.inputs, run.ddl, run.problems)
    return replace(version, stopped=run.stopped is not None)


def at_revision(script: Path, revision: str, folder: Path) -> Script:
    """Extract a revision of a script's repository; return the script as of this revision.

    Raises:
        InputError: the revision doesn't exist, or doesn't have the script; or git isn't installed.
    """
    git = shutil.which("git")
    if git is None:
        raise InputError("--against needs git, which isn't installed.")
    try:
        top = Path(_git([git, "-C", str(script.resolve().parent), "rev-parse", "--show-toplevel"]).decode().strip())
        inside = script.resolve().relative_to(top.resolve())
        # A revision must never be read as an option of git.
        archive = _git([git, "-C", str(top), "archive", "--format=tar", "--end-of-options", revision])
    except (subprocess.SubprocessError, ValueError) as error:
        stderr = getattr(error, "stderr", b"") or b""
        reason = stderr.decode(errors="replace").strip() or str(error)
        raise InputError(f"--against {visible(revision)}: {visible(reason)}") from error
    import io
    import tarfile

    def safe_member(member: tarfile.TarInfo, path: str) -> tarfile.TarInfo | None:
        # Links that lead out of the repository are left out; the job may not need them.
        try:
            return tarfile.data_filter(member, path)
        except tarfile.FilterError:
            return None

    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        for member in files:
            files.extract(member, folder, filter=safe_member)
    found = folder / inside
    if not found.is_file():
        raise InputError(
            f"{visible(str(inside))} isn't in {visible(revision)}.", fix="Name the old script instead: review OLD NEW."
        )
    return Script(found, f"{revision}:{inside}")


def scratch() -> tempfile.TemporaryDirectory[str]:
    """A folder for a revision's files."""
    return tempfile.TemporaryDirectory(prefix="headwater-revision-")


def _git(command: list[str]) -> bytes:
    return subprocess.run(
        command, check=True, capture_output=True, timeout=_GIT_SECONDS, stdin=subprocess.DEVNULL
    ).stdout


def _plain(name: str) -> str:
    return name.removeprefix("file:").rstrip("/").lower().removeprefix("default.")


def _quoted(name: str) -> str:
    return name if name.startswith("`") else f"`{name}`"
