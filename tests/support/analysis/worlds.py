"""Seeded worlds in which it is known of every record what it was made from.

A world has topics, streaming queries and batch jobs below them. It moves in ticks of a minute: records arrive, each
query runs a micro-batch, batch jobs run. It emits the events that capture would publish, and keeps every record.

A record has two sets of ancestors, as bits of a number, itself among both:

exact    records that it was computed from
coarse   likewise, if every output of a micro-batch or run were computed from all that it read and that its filters and
         joins let pass: lineage is by micro-batch, so that an answer can't be more exact
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import msgspec

from headwater_schemas.events import (
    Certainty,
    ColumnEdge,
    ColumnLineage,
    DatasetRef,
    DatasetUse,
    JobRef,
    LineageEvent,
    Position,
    ProcessingType,
    RunEvent,
    RunEventType,
    RunRef,
    TableSnapshot,
    TransformationKind,
    TransformationType,
    Versions,
)
from headwater_schemas.events.build import lineage_event
from headwater_schemas.identity import plan_digest
from support.analysis.chains import BEGIN, Entry, Stream, files_use, kafka_use, overwriting, ran, replacing, topic

TICK = 60
"""Seconds from one tick to the next."""
_DELAY, _WINDOW = 2, 3
"""Delay of watermarks and length of windows, in ticks; the event time of a record is counted in these too."""
_KEYS = 4

WITH_TABLES = 1_000
"""First seed of the worlds with tables and foreachBatch."""

Unit = tuple[str, str]
"""Name of a dataset; `partition:offset`, path of a file, version of a table, or id of an unlisted report's run."""
Writer = tuple[str, int]
"""Name of a query and number of its micro-batch, or id of a batch run and -1."""


@dataclass(slots=True, eq=False)
class Record:
    """One record where it is stored.

    Attributes:
        bit: its own bit.
        unit: where it is.
        writer: micro-batch or run that wrote it; None: it arrived from outside.
        exact, coarse: ancestors, see the module.
        read_by: micro-batches of its query that read what it was made from directly.
        time: event time, in ticks.
        key: key of joins and partitions of topics.
        gone: whether it was overwritten.
    """

    bit: int
    unit: Unit
    writer: Writer | None
    exact: int
    coarse: int
    read_by: frozenset[int]
    time: int
    key: int
    gone: bool = False


@dataclass(slots=True)
class Made:
    """A record that a step is about to write."""

    sources: list[Record]
    read_by: frozenset[int]
    time: int
    key: int


@dataclass(slots=True)
class Topic:
    """A topic, with its records by partition and offset."""

    name: str
    partitions: list[list[Record]]

    @property
    def ref(self) -> DatasetRef:
        """Dataset of the topic."""
        return topic(self.name)


@dataclass(slots=True)
class Folder:
    """Files, a report of which no files are listed, or a Delta table.

    Attributes:
        files: records of the files that are there, by path; of a table: by the version that added them.
        ever: likewise, all that were ever there.
        listed: whether events list its files.
        version: latest version of a table, -1 before the first; None: no table.
    """

    name: str
    listed: bool = True
    version: int | None = None
    files: dict[str, list[Record]] = field(default_factory=dict)
    ever: dict[str, list[Record]] = field(default_factory=dict)

    @property
    def ref(self) -> DatasetRef:
        """Dataset of the folder."""
        return DatasetRef("file", self.name)

    def use(self) -> DatasetUse:
        """Report of all that is there now."""
        if self.version is not None:
            snapshot = TableSnapshot(format="delta", snapshot_id=str(self.version))
            return DatasetUse(dataset=self.ref, position=Position(table_snapshot=snapshot), certainty=Certainty.EXACT)
        prefix = f"file:{self.name}/"
        names = [path.removeprefix(prefix) for path in self.files]
        return files_use(self.name, names) if self.listed else DatasetUse(dataset=self.ref)

    def remove(self, paths: Iterable[str]) -> None:
        """Overwrite some files."""
        for path in list(paths):
            for record in self.files.pop(path):
                record.gone = True


@dataclass
class Timed(Stream):
    """A query whose micro-batches begin when the world's ticks say."""

    begun: dict[int, datetime] = field(default_factory=dict)
    every: timedelta = timedelta(seconds=3)

    def time(self, batch: int) -> datetime:
        return self.begun[batch]


@dataclass
class Query:
    """A streaming query of a world: its sources, sinks, and what it does with the records that it reads."""

    kind: str
    stream: Timed
    sources: list[Topic]
    sinks: list[Topic | Folder]
    at: dict[tuple[str, int], int] = field(default_factory=dict)
    run: int = 0
    plan: str | None = None
    state: list[tuple[Record, int]] = field(default_factory=list)
    latest: dict[str, int] = field(default_factory=dict)
    watermark: int | None = None

    @property
    def keeps_state(self) -> bool:
        """True if it reports rows of state."""
        return self.kind in ("window", "update", "join")


@dataclass
class Job:
    """A batch job of a world, which reads all that is in its sources."""

    kind: str
    name: str
    sources: list[Folder]
    sink: Folder
    first: int
    every: int


class World:
    """A pipeline, the events of its history, and every record that it made. Several worlds go into one graph.

    Args:
        seed: all of it follows from this number. From `WITH_TABLES` on, some folders are Delta tables, and some queries
            write several outputs in a function of foreachBatch, each made from one input alone.

    Attributes:
        events: events that are to be stored.
        streams: queries, whose events are to be stored too.
        records: every record, those that were overwritten too.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._name = f"w{seed}"
        self.records: list[Record] = []
        self.events: list[LineageEvent] = []
        self._random = rng = random.Random(f"world {seed}")
        self._has_tables = seed >= WITH_TABLES
        self.sources = [self._topic(f"source{n}") for n in range(rng.randint(1, 2))]
        self.topics, self.folders = list(self.sources), list[Folder]()
        self.queries: list[Query] = []
        self.jobs: list[Job] = []
        self.starts: dict[str, datetime] = {}
        for n in range(rng.randint(2, 5)):
            self._add_query(n)
        for n in range(rng.randint(1, 3) if self.folders else 0):
            self._add_job(n)
        self._reconciled = rng.choice(self.queries).stream.name
        self.ticks = rng.randint(7, 12)
        for tick in range(self.ticks):
            self._tick(tick)
        for query in self.queries:
            self._report_starts(query)

    @property
    def streams(self) -> list[Timed]:
        """Streaming queries."""
        return [query.stream for query in self.queries]

    @property
    def used_topics(self) -> list[Topic]:
        """Topics that a micro-batch read or wrote: the graph knows no others."""
        used = {use.dataset.name for stream in self.streams for entry in stream.entries for use in entry.inputs}
        used |= {use.dataset.name for stream in self.streams for entry in stream.entries for use in entry.outputs}
        return [each for each in self.topics if each.name in used]

    def _topic(self, name: str) -> Topic:
        return Topic(f"{self._name}.{name}", [[] for _ in range(self._random.randint(1, 3))])

    def _add_query(self, n: int) -> None:
        rng = self._random
        kinds = ["map", "map", "filter", "window", "update", "join", "both"]
        kind = rng.choice([*kinds, "each", "each"] if self._has_tables else kinds)
        pair = kind in ("join", "each")
        sources = rng.sample(self.topics, 2) if pair and len(self.topics) > 1 else [rng.choice(self.topics)]
        kind = "map" if pair and len(sources) < 2 else kind
        sinks: list[Topic | Folder] = []
        for each in range(2 if kind in ("both", "each") else 1):
            if rng.random() < 0.5:
                made = self._topic(f"topic{n}{each}")
                self.topics.append(made)
                sinks.append(made)
            else:
                folder = self._folder(f"files{n}{each}", listed=True)
                self.folders.append(folder)
                sinks.append(folder)
        query = Query(kind, Timed(f"{self._name} q{n} {kind}"), sources, sinks)
        drops = {"filter": TransformationKind.FILTER_DEPENDENCY, "join": TransformationKind.JOIN_DEPENDENCY}
        if kind in drops:
            query.plan = self._plan(query, drops[kind])
        self.queries.append(query)

    def _folder(self, name: str, *, listed: bool) -> Folder:
        if self._has_tables and self._random.random() < 0.5:
            return Folder(f"/lake/{self._name}/{name}", listed=False, version=-1)
        return Folder(f"/lake/{self._name}/{name}", listed)

    def _plan(self, query: Query, kind: TransformationKind) -> str:
        edge = ColumnEdge(output=1, input=0, input_field="x", type=TransformationType.INDIRECT, kind=kind)
        plan = ColumnLineage(
            datasets=(query.sources[0].ref, *(sink.ref for sink in query.sinks)), edges=(edge,), complete=True
        )
        job = JobRef("jobs", query.stream.name)
        self.events.append(lineage_event(plan, job=job, producer="test", event_time=BEGIN))
        return plan_digest(plan)

    def _add_job(self, n: int) -> None:
        rng = self._random
        kind = rng.choice(["overwrite", "overwrite", "append", "partition"])
        sources = rng.sample(self.folders, rng.randint(1, min(2, len(self.folders))))
        listed = kind != "overwrite" or rng.random() < 0.5
        name = f"{kind}{n}"
        sink = Folder(f"/lake/{self._name}/{name}") if kind == "partition" else self._folder(name, listed=listed)
        self.folders.append(sink)
        self.jobs.append(Job(kind, f"{self._name} j{n} {kind}", sources, sink, rng.randint(0, 3), rng.randint(1, 4)))

    def _tick(self, tick: int) -> None:
        rng = self._random
        for source in self.sources:
            for number, partition in enumerate(source.partitions):
                for _ in range(rng.choice([0, 1, 2, 4])):
                    made = Made([], frozenset(), max(0, tick - rng.choice([0, 0, 0, 1, 2, 4])), rng.randrange(_KEYS))
                    self._keep(partition, (source.name, f"{number}:{len(partition)}"), None, made, 0)
        for n, query in enumerate(self.queries):
            self._micro_batch(query, tick, tick * TICK + n * 4)
        for n, job in enumerate(self.jobs):
            if tick >= job.first and (tick - job.first) % job.every == 0:
                self._run(job, tick * TICK + 30 + n * 7)

    def _keep(self, into: list[Record], unit: Unit, writer: Writer | None, made: Made, coarse: int) -> Record:
        bit = 1 << len(self.records)
        exact = bit
        for source in made.sources:
            exact |= source.exact
        record = Record(bit, unit, writer, exact, coarse | exact, made.read_by, made.time, made.key)
        self.records.append(record)
        into.append(record)
        return record

    def _micro_batch(self, query: Query, tick: int, at: int) -> None:
        rng, stream = self._random, query.stream
        ranges: dict[str, dict[int, tuple[int, int]]] = {}
        read: list[Record] = []
        most = rng.choice([2, 5, 99, 99])
        for source in query.sources:
            ranges[source.name] = {}
            for number, partition in enumerate(source.partitions):
                start = query.at.get((source.name, number), 0)
                end = min(len(partition), start + most)
                query.at[source.name, number] = end
                ranges[source.name][number] = (start, end)
                read += partition[start:end]
        if not read and not query.keeps_state:
            return
        batch = len(stream.begun)
        stream.begun[batch] = BEGIN + timedelta(seconds=at)
        query.run += bool(batch) and rng.random() < 0.15
        before = query.watermark
        computed = [self._compute(query, batch, read)]
        if query.kind == "each":
            computed = [
                self._compute(query, batch, [record for record in read if record.unit[0] == source.name])
                for source in query.sources
            ]
        reconciled = stream.name == self._reconciled and rng.random() < 0.3
        outputs = []
        for number, sink in enumerate(query.sinks):
            made, coarse = computed[number % len(computed)]
            use = self._write(sink, made, (stream.name, batch), coarse)
            if query.kind == "each":
                use = msgspec.structs.replace(use, inputs=(query.sources[number].ref,))
            # A checkpoint has the files that were written, but not the offsets.
            outputs.append(
                kafka_use(sink.name, None, Certainty.UNKNOWN) if reconciled and isinstance(sink, Topic) else use
            )
        entry = Entry(
            batch,
            tuple(kafka_use(name, each, Certainty.EXACT) for name, each in ranges.items()),
            tuple(outputs),
            run=query.run,
            state_rows=len(query.state) if query.keeps_state and not reconciled else None,
            watermark_before=None if reconciled else moment(before),
            watermark_after=None if reconciled else moment(query.watermark),
            reconciled=reconciled,
            plan_digest=query.plan,
        )
        stream.entries.append(entry)
        if rng.random() < 0.1:
            # After a crash it ran again with the same offsets, and is reported as before.
            stream.entries.append(replace(entry))

    def _compute(self, query: Query, batch: int, read: list[Record]) -> tuple[list[Made], int]:
        coarse = union_of(record.coarse for record in (*read, *(record for record, _ in query.state)))
        mine = frozenset({batch})
        if not query.keeps_state:
            kept = [record for record in read if query.kind != "filter" or self._random.random() < 0.5]
            # A filter's output is made from what passed.
            coarse = union_of(record.coarse for record in kept)
            return [Made([record], mine, record.time, record.key) for record in kept], coarse
        mark = -1 if query.watermark is None else query.watermark
        if query.kind == "join":
            made = self._join(query, batch, read)
            coarse = union_of(source.coarse for each in made for source in each.sources)
        else:
            made = self._window(query, batch, read, mark)
        for record in read:
            source = record.unit[0]
            query.latest[source] = max(record.time, query.latest.get(source, 0))
        if len(query.latest) == len(query.sources):
            query.watermark = max(mark, min(query.latest.values()) - _DELAY, 0)
        return made, coarse

    def _window(self, query: Query, batch: int, read: list[Record], mark: int) -> list[Made]:
        """Windows that end by the watermark, once; or, in mode update, those that got a record."""
        taken = [(record, batch) for record in read if _end(record) > mark]
        held = [*query.state, *taken]
        query.state = [(record, at) for record, at in held if _end(record) > mark]
        groups: dict[tuple[int, int], list[tuple[Record, int]]] = defaultdict(list)
        for record, at in held:
            groups[_end(record), record.key].append((record, at))
        fresh = {(_end(record), record.key) for record, _ in taken}
        return [
            Made([record for record, _ in group], frozenset(at for _, at in group), end - 1, key)
            for (end, key), group in sorted(groups.items())
            if ((end, key) in fresh if query.kind == "update" else end <= mark)
        ]

    def _join(self, query: Query, batch: int, read: list[Record]) -> list[Made]:
        made, left = [], query.sources[0].name
        for record in read:
            for other, at in query.state:
                apart = (record.unit[0] == left) != (other.unit[0] == left)
                if apart and record.key == other.key and abs(record.time - other.time) <= _WINDOW:
                    times = max(record.time, other.time)
                    made.append(Made([record, other], frozenset({batch, at}), times, record.key))
            query.state.append((record, batch))
        mark = -1 if query.watermark is None else query.watermark
        query.state = [(record, at) for record, at in query.state if record.time + _WINDOW > mark]
        return made[:30]

    def _write(self, sink: Topic | Folder, made: Sequence[Made], writer: Writer, coarse: int) -> DatasetUse:
        if isinstance(sink, Topic):
            begun = [len(partition) for partition in sink.partitions]
            for each in made:
                number = each.key % len(sink.partitions)
                partition = sink.partitions[number]
                self._keep(partition, (sink.name, f"{number}:{len(partition)}"), writer, each, coarse)
            ranges = {n: (begun[n], len(partition)) for n, partition in enumerate(sink.partitions)}
            return kafka_use(sink.name, ranges, Certainty.EXACT)
        parts = [made[::2], made[1::2]] if len(made) > 3 else [made]
        names = [f"part-{writer[1]}-{n}" for n, part in enumerate(parts) if part]
        return self._add(sink, dict(zip(names, parts, strict=False)), writer, coarse)

    def _add(self, sink: Folder, parts: dict[str, Sequence[Made]], writer: Writer, coarse: int) -> DatasetUse:
        """Write files, a report, or a version of a table. Return what is reported of them."""
        if sink.version is not None:
            sink.version += 1
        for name, part in parts.items():
            path = f"file:{sink.name}/{name}" if sink.listed else writer[0]
            path = path if sink.version is None else str(sink.version)
            sink.files[path] = sink.ever[path] = kept = sink.files.get(path, [])
            for each in part:
                self._keep(kept, (sink.name, path), writer, each, coarse)
        return files_use(sink.name, list(parts)) if sink.listed else sink.use()

    def _run(self, job: Job, at: int) -> None:
        rng = self._random
        read = [record for source in job.sources for records in source.files.values() for record in records]
        if not read:
            return
        by_key: dict[int, list[Record]] = defaultdict(list)
        for record in read:
            by_key[record.key].append(record)
        made = [Made(group, frozenset(), max(r.time for r in group), key) for key, group in sorted(by_key.items())]
        writer, coarse = (f"{job.name} {at}", -1), union_of(record.coarse for record in read)
        name, uses = f"part-{at}", [source.use() for source in job.sources]
        if job.kind == "partition":
            day = f"dt={rng.randrange(3)}"
            overwrites = rng.random() < 0.7
            if overwrites:
                job.sink.remove(path for path in job.sink.files if f"/{day}/" in path)
            write = self._add(job.sink, {f"{day}/{name}": made}, writer, coarse)
            write = overwriting(write, day) if overwrites else write
        elif job.kind == "append":
            write = self._add(job.sink, {name: made}, writer, coarse)
        else:
            job.sink.remove(job.sink.files)
            write = replacing(self._add(job.sink, {name: made}, writer, coarse))
        code = f"v{at // TICK // 4}"
        self.events.append(ran(job.name, uses, [write], at, versions=Versions(code=code)))

    def _report_starts(self, query: Query) -> None:
        """Report every start of a query, with the horizon of its state where Spark's plan shows it."""
        horizon = (_DELAY + _WINDOW) * TICK * 1_000
        facet = {"headwater_eventTime": f'{{"stateHorizonMs": {horizon}}}'}
        for run in sorted({entry.run for entry in query.stream.entries}):
            first = min(entry.batch for entry in query.stream.entries if entry.run == run)
            at = query.stream.time(first)
            body = RunEvent(
                type=RunEventType.START,
                processing_type=ProcessingType.STREAMING,
                query_id=query.stream.query_id,
                started_at=at,
                run_facets=facet if query.kind in ("window", "update") else {},
            )
            job, start = JobRef("jobs", query.stream.name), RunRef(query.stream.run_id(run))
            self.events.append(lineage_event(body, job=job, run=start, producer="test", event_time=at))


def _end(record: Record) -> int:
    """End of the window of a record, in ticks of event time."""
    return record.time // _WINDOW * _WINDOW + _WINDOW


def union_of(masks: Iterable[int]) -> int:
    found = 0
    for mask in masks:
        found |= mask
    return found


def moment(mark: int | None) -> datetime | None:
    return None if mark is None else BEGIN + timedelta(seconds=mark * TICK)
