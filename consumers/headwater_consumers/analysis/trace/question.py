"""The ways to ask for a trace; of a time, the part of a topic that was read or written around it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from headwater_consumers.analysis.assets import Asset
from headwater_consumers.analysis.errors import NotFoundError, QuestionError
from headwater_consumers.analysis.identity import notice
from headwater_consumers.analysis.reader import Reader, Transaction
from headwater_consumers.analysis.resolve import resolve_dataset
from headwater_consumers.analysis.trace.ahead import ahead
from headwater_consumers.analysis.trace.answer import OffsetSpan, Part, PartKind, Trace, TraceDirection
from headwater_consumers.analysis.trace.batches import Batch, Run, read_run
from headwater_consumers.analysis.trace.by_time import ends, first_after, running_at
from headwater_consumers.analysis.trace.context import Archived, Context
from headwater_consumers.analysis.trace.follow import follow
from headwater_consumers.analysis.trace.indexed import path_users
from headwater_consumers.analysis.trace.parts import Datasets, between, join, joined
from headwater_consumers.graph.keys import dataset_key, version_key
from headwater_consumers.graph.words import canonical_path, is_within
from headwater_schemas import naming
from headwater_schemas.events import Certainty
from headwater_schemas.ranges import MOST_OFFSET

LIMIT = 200
# Of a dataset of another type, or of none that is known, there may be offsets.
_WITHOUT_OFFSETS = ("FILE", "TABLE", "VIEW")
# Formats whose versions have names of their own; a manifest's is its digest.
_FORMATS = ("delta", "iceberg", "hudi", "files")


@dataclass(frozen=True, slots=True)
class Offsets:
    """The records of a topic's partition in `[start, end)`.

    Attributes:
        topic: as `resolve_dataset` takes it.
        partition: its number.
        start, end: offsets.
        topic_id: the incarnation of the topic that is meant, by Kafka's id; None: any.
    """

    topic: str
    partition: int
    start: int
    end: int
    topic_id: str | None = None


@dataclass(frozen=True, slots=True)
class Times:
    """The records of a topic that were read (backwards: written) from one time to another.

    Attributes:
        topic: as `resolve_dataset` takes it.
        partition: one; None: all of them.
        start: a time.
        end: a later one, which isn't part of it; or the same: then what was being read at that time.
    """

    topic: str
    partition: int | None
    start: datetime
    end: datetime


@dataclass(frozen=True, slots=True)
class Path:
    """A file, or all files of a partition, by path: `s3://lake/flights/dt=2013-01-01`."""

    path: str


@dataclass(frozen=True, slots=True)
class VersionOf:
    """A version of a table, by snapshot id or version number; `format` where it isn't delta, iceberg or hudi."""

    dataset: str
    version: str
    format: str | None = None


Start = Offsets | Times | Path | VersionOf


def trace(
    reader: Reader,
    start: Start,
    *,
    direction: TraceDirection = TraceDirection.FORWARD,
    depth: int | None = 1,
    limit: int = LIMIT,
    horizon: timedelta | None = None,
    archive: Archived | None = None,
) -> Trace:
    """Where a part of a dataset went, or what it came from.

    Args:
        reader: of the graph.
        start: the part.
        direction: FORWARD or BACKWARD.
        depth: most hops from it; None: all.
        limit: most steps.
        horizon: how long behind its watermark the state of a query keeps a record, the watermark's delay and the length
            of a window together; the graph may not have it. None: as long as there are batches.
        archive: where micro-batches are found that are no longer kept one by one; None: their summaries will do.

    Raises:
        NotFoundError: no such dataset, file or version.
        AmbiguousError: several datasets are called that.
        QuestionError: a range that ends before it begins, a negative offset, a depth or limit below 1.
        AnalysisError: as in the tree of `errors`.
    """
    check(start, depth, limit)
    return reader.read(
        lambda tx: trace_in(tx, start, direction=direction, depth=depth, limit=limit, horizon=horizon, archive=archive)
    )


def trace_in(
    tx: Transaction,
    start: Start,
    *,
    direction: TraceDirection = TraceDirection.FORWARD,
    depth: int | None = 1,
    limit: int = LIMIT,
    horizon: timedelta | None = None,
    archive: Archived | None = None,
) -> Trace:
    """The same within a question that asks for more than a trace; see `trace`."""
    check(start, depth, limit)
    context = Context(tx, Datasets(tx), direction is TraceDirection.BACKWARD, horizon, max(limit, 1), archive)
    return follow(context, parts_of_start(context, start), depth=depth, limit=limit)


def check(start: Start, depth: int | None, limit: int) -> None:
    """Refuse what can't be asked: QuestionError."""
    if isinstance(start, Offsets):
        if not 0 <= start.start < start.end <= MOST_OFFSET:
            raise QuestionError(
                "Offsets begin at 0, and a range ends after it begins: its end isn't part of it.", field="offset"
            )
        if not 0 <= start.partition < 2**31:
            raise QuestionError("A partition's number begins at 0.", field="partition")
    if isinstance(start, Times) and start.end < start.start:
        raise QuestionError("The range of time ends before it begins.", field="time")
    if depth is not None and depth < 1:
        raise QuestionError("The depth is at least 1; leave it out for all.", field="depth")
    if limit < 1:
        raise QuestionError("The limit is at least 1.", field="limit")


def parts_of_start(context: Context, start: Start) -> list[Part]:
    """The parts that are asked about."""
    if isinstance(start, Path):
        if not start.path.strip():
            raise QuestionError("Name a file or partition by its path.", field="path")
        return _path_parts(context, start.path)
    found = resolve_dataset(context.tx, start.topic if isinstance(start, Offsets | Times) else start.dataset)
    context.notes |= dict.fromkeys(notice(context.tx, found.asset))
    if isinstance(start, Times):
        return parts_at(context, found.asset, start.partition, start.start, start.end)
    if isinstance(start, Offsets):
        if (found.asset.type or "").upper() in _WITHOUT_OFFSETS:
            raise QuestionError(
                f"{found.asset.spelling} is a {found.asset.type}: offsets are of topics.",
                field="topic",
            )
        span = OffsetSpan(start.partition, start.start, start.end)
        return [
            Part(
                dataset=found.asset,
                kind=PartKind.OFFSETS,
                certainty=Certainty.EXACT,
                topic_id=start.topic_id,
                offsets=(span,),
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
    begun = [
        version
        for key in context.datasets.keys_of(found.asset.key)
        for version in context.tx.one("trace/versions_begun", dataset=key, text=start.version)["versions"]
    ]
    raise NotFoundError(f"No version {start.version!r} of {found.asset.spelling} is known.", nearest=begun)


def _version_is_known(context: Context, part: Part) -> bool:
    keys = (
        version_key(context.tx.tenant, key, str(part.format), str(part.version))
        for key in context.datasets.keys_of(part.dataset.key)
    )
    return any(context.tx.rows("trace/version_known", key=key) for key in keys)


def _path_parts(context: Context, path: str) -> list[Part]:
    place = canonical_path(path)
    batches, runs = path_users(context, [path])
    listed: dict[str, set[str]] = {}
    owners: list[Batch | Run] = [*batches, *runs]
    for owner in owners:
        for use in owner.writes() if context.backward else owner.reads():
            inside = {file for file in use.files if is_within(canonical_path(file), place)}
            if inside:
                listed.setdefault(use.dataset, set()).update(inside)
            elif place.rpartition("=")[1] and path in (use.properties.get("partition_paths") or ()):
                listed.setdefault(use.dataset, set()).add(path)
    if listed:
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
    # As a writer takes it, else as a reader does: with globs.
    named = dict.fromkeys((naming.path(path), naming.path_pattern(path)))
    keys = [dataset_key(context.tx.tenant, ref.namespace, ref.name) for ref in named]
    known = [key for key in keys if ahead(context.tx, datasets=[key]).datasets]
    key = known[0] if known else resolve_dataset(context.tx, path).asset.key
    used = "wrote" if context.backward else "read"
    context.notes[
        f"No micro-batch or run lists this path among those it {used}: it may be any part of the dataset."
    ] = None
    return [Part(dataset=context.datasets[key], kind=PartKind.UNKNOWN, certainty=Certainty.UNKNOWN)]


def parts_at(context: Context, topic: Asset, partition: int | None, start: datetime, end: datetime) -> list[Part]:
    """What ran from `start` to `end` read of a topic (backwards: wrote into it).

    The batch that had begun last before `start` counts where it hadn't ended by then, or it isn't known when it ended;
    so do those about then without a time, reconciled ones.
    """
    names = context.datasets.keys_of(topic.key)
    parts = [part for key in names for part in _of_runs(context, context.datasets[key], start, end)]
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
            ended = between(batches[0], batches[-1], produced=context.backward, datasets=context.datasets)
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
    if not found:
        verb = "wrote" if context.backward else "read"
        context.notes[f"Nothing that {verb} {topic.spelling} is known to have run then."] = None
    return found


def _of_runs(context: Context, topic: Asset, start: datetime, end: datetime) -> list[Part]:
    wants = [{"n": 0, "dataset": topic.key, "since": start, "until": end}]
    name = "trace/writing_runs" if context.backward else "trace/reading_runs"
    rows = context.tx.rows(name, wants=wants, limit=context.limit)
    context.cut |= len(rows) >= context.limit
    runs = {run.key: run for run in map(read_run, rows) if _overlaps(run, start, end)}
    uses = [(run, use) for run in runs.values() for use in (run.writes if context.backward else run.reads)(topic.key)]
    return list(joined(uses, context.datasets))


def _overlaps(run: Run, start: datetime, end: datetime) -> bool:
    begun = run.started_at is None or run.started_at < end or run.started_at == start
    return begun and (run.ended_at is None or run.ended_at >= start)
