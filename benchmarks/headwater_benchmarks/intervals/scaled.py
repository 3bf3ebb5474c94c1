"""Many queries for a long time: their graph made in bulk, by the estate's segments, and imported."""

from __future__ import annotations

import itertools
import multiprocessing
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from headwater_benchmarks.estate.segments import CHUNK, Row, Template
from headwater_benchmarks.estate.sheets import LIST, Sheets
from headwater_benchmarks.estate.store import import_sheets, server_up
from headwater_benchmarks.estate.write_segments import SegmentSheets
from headwater_benchmarks.intervals.disk import Disk, disk_of
from headwater_benchmarks.intervals.options import Options
from headwater_benchmarks.intervals.stream import Record, Stream
from headwater_benchmarks.intervals.traces import Graph, traced
from headwater_benchmarks.intervals.year import counts, sizes
from headwater_consumers.analysis.reader import reading_driver
from headwater_consumers.facts.delta import GraphDelta
from headwater_consumers.facts.model import Label, RelType
from headwater_consumers.graph.oracle import visit
from headwater_consumers.graph.segments.segment import SIZE
from headwater_consumers.materializer.fold import fold
from headwater_consumers.materializer.graph import writing_driver
from headwater_consumers.materializer.write import GraphWriter

_PROCESSES = 2


@dataclass(frozen=True, slots=True)
class _Store:
    """A graph that is made.

    Attributes:
        folder: its server's.
        asked: how many micro-batches were asked for.
        batches: how many it has.
        disk: how large it is.
        records: of micro-batches that are sought.
        seconds: that making it took.
    """

    folder: Path
    asked: int
    batches: int
    disk: Disk
    records: Sequence[Record]
    seconds: Mapping[str, float]


def scaled(sizes_: Sequence[int], options: Options, report: Callable[[str], None]) -> list[dict[str, Any]]:
    """Make graphs, and trace in them in turn, so that whatever else the machine does is the same for all of them.

    Args:
        sizes_: of each graph, the micro-batches of all queries together.
        options: with the number of queries.
        report: called with what is being done.

    Returns:
        A measurement for each.

    Raises:
        HeadwaterError: an import or a server failed, or a trace found something else.
    """
    memory = {"heap_mb": options.heap_mb, "page_cache_mb": options.page_cache_mb}
    with tempfile.TemporaryDirectory(prefix="headwater-bench-", ignore_cleanup_errors=True) as name:
        stores = [_store(Path(name) / str(batches), batches, options, report) for batches in sizes_]
        with ExitStack() as up:
            graphs, counted = [], []
            for store in stores:
                server, target = up.enter_context(server_up(store.folder, **memory))
                reading = up.enter_context(reading_driver(target))
                graphs.append(Graph(reading, target, server.process.pid, store.records))
                counted.append(counts(reading, target))
            report("traces")
            times = traced(graphs, options)
    return [
        {
            "name": f"{store.asked:,} micro-batches",
            "micro_batches": store.batches,
            "queries": options.queries,
            "nodes": nodes,
            "relationships": relationships,
            **sizes(store.disk, store.batches),
            "seconds": store.seconds,
            "trace": each,
        }
        for store, (nodes, relationships), each in zip(stores, counted, times, strict=True)
    ]


def _store(folder: Path, batches: int, options: Options, report: Callable[[str], None]) -> _Store:
    each = max(batches // options.queries, 1)
    folder.mkdir()
    begun = time.monotonic()
    report(f"{batches:,} micro-batches: segments")
    records, arguments = write(folder, each, options)
    written = time.monotonic()
    report(f"{batches:,} micro-batches: import")
    import_sheets(arguments, folder)
    imported = time.monotonic()
    for sheet in folder.glob("sheets-*/*.csv"):
        sheet.unlink()
    report(f"{batches:,} micro-batches: constraints and indexes")
    # A server that stops has written everything into the store's files.
    with (
        server_up(folder, heap_mb=options.heap_mb, page_cache_mb=options.page_cache_mb) as (_, target),
        writing_driver(target) as driver,
    ):
        GraphWriter(driver, target.database).ensure_schema()
    seconds = {"segments": round(written - begun, 1), "import": round(imported - written, 1)}
    return _Store(folder, batches, each * options.queries, disk_of(folder / "neo4j", target.database), records, seconds)


def write(folder: Path, each: int, options: Options) -> tuple[list[Record], list[str]]:
    """Write the sheets; records that were sought, and the import's arguments.

    Args:
        folder: where to.
        each: micro-batches of each query.
        options: with the number of queries.
    """
    dice = np.random.default_rng([options.seed, 2])
    sought: dict[int, set[int]] = defaultdict(set)
    while sum(map(len, sought.values())) < min(options.questions, each * options.queries):
        sought[int(dice.integers(options.queries))].add(int(dice.integers(each)))
    graph = _Graph()
    for number in range(options.queries):
        visit(replace(_delta(Stream(number, options.seed), each), intervals={}), graph)
    arguments = graph.write(_folder(folder, "nodes"))
    first = len(graph.ids)
    per_query = -(-each // SIZE)
    bounds = np.linspace(0, options.queries, _PROCESSES + 1).astype(int).tolist()
    parts = [
        _Part(
            _folder(folder, str(number)),
            options.seed,
            each,
            range(begin, end),
            {query: frozenset(sought[query]) for query in range(begin, end)},
            first,
            per_query,
            graph.ids,
        )
        for number, (begin, end) in enumerate(itertools.pairwise(bounds))
        if end > begin
    ]
    with multiprocessing.get_context("spawn").Pool(_PROCESSES) as pool:
        found = pool.map(_segments, parts, chunksize=1)
    records = [record for records, _ in found for record in records]
    return records, [*arguments, *(argument for _, part in found for argument in part)]


def _folder(folder: Path, name: str) -> Path:
    made = folder / f"sheets-{name}"
    made.mkdir(parents=True)
    return made


def _delta(stream: Stream, each: int) -> GraphDelta:
    """Base facts of everything but the micro-batches: those of the first and the last have all of it."""
    columns = stream.columns(0, min(CHUNK, each))
    events = [stream.event(Row(columns, 0), 0)]
    for first in range(CHUNK, each, CHUNK):
        columns = stream.columns(first, min(first + CHUNK, each))
    # Its id, which is in stamps, has the offsets that all before it led to.
    last = each - 1
    events.append(stream.event(Row(columns, last % CHUNK), last))
    return fold(events)


@dataclass(frozen=True, slots=True)
class _Part:
    """Queries whose segments one process makes."""

    folder: Path
    seed: int
    each: int
    queries: range
    sought: Mapping[int, frozenset[int]]
    first: int
    per_query: int
    ids: Mapping[str, int]


def _segments(part: _Part) -> tuple[list[Record], list[str]]:
    records: list[Record] = []
    with Sheets(part.folder) as sheets:
        to = SegmentSheets(sheets)
        for number in part.queries:
            stream = Stream(number, part.seed, wanted=part.sought[number])
            begin = part.first + number * part.per_query
            for made in Template(stream.event).segments(stream.columns, part.each):
                (run,) = made.summary.runs
                to.add(
                    made,
                    begin + made.place.number,
                    query=part.ids[made.place.query],
                    run=part.ids[run],
                    datasets=part.ids,
                )
            records += stream.records
    return records, sheets.arguments()


@dataclass(slots=True)
class _Graph:
    """What the segments hang on (`graph.oracle.GraphVisitor`)."""

    nodes: dict[Label, list[Mapping[str, Any]]] = field(default_factory=lambda: defaultdict(list))
    relationships: dict[RelType, list[tuple[str, str, Mapping[str, Any]]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    ids: dict[str, int] = field(default_factory=dict)

    def node(self, label: Label, properties: Mapping[str, Any]) -> None:
        self.nodes[label].append(properties)

    def relationship(self, type_: RelType, start: str, end: str, properties: Mapping[str, Any]) -> None:
        self.relationships[type_].append((start, end, properties))

    def write(self, folder: Path) -> list[str]:
        """The sheets; the import's arguments. Nodes are numbered from 0."""
        with Sheets(folder) as sheets:
            for label, nodes in self.nodes.items():
                types = _types(nodes)
                sheet = sheets.node(label, *(f"{name}{type_}" for name, type_ in types.items()))
                for node in nodes:
                    self.ids[node["key"]] = id_ = len(self.ids)
                    sheet.add(id_, *(_cell(node.get(name)) for name in types))
            for type_, relationships in self.relationships.items():
                types = _types([properties for _, _, properties in relationships])
                columns = (f"{name}{of}" for name, of in types.items())
                sheet = sheets.relationship(type_, *columns, of="-graph")
                for start, end, properties in relationships:
                    sheet.add(self.ids[start], self.ids[end], *(_cell(properties.get(name)) for name in types))
        return sheets.arguments()


def _types(rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    return {name: _type(value) for row in rows for name, value in row.items() if value is not None}


def _type(value: Any) -> str:
    if isinstance(value, bool):
        return ":boolean"
    if isinstance(value, int):
        return ":long"
    if isinstance(value, datetime):
        return ":datetime"
    if isinstance(value, list):
        return f"{_type(value[0]) or ':string'}[]"
    return ""


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, list):
        return LIST.join(map(_cell, value))
    return str(value)
