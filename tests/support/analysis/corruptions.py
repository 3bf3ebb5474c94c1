"""Seeded corruptions of seeded worlds: bad records, and the part of an incident's scope that names them."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from headwater_schemas.events import IncidentClock, IncidentScope, JobRef, OffsetRange
from support.analysis.chains import BEGIN
from support.analysis.worlds import TICK, WITH_TABLES, Folder, Query, Record, Topic, World, Writer, moment, union_of


@dataclass(frozen=True)
class Corruption:
    """Bad data of a world: a scope, and the records in it, as bits.

    Attributes:
        title: kind of the corruption.
        scope: part of an incident's scope.
        bad: bits of the bad records themselves.
        covers: whether a declared repair of this scope may remove a record from the reach.
        removes: whether it has to.
    """

    title: str
    scope: IncidentScope
    bad: int
    covers: Callable[[Record], bool]
    removes: Callable[[Record], bool]


def corruption(world: World, rng: random.Random) -> Corruption:
    """Choose a corruption of a world, of some records."""
    kinds = [
        _offsets,
        _offsets,
        _ranges,
        _files,
        _micro_batches,
        _run,
        _time,
        _event_time,
        _event_time,
        _partition,
        _code,
        _whole,
    ]
    kinds += [_version, _version] if world.seed >= WITH_TABLES else []
    while True:
        found = rng.choice(kinds)(world, rng)
        if found is not None and found.bad:
            return found


def nothing(world: World) -> Corruption:
    """Choose offsets beyond the end of a topic."""
    return _of_ranges("offsets beyond the end", world, world.used_topics[0], (OffsetRange(0, 1_000, 1_010),))


def _made(
    title: str,
    world: World,
    scope: IncidentScope,
    covers: Callable[[Record], bool],
    removes: Callable[[Record], bool] | None = None,
) -> Corruption:
    bad = union_of(record.bit for record in world.records if covers(record))
    return Corruption(title, scope, bad, covers, removes or covers)


def _not_promised(_: Record) -> bool:
    return False


def _of_ranges(title: str, world: World, of: Topic, ranges: tuple[OffsetRange, ...]) -> Corruption:
    units = {(of.name, f"{each.partition}:{n}") for each in ranges for n in range(each.from_, each.to_exclusive)}
    return _made(title, world, IncidentScope(dataset=of.ref, offsets=ranges), lambda record: record.unit in units)


def _span(of: Topic, rng: random.Random) -> OffsetRange:
    number = rng.randrange(len(of.partitions))
    start = rng.randrange(len(of.partitions[number]) + 1)
    return OffsetRange(number, start, start + rng.choice([1, 1, 3, 8]))


def _offsets(world: World, rng: random.Random) -> Corruption:
    of = rng.choice(world.used_topics)
    return _of_ranges("offsets", world, of, (_span(of, rng),))


def _ranges(world: World, rng: random.Random) -> Corruption:
    of = rng.choice(world.used_topics)
    found: list[OffsetRange] = []
    for each in sorted((_span(of, rng) for _ in range(3)), key=lambda span: (span.partition, span.from_)):
        if not found or (each.partition, each.from_) >= (found[-1].partition, found[-1].to_exclusive):
            found.append(each)
    return _of_ranges("several ranges", world, of, tuple(found))


def _files(world: World, rng: random.Random) -> Corruption | None:
    folders = [folder for folder in world.folders if folder.listed and folder.ever]
    if not folders:
        return None
    of = rng.choice(folders)
    paths = sorted(rng.sample(sorted(of.ever), min(len(of.ever), rng.randint(1, 3))))
    units = {(of.name, path) for path in paths}
    scope = IncidentScope(dataset=of.ref, files=tuple(paths))
    return _made("files", world, scope, lambda record: record.unit in units)


def _partition(world: World, rng: random.Random) -> Corruption | None:
    folders = [job.sink for job in world.jobs if job.kind == "partition" and job.sink.ever]
    if not folders:
        return None
    of, day = rng.choice(folders), f"dt={rng.randrange(3)}"
    scope = IncidentScope(dataset=of.ref, partition=day)
    return _made("partition", world, scope, lambda record: record.unit[0] == of.name and f"/{day}/" in record.unit[1])


def _version(world: World, rng: random.Random) -> Corruption | None:
    tables = [folder for folder in world.folders if folder.version is not None and folder.ever]
    if not tables:
        return None
    of = rng.choice(tables)
    unit = of.name, rng.choice(sorted(of.ever))
    scope = IncidentScope(dataset=of.ref, version=unit[1])
    return _made("version of a table", world, scope, lambda record: record.unit == unit)


def _by_batches(query: Query, first: int, last: int, record: Record) -> bool:
    """True for what these micro-batches wrote, and what later ones wrote of their state."""
    if record.writer is None or record.writer[0] != query.stream.name:
        return False
    return any(first <= batch <= last for batch in (record.writer[1], *record.read_by))


def _written_by(query: Query, batches: Collection[int], record: Record) -> bool:
    return record.writer is not None and record.writer[0] == query.stream.name and record.writer[1] in batches


def _micro_batches(world: World, rng: random.Random) -> Corruption | None:
    query = rng.choice(world.queries)
    if not query.stream.begun:
        return None
    first = rng.randrange(len(query.stream.begun))
    last = min(len(query.stream.begun) - 1, first + rng.randint(0, 2))
    return _of_batches(world, query, first, last)


def _of_batches(world: World, query: Query, first: int, last: int) -> Corruption:
    scope = IncidentScope(query=query.stream.query_id, from_batch=first, to_batch=last)
    covers, removes = partial(_by_batches, query, first, last), partial(_written_by, query, range(first, last + 1))
    return _made("micro-batches", world, scope, covers, removes)


def _run(world: World, rng: random.Random) -> Corruption | None:
    if rng.random() < 0.5:
        names = sorted({record.writer[0] for record in world.records if record.writer and record.writer[1] < 0})
        if not names:
            return None
        name = rng.choice(names)
        return _made("run", world, IncidentScope(run=name), lambda record: record.writer == (name, -1))
    query = rng.choice(world.queries)
    runs = sorted({entry.run for entry in query.stream.entries if not entry.reconciled})
    if not runs:
        return None
    run = rng.choice(runs)
    batches = [entry.batch for entry in query.stream.entries if entry.run == run and not entry.reconciled]
    scope = IncidentScope(run=query.stream.run_id(run))
    covers, removes = partial(_by_batches, query, min(batches), max(batches)), partial(_written_by, query, batches)
    return _made("start of a query", world, scope, covers, removes)


def _time(world: World, rng: random.Random) -> Corruption | None:
    """Records that were written to a dataset at a time: micro-batches take 2.7 s, runs 5 s."""
    since = rng.randrange(world.ticks * TICK)
    until = since + rng.choice([5, 60, 150])
    ends: dict[Writer, tuple[float, float]] = {}
    for query in world.queries:
        for batch, begun in query.stream.begun.items():
            at = (begun - BEGIN).total_seconds()
            ends[query.stream.name, batch] = at, at + 2.7
    for event in world.events:
        body = event.run_event
        if body is not None and body.ended_at is not None and body.started_at is not None and event.run is not None:
            at = (body.started_at - BEGIN).total_seconds()
            ends[event.run.run_id, -1] = at, at + 5
    written: list[Topic | Folder] = [each for each in world.topics if each not in world.sources]
    written += world.folders
    if not written:
        return None
    of = rng.choice(written)
    scope = IncidentScope(
        dataset=of.ref,
        since=BEGIN + timedelta(seconds=since),
        until=BEGIN + timedelta(seconds=until),
        clock=IncidentClock.PROCESSING,
    )

    def covers(record: Record) -> bool:
        # It was written when its step ended: in between isn't recorded.
        return record.unit[0] == of.name and record.writer is not None and since <= ends[record.writer][1] < until

    return _made("processing time", world, scope, covers, _not_promised)


def _event_time(world: World, rng: random.Random) -> Corruption:
    """Records of a topic with an event time, as far as some query used them: others may be behind its watermark."""
    of, since = rng.choice(world.used_topics), rng.randrange(world.ticks)
    span = range(since, since + rng.randint(1, 3))
    used = union_of(record.exact & ~record.bit for record in world.records)
    scope = IncidentScope(dataset=of.ref, since=moment(span.start), until=moment(span.stop), clock=IncidentClock.EVENT)

    def covers(record: Record) -> bool:
        return record.unit[0] == of.name and record.time in span and bool(record.bit & used)

    return _made("event time", world, scope, covers, _not_promised)


def _whole(world: World, rng: random.Random) -> Corruption:
    stores: list[Topic | Folder] = [*world.used_topics, *(folder for folder in world.folders if folder.ever)]
    of = rng.choice(stores)
    return _made("whole dataset", world, IncidentScope(dataset=of.ref), lambda record: record.unit[0] == of.name)


def _code(world: World, rng: random.Random) -> Corruption | None:
    """Records that one version of a batch job's code wrote."""
    if not world.jobs:
        return None
    job, version = rng.choice(world.jobs), rng.randrange(3)
    span = range(version * 4 * TICK, (version + 1) * 4 * TICK)
    scope = IncidentScope(job=JobRef("jobs", job.name), code_version=f"v{version}")

    def covers(record: Record) -> bool:
        if record.writer is None or record.writer[1] >= 0:
            return False
        name, _, at = record.writer[0].rpartition(" ")
        return name == job.name and int(at) in span

    return _made("code of a job", world, scope, covers)
