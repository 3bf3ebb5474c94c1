"""Trace question: offsets, files, versions, or the times at which records of a topic arrived or were used."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from headwater_analysis.assets import Asset
from headwater_analysis.errors import ArrivalsUnknownError, NotFoundError, QuestionError
from headwater_analysis.identity import notice
from headwater_analysis.reader import Reader, Transaction
from headwater_analysis.resolve import resolve_dataset
from headwater_analysis.trace.arrivals import Arrivals
from headwater_analysis.trace.batches import Batch, Run
from headwater_analysis.trace.by_time import ends, first_after, running_at
from headwater_analysis.trace.context import Archived, Context
from headwater_analysis.trace.follow import follow
from headwater_analysis.trace.indexed import path_users
from headwater_analysis.trace.match import described
from headwater_analysis.trace.parts import Datasets, between, join, joined
from headwater_analysis.trace.prefetch import prefetch
from headwater_analysis.trace.traced_parts import OffsetSpan, Part, PartKind, Trace, TraceDirection, offsets
from headwater_analysis.trace.uses import StoredUse, part_of
from headwater_graph.facts.model import RelType
from headwater_graph.facts.spans import union
from headwater_graph.keys import dataset_key, version_key
from headwater_graph.words import canonical_path, is_within
from headwater_schemas import naming
from headwater_schemas.events import Certainty, DatasetRef
from headwater_schemas.naming.kafka import SYMLINK_TOPIC
from headwater_schemas.ranges import MOST_OFFSET, RangeError, parse_range

LIMIT = 200
_SECOND = timedelta(seconds=1)
# Types of datasets without offsets. Other and unknown types may have offsets.
_WITHOUT_OFFSETS = ("FILE", "TABLE", "VIEW")
# Formats that have version ids. A manifest of files has a digest as its version.
_FORMATS = ("delta", "iceberg", "hudi", "files")


@dataclass(frozen=True, slots=True)
class Offsets:
    """Records of a topic's partition in `[start, end)`.

    Attributes:
        topic: name, as `resolve_dataset` accepts it.
        partition: number of the partition; None: every partition that a known run or micro-batch used.
        start, end: first offset, and the offset after the last.
        topic_id: Kafka's id of the topic's incarnation; None: any.
    """

    topic: str
    partition: int | None
    start: int
    end: int
    topic_id: str | None = None


@dataclass(frozen=True, slots=True)
class Times:
    """Records of a topic by time: when they arrived in Kafka, or when they were read.

    Attributes:
        topic: name, as `resolve_dataset` accepts it.
        partition: number of the partition; None: all partitions.
        start: start of the time range, inclusive.
        end: end of the time range, exclusive; if equal to `start` and `read` is False, the range is one second long.
        read: False: the times are timestamps in Kafka. True: the times are when micro-batches and batch runs read the
            records (backwards: wrote them). If both times are equal, the records that were being read at that time are
            meant.
    """

    topic: str
    partition: int | None
    start: datetime
    end: datetime
    read: bool = False


@dataclass(frozen=True, slots=True)
class Path:
    """A file, or all files of a partition, by path: `s3://lake/flights/dt=2013-01-01`."""

    path: str


@dataclass(frozen=True, slots=True)
class VersionOf:
    """Version of a table: snapshot id or version number. Without a `format`, all formats are tried in turn."""

    dataset: str
    version: str
    format: str | None = None


def parse_offsets(topic: str, text: str, topic_id: str | None = None) -> Offsets:
    """Parse a topic's range: `0:120..130` (partition 0), `all:120..130` (every partition) or `all` (everything).

    Raises:
        RangeError: the text has another form.
    """
    partition, colon, rest = text.partition(":")
    if not (colon or text == "all") or not re.fullmatch(r"\d{1,10}|all", partition, re.ASCII):
        raise RangeError(f"{text[:60]!r} names no partition: write 0:120..130, or all:120..130 for every partition.")
    found = parse_range(rest if colon else "0..")
    end = MOST_OFFSET if found.end is None else found.end
    return Offsets(topic, None if partition == "all" else int(partition), found.start, end, topic_id)


_MOST_PATH = 8_192
"""Maximum length of a requested path, in characters: each folder that contains the path is looked up, too."""
Start = Offsets | Times | Path | VersionOf
Starts = Start | Sequence[Offsets | Times]
"""Start of a trace: one part, or several parts of topics."""


def trace(
    reader: Reader,
    start: Starts,
    *,
    direction: TraceDirection = TraceDirection.FORWARD,
    depth: int | None = 1,
    limit: int = LIMIT,
    horizon: timedelta | None = None,
    archive: Archived | None = None,
    arrivals: Arrivals | None = None,
) -> Trace:
    """Trace a part of a dataset forwards or backwards.

    Args:
        direction: FORWARD or BACKWARD.
        depth: maximum number of hops from the part; None: all.
        limit: maximum number of steps in the answer, and of runs and micro-batches that one look-up reads.
        horizon: longest time behind the watermark for which a query's state keeps a record: the watermark's delay plus
            the length of a window. None: the horizon that the query's starts reported; if they reported none, no limit.
        archive: archive of micro-batches that the graph no longer stores individually; None: use their summaries.
        arrivals: looks up in Kafka when records arrived, for `Times`; None: no access to Kafka.

    Raises:
        NotFoundError: no such dataset, file or version.
        AmbiguousError: several datasets have this name.
        QuestionError: a range that ends before it begins, a negative offset, a depth or limit below 1.
        ArrivalsUnknownError: arrival times can't be read from Kafka.
        AnalysisError: see the tree in `errors`.
    """
    check(start, depth, limit)

    def question(tx: Transaction) -> Trace:
        return trace_in(
            tx,
            start,
            direction=direction,
            depth=depth,
            limit=limit,
            horizon=horizon,
            archive=archive,
            arrivals=arrivals,
        )

    return reader.read(question)


def trace_in(
    tx: Transaction,
    start: Starts,
    *,
    direction: TraceDirection = TraceDirection.FORWARD,
    depth: int | None = 1,
    limit: int = LIMIT,
    horizon: timedelta | None = None,
    archive: Archived | None = None,
    arrivals: Arrivals | None = None,
) -> Trace:
    """Run a trace as part of another question; see `trace`."""
    check(start, depth, limit)
    backward = direction is TraceDirection.BACKWARD
    context = Context(tx, Datasets(tx), backward, horizon, max(limit, 1), archive, arrivals)
    return follow(context, parts_of_start(context, start), depth=depth, limit=limit)


def check(start: Starts, depth: int | None, limit: int) -> None:
    """Check a question.

    Raises:
        QuestionError: a field is invalid; the error names it.
    """
    if isinstance(start, Sequence):
        if not start:
            raise QuestionError("Name at least one range.", field="range")
        for each in start:
            check(each, depth, limit)
        return
    if isinstance(start, Offsets):
        if not 0 <= start.start < start.end <= MOST_OFFSET:
            raise QuestionError(
                "Offsets begin at 0, and the end of a range (exclusive) is greater than its start.", field="offset"
            )
        if start.partition is not None and not 0 <= start.partition < 2**31:
            raise QuestionError("A partition's number begins at 0.", field="partition")
    if isinstance(start, Times) and start.end < start.start:
        raise QuestionError("The range of time ends before it begins.", field="time")
    if depth is not None and depth < 1:
        raise QuestionError("The depth is at least 1; leave it out for all.", field="depth")
    if limit < 1:
        raise QuestionError("The limit is at least 1.", field="limit")


def parts_of_start(context: Context, start: Starts) -> list[Part]:
    """Parts at which the trace starts."""
    if isinstance(start, Sequence):
        return list(join(part for each in start for part in parts_of_start(context, each)))
    if isinstance(start, Path):
        return _path_parts(context, start.path)
    found = resolve_dataset(context.tx, start.topic if isinstance(start, Offsets | Times) else start.dataset)
    context.notes |= dict.fromkeys(notice(context.tx, found.asset))
    by_offset = isinstance(start, Offsets) or (isinstance(start, Times) and not start.read)
    if by_offset and (found.asset.type or "").upper() in _WITHOUT_OFFSETS:
        raise QuestionError(f"{found.asset.spelling} is a {found.asset.type}: only topics have offsets.", field="topic")
    if isinstance(start, Times) and start.read:
        return parts_at(context, found.asset, start.partition, start.start, start.end)
    if isinstance(start, Times):
        end = start.end if start.end > start.start else start.start + _SECOND
        return _arrived_parts(context, found.asset, start.partition, start.start, end)
    if isinstance(start, Offsets):
        partitions = [start.partition] if start.partition is not None else _used_partitions(context, found.asset)
        return [
            Part(
                dataset=found.asset,
                kind=PartKind.OFFSETS,
                certainty=Certainty.EXACT,
                topic_id=start.topic_id,
                offsets=tuple(OffsetSpan(partition, start.start, start.end) for partition in partitions),
            )
        ]
    for format_ in (start.format,) if start.format is not None else _FORMATS:
        part = Part(
            dataset=found.asset,
            kind=PartKind.FILES if format_ == "files" else PartKind.SNAPSHOT,
            certainty=Certainty.EXACT,
            format=format_,
            version=start.version,
        )
        if _version_is_known(context, part):
            return [part]
    alike = [
        version
        for key in context.datasets.keys_of(found.asset.key)
        for version in context.tx.one("trace/versions_begun", dataset=key, text=start.version)["versions"]
    ]
    raise NotFoundError(f"No version {start.version!r} of {found.asset.spelling} is known.", nearest=alike)


def _used_partitions(context: Context, topic: Asset) -> list[int]:
    """Partitions of a topic that any known run or micro-batch read (backwards: wrote)."""
    type_ = RelType.PRODUCED if context.backward else RelType.CONSUMED
    partitions, _ = partitions_of_topic(context, topic, type_)
    if not partitions:
        _note_unused(context, topic)
    return partitions


def partitions_of_topic(context: Context, topic: Asset, *types: RelType) -> tuple[list[int], bool]:
    """Partitions of a topic that any run or micro-batch used, and whether every known write records its offsets.

    Args:
        types: CONSUMED for partitions that were read, PRODUCED for those that were written.
    """
    found = context.tx.one("trace/partitions", keys=context.datasets.keys_of(topic.key), types=[*types])
    return found["partitions"], not found["unrecorded"]


def _version_is_known(context: Context, part: Part) -> bool:
    keys = (
        version_key(context.tx.tenant, key, str(part.format), str(part.version))
        for key in context.datasets.keys_of(part.dataset.key)
    )
    return any(context.tx.rows("trace/version_known", key=key) for key in keys)


def _path_parts(context: Context, path: str) -> list[Part]:
    if not path.strip():
        raise QuestionError("Name a file or partition by its path.", field="path")
    if len(path) > _MOST_PATH:
        raise QuestionError(f"A path has {_MOST_PATH:,} characters at most.", field="path")
    canonical = canonical_path(path)
    found = _listed_parts(context, path, canonical, produced=context.backward)
    found += _versions_with(context, path, canonical)
    if found:
        return found
    if not context.backward and _listed_parts(context, path, canonical, produced=True):
        context.notes[
            f"{path} is listed among the files that were written: trace it backwards (--back) for its run."
        ] = None
    # Names that the path's dataset may have, in order of preference: the path without globs (as writers name it), with
    # globs (as readers do), or a folder that contains the path (for a file of a table).
    named = dict.fromkeys((naming.path(path), naming.path_pattern(path), *map(naming.path, _folders(path))))
    keys = (dataset_key(context.tx.tenant, ref.namespace, ref.name) for ref in named)
    known = next((key for key in keys if prefetch(context.tx, datasets=[key]).datasets), None)
    key = known or resolve_dataset(context.tx, path).asset.key
    used = "wrote" if context.backward else "read"
    context.notes[
        f"No micro-batch or run lists this path among the files that it {used}, so the path may be any part of the "
        "dataset. Of more than 100 files, only the first 100 by name are listed."
    ] = None
    return [Part(dataset=context.datasets[key], kind=PartKind.UNKNOWN, certainty=Certainty.UNKNOWN)]


def _listed_parts(context: Context, path: str, canonical: str, *, produced: bool) -> list[Part]:
    """Files and partitions that some run or micro-batch lists as read, or as written."""
    listed: dict[str, set[str]] = {}
    for owner in _users(context, path, produced=produced):
        for use in owner.writes() if produced else owner.reads():
            inside = _inside(use, canonical) if use.kind is PartKind.FILES else set()
            if not inside and canonical.rpartition("=")[1] and path in (use.properties.get("partition_paths") or ()):
                inside = {path}
            if inside:
                listed.setdefault(use.dataset, set()).update(inside)
    context.datasets.know(listed)
    return [
        Part(
            dataset=context.datasets[key],
            kind=PartKind.FILES,
            certainty=Certainty.EXACT,
            files=tuple(sorted(files)),
            file_count=len(files),
        )
        for key, files in sorted(listed.items())
    ]


def _versions_with(context: Context, path: str, canonical: str) -> list[Part]:
    """Versions of tables that added a file, or files of a partition."""
    uses = [
        use
        for owner in _users(context, path, produced=True)
        for use in owner.writes()
        if use.kind is PartKind.SNAPSHOT and _inside(use, canonical)
    ]
    context.datasets.know(use.dataset for use in uses)
    parts: dict[tuple[str, str | None], Part] = {}
    for use in uses:
        part = part_of(use, context.datasets[use.dataset])
        earlier = parts.get((use.dataset, part.version), part)
        files = tuple(sorted({*earlier.files, *_inside(use, canonical)}))
        parts[use.dataset, part.version] = replace(part, files=files, rows=None)
        context.notes[f"{path} was added to {part.dataset.spelling} by {described(part)}."] = None
    return [part for _, part in sorted(parts.items(), key=lambda each: str(each[0]))]


def _users(context: Context, path: str, *, produced: bool) -> list[Batch | Run]:
    batches, runs = path_users(context, [path], produced=produced)
    return [*batches, *runs]


def _inside(use: StoredUse, path: str) -> set[str]:
    """Listed files of a use within a canonical path."""
    return {file for file in use.files if is_within(canonical_path(file), path)}


def _folders(path: str) -> list[str]:
    """Folders that contain a path, the nearest first."""
    return [path[: slash.start()] for slash in reversed(list(re.finditer("(?<=[^/:])/", path)))]


def _arrived_parts(context: Context, topic: Asset, partition: int | None, start: datetime, end: datetime) -> list[Part]:
    """Parts of a topic that arrived in a time range.

    Raises:
        ArrivalsUnknownError: Kafka can't be asked.
    """
    arrivals = context.arrivals
    if arrivals is None:
        raise ArrivalsUnknownError(topic.spelling, "no Kafka is configured here")
    names, clusters = _names(context, topic)
    found = context.tx.asked(("arrived", topic.key, start, end), lambda: arrivals(names, clusters, start, end))
    parts, lost = [], []
    for each in found.ranges:
        if partition is not None and each.partition != partition:
            continue
        # Kafka has no timestamps of deleted records. If its first record is not before `start`, deleted records may be
        # in the range, too.
        gone = 0 < each.begins >= each.start
        lost += [each] if gone else []
        spans = offsets(union([(each.partition, 0 if gone else each.start, max(each.end, each.begins if gone else 0))]))
        certainty = Certainty.UPPER_BOUND if gone else Certainty.EXACT if found.by_broker else Certainty.INFERRED
        part = Part(dataset=topic, kind=PartKind.OFFSETS, certainty=certainty, topic_id=found.topic_id, offsets=spans)
        parts += [part] if spans else []
    if partition is not None and partition not in {each.partition for each in found.ranges}:
        raise ArrivalsUnknownError(topic.spelling, f"it has no partition {partition} in Kafka")
    if not found.by_broker:
        context.notes[
            "Times are the timestamps that producers gave the records (message.timestamp.type=CreateTime): a record "
            "that was sent late or out of order may be missing."
        ] = None
    for each in lost:
        context.notes[
            f"Kafka has deleted the records before offset {each.begins} of partition {each.partition}. It is unknown "
            "which of them arrived in this time, so all are included."
        ] = None
    if not parts:
        context.notes[f"Kafka has no record of {topic.spelling} that arrived in this time."] = None
    return list(join(parts))


def _names(context: Context, topic: Asset) -> tuple[list[DatasetRef], frozenset[str]]:
    """All names of a topic, and the ids that brokers have reported for its cluster."""
    names: dict[DatasetRef, None] = {DatasetRef(topic.namespace, topic.name): None}
    ids: set[str] = set()
    for stored, _, _ in prefetch(context.tx, datasets=context.datasets.keys_of(topic.key)).datasets:
        names[DatasetRef(stored["namespace"], stored["name"])] = None
        links = zip(*(stored.get(name) or () for name in ("symlink_namespaces", "symlink_types")), strict=True)
        ids |= {space.removeprefix("kafka://") for space, type_ in links if type_ == SYMLINK_TOPIC}
    return list(names), frozenset(ids)


def parts_at(context: Context, topic: Asset, partition: int | None, start: datetime, end: datetime) -> list[Part]:
    """Parts of a topic that steps running from `start` to `end` read (backwards: wrote).

    The last batch that began before `start` counts if it hadn't ended by then, or if its end is unknown. A reconciled
    batch without times counts if it may have run in this time.
    """
    names = context.datasets.keys_of(topic.key)
    parts = [part for key in names for part in _run_parts(context, context.datasets[key], start, end)]
    used = context.queries_of(names)
    shown = context.datasets.shown_key(topic.key)
    for query in {each.key: each for name in names for each in used[name]}.values():
        [first] = first_after(context, [(query, start)])
        [last] = first_after(context, [(query, end)], inclusive=end > start)
        lo = running_at(context, query, first, start)
        hi = (last if last is not None else query.last_batch + 1) - 1
        batches, complete = ends(context, query, lo, hi)
        if complete:
            running = [b for b in batches if b.started_at is None or b.ended_at is None or b.ended_at >= start]
            uses = [(b, use) for b in running for use in (b.writes if context.backward else b.reads)(shown)]
            parts += joined(uses, context.datasets)
        else:
            ended = between(
                context.tx, query, batches[0], batches[-1], produced=context.backward, datasets=context.datasets
            )
            parts += [part for part in ended if part.dataset.key == shown]
    if partition is not None:
        parts = [
            replace(part, offsets=tuple(span for span in part.offsets if span.partition == partition), rows=None)
            if part.kind is PartKind.OFFSETS
            else part
            for part in parts
        ]
    found = [
        part for part in join(map(context.datasets.shown, parts)) if part.kind is not PartKind.OFFSETS or part.offsets
    ]
    if not context.backward:
        # The records may have been written, and read by others, at any time before they were read here.
        found = [replace(part, since=None) for part in found]
    if not found:
        _note_unused(context, topic)
    return found


def _note_unused(context: Context, topic: Asset) -> None:
    verb = "wrote" if context.backward else "read"
    context.notes[f"No run or micro-batch that {verb} {topic.spelling} is known in this time."] = None


def _run_parts(context: Context, topic: Asset, start: datetime, end: datetime) -> list[Part]:
    [found] = context.runs_of([(topic.key, start, end)])
    runs = [run for run in found if _overlaps(run, start, end)]
    uses = [(run, use) for run in runs for use in (run.writes if context.backward else run.reads)(topic.key)]
    return list(joined(uses, context.datasets))


def _overlaps(run: Run, start: datetime, end: datetime) -> bool:
    begun = run.started_at is None or run.started_at < end or run.started_at == start
    return begun and (run.ended_at is None or run.ended_at >= start)
