"""Manifest of a batch write of files: the committed files.

Spark's plan counts files and bytes, and doesn't name the files. The names of files have the id of their write:

    /out/day=1/part-00000-4f2c9e1a-….c000.snappy.parquet    part-<task>-<id of the write>…

So the folder is listed once the write is over. If the files of exactly one id match the plan's counts of files and
bytes, and the time of the write, they are the write's files: EXACT. If several ids match, all files with these ids are
an UPPER_BOUND. If no id matches, a custom committer may have named the files: all files of that time are an
UPPER_BOUND, if they are at least as many, and as large, as counted. Otherwise only count and bytes are known.

In a partitioned folder only partitions that changed since the write began are listed, if the file system has that time.
A listing takes five to ten round trips on capture's thread.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from headwater_producers.spark.connectors.connector_answers import CommittedVersion
from headwater_producers.spark.connectors.connector_questions import CommandRun
from headwater_producers.spark.events.writes import Counts
from headwater_producers.spark.plan.partition import MAX_PARTITIONS, Partition, path_partition
from headwater_producers.spark.plan.settings import PlanSettings
from headwater_schemas.events import Certainty, FileSet, Position
from headwater_schemas.identity import manifest_digest

MAX_FOLDERS: Final = 1_000
"""Maximum number of partition folders to list for one write."""
_REMEMBERED: Final = 1_000
"""Maximum number of remembered writes with known files."""
_SKEW_MS: Final = 60_000
"""Maximum difference between the clocks of a remote file system and the driver."""

# Hadoop's `FileStatus` as text: DeprecatedRawLocalFileStatus{path=file:/out/a; isDirectory=false; length=792; …
_STATUS: Final = re.compile(
    r"\w+\{path=(?P<path>.*?); isDirectory=(?:true|false; length=(?P<length>\d+));"
    r"(?:.*?;)?? modification_time=(?P<time>\d+);",
    re.DOTALL,
)
_OF_A_WRITE: Final = re.compile(r"part-\d+-([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})")
_GLOB: Final = re.compile(r"[\\*?\[\]{}]")


@dataclass(frozen=True, slots=True)
class ListedPath:
    """Entry of a listing; `length` is None for a folder, `time` in milliseconds, 0 if unknown."""

    path: str
    length: int | None
    time: int

    @property
    def write_id(self) -> str | None:
        """Id of the write that made the file, by its name."""
        found = _OF_A_WRITE.match(self.path.rsplit("/", 1)[-1])
        return found[1] if found is not None else None


class Manifests:
    """Finder of the files that batch writes have committed. No write claims the files of another."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, None] = OrderedDict()

    def of_run(self, run: CommandRun, counts: Counts) -> CommittedVersion | None:
        """Return the files of an `InsertIntoHadoopFsRelationCommand` that has succeeded."""
        if not counts.files or counts.bytes is None:
            return None
        plan = run.command.plan
        depth = int(plan.partitionColumns().size())
        folder = _Folder(run.session.sparkContext, plan.outputPath())
        slack = 0 if folder.is_local else _SKEW_MS
        since, until = run.window[0] - slack, run.window[1] + slack
        listed = folder.files(depth, since)
        if listed is None:
            return _counted_alone(counts)
        ours = [each for each in listed if since <= each.time <= until]
        return self.chosen(ours, counts, run.command.context.settings, root=folder.root, depth=depth)

    def chosen(
        self, listed: Sequence[ListedPath], counts: Counts, settings: PlanSettings, *, root: str, depth: int
    ) -> CommittedVersion:
        """Choose a write's own files among the files of its time.

        Args:
            settings: limit of the paths that are reported.
            depth: number of partition folders between the root and a file.
        """
        # Names of partition folders contain values of rows: they are reported only if literals are reported.
        shown = settings.max_paths if settings.literals or not depth else 0
        by_id: dict[str, list[ListedPath]] = {}
        for each in listed:
            if each.write_id is not None and each.write_id not in self._known:
                by_id.setdefault(each.write_id, []).append(each)
        fitting = [write_id for write_id, files in by_id.items() if _fits(files, counts)]
        if len(fitting) == 1:
            self._remember(fitting[0])
            pattern = f"{_escaped(root)}/{'*/' * depth}part-*-{fitting[0]}*"
            found = _committed(by_id[fitting[0]], Certainty.EXACT, counts, shown, pattern)
            return replace(found, partitions=_partitions(by_id[fitting[0]], depth) if settings.literals else ())
        candidates = [each for write_id in fitting for each in by_id[write_id]]
        candidates = candidates or [each for each in listed if each.write_id not in self._known]
        size = sum(each.length or 0 for each in candidates)
        if size >= (counts.bytes or 0) and len(candidates) >= (counts.files or 0):
            return _committed(candidates, Certainty.UPPER_BOUND, counts, shown)
        return _counted_alone(counts)

    def _remember(self, write_id: str) -> None:
        self._known[write_id] = None
        while len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)


def parse_listing(text: str) -> list[ListedPath]:
    """Parse an array of Hadoop's `FileStatus`, as text, into entries."""
    return [
        ListedPath(found["path"], None if found["length"] is None else int(found["length"]), int(found["time"]))
        for found in _STATUS.finditer(text)
    ]


def _fits(files: Iterable[ListedPath], counts: Counts) -> bool:
    sizes = [each.length or 0 for each in files]
    return len(sizes) == counts.files and sum(sizes) == counts.bytes


def _committed(
    files: Sequence[ListedPath], certainty: Certainty, counts: Counts, shown: int, pattern: str | None = None
) -> CommittedVersion:
    paths = sorted(each.path for each in files)
    found = FileSet(
        count=len(paths),
        bytes=sum(each.length or 0 for each in files),
        manifest_digest=manifest_digest(paths),
        paths=tuple(paths[:shown]),
        pattern=pattern,
    )
    return CommittedVersion(Position(files=found), certainty, counts)


def _partitions(files: Iterable[ListedPath], depth: int) -> tuple[Partition, ...]:
    """List the partitions of files; empty if there are too many to list."""
    if not depth:
        return ()
    found = {path_partition(each.path.rpartition("/")[0])[-depth:] for each in files}
    return tuple(sorted(found, key=str)) if len(found) <= MAX_PARTITIONS else ()


def _counted_alone(counts: Counts) -> CommittedVersion:
    """Return a commit with the plan's counts and without paths, if the files can't be distinguished."""
    return CommittedVersion(
        Position(files=FileSet(count=counts.files or 0, bytes=counts.bytes)), Certainty.EXACT, counts
    )


class _Folder:
    """Folder on any file system that Spark knows."""

    def __init__(self, spark_context: Any, path: Any) -> None:
        self._jvm, self._gateway = spark_context._jvm, spark_context._gateway
        self._system = path.getFileSystem(spark_context._jsc.hadoopConfiguration())
        self.root = str(self._system.makeQualified(path).toString()).rstrip("/")
        self.is_local = self.root.startswith("file:")

    def files(self, depth: int, since: int) -> list[ListedPath] | None:
        """List the files in the folders `depth` levels below; None if there are too many folders.

        Args:
            depth: number of partition folders between the root and a file.
            since: time in milliseconds; folders that last changed earlier are left out.
        """
        if not depth:
            return _visible(self._glob(f"{_escaped(self.root)}/*"))
        folders = [
            each
            for each in self._glob(f"{_escaped(self.root)}/{'/'.join('*' * depth)}")
            if each.length is None and (each.time == 0 or each.time >= since)
        ]
        if len(folders) > MAX_FOLDERS:
            return None
        if not folders:
            return []
        paths = self._gateway.new_array(self._jvm.org.apache.hadoop.fs.Path, len(folders))
        for index, each in enumerate(folders):
            paths[index] = self._jvm.org.apache.hadoop.fs.Path(each.path)
        return _visible(self._parsed(self._system.listStatus(paths)))

    def _glob(self, pattern: str) -> list[ListedPath]:
        statuses = self._system.globStatus(self._jvm.org.apache.hadoop.fs.Path(pattern))
        return self._parsed(statuses) if statuses is not None else []

    def _parsed(self, statuses: Any) -> list[ListedPath]:
        # One round trip for the whole array; py4j would fetch its elements one by one.
        return parse_listing(str(self._jvm.scala.Predef.genericWrapArray(statuses).mkString("\n")))


def _visible(entries: Iterable[ListedPath]) -> list[ListedPath]:
    """Keep the files among entries that Spark reads: not `_SUCCESS`, nor a checksum."""
    return [each for each in entries if each.length is not None and each.path.rsplit("/", 1)[-1][0] not in "._"]


def _escaped(path: str) -> str:
    """Escape a path as a glob that matches only this path."""
    return _GLOB.sub(lambda found: f"\\{found[0]}", path)
