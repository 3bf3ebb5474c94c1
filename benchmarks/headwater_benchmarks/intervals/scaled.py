"""Many queries for a long time: their graph made in bulk, by the estate's segments, and imported."""

from __future__ import annotations

import itertools
import multiprocessing
import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from headwater_benchmarks.estate.segments import CHUNK, Row, Template
from headwater_benchmarks.estate.sheets import LIST, Sheets
from headwater_benchmarks.estate.store import import_sheets, server_up
from headwater_benchmarks.estate.write_segments import SegmentSheets
from headwater_benchmarks.intervals.disk import disk_of
from headwater_benchmarks.intervals.options import Options
from headwater_benchmarks.intervals.stream import Record, Stream
from headwater_benchmarks.intervals.traces import traced
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


def scaled(batches: int, options: Options, report: Callable[[str], None]) -> dict[str, Any]:
    """Make the graph, and trace in it; its measurement.

    Args:
        batches: of all queries together.
        options: with the number of queries.
        report: called with what is being done.

    Raises:
        HeadwaterError: the import or the server failed, or a trace found something else.
    """
    each = max(batches // options.queries, 1)
    with tempfile.TemporaryDirectory(prefix="headwater-bench-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        report(f"{batches:,} micro-batches: segments")
        records, arguments = write(folder, each, options)
        report(f"{batches:,} micro-batches: import")
        import_sheets(arguments, folder)
        for sheet in folder.glob("sheets-*/*.csv"):
            sheet.unlink()
        memory = {"heap_mb": options.heap_mb, "page_cache_mb": options.page_cache_mb}
        report(f"{batches:,} micro-batches: constraints and indexes")
        # A server that stops has written everything into the store's files.
        with server_up(folder, **memory) as (_, target), writing_driver(target) as driver:
            GraphWriter(driver, target.database).ensure_schema()
        disk = disk_of(folder / "neo4j", target.database)
        with server_up(folder, **memory) as (server, target), writing_driver(target) as driver:
            nodes, relationships = counts(driver, target)
            report(f"{batches:,} micro-batches: traces")
            with reading_driver(target) as reading:
                times = traced(reading, target, server.process.pid, records, options)
            return {
                "name": f"{batches:,} micro-batches",
                "micro_batches": each * options.queries,
                "queries": options.queries,
                "nodes": nodes,
                "relationships": relationships,
                **sizes(disk, each * options.queries),
                "trace": times,
            }


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
