"""Dumps: the whole graph as JSON lines in order of key, byte for byte equal for equal graphs; comparison of dumps.

    {"key":"0a1b…","labels":["Run"],"properties":{"name":"enrich 3f2a91c0","started_at":1735689600000000,…}}
    {"end":"77c0…","key":"0a1b…/OF/77c0…","properties":{},"start":"0a1b…","type":"OF"}

A line of a node has the node's `key`. The `key` of a relationship consists of its nodes' keys, its type and its own
`key`, if it has one. So each node is followed by its outgoing relationships. Lines are in code-point order of `key`;
fields and properties are in code-point order, too. Times are integer microseconds; nulls are left out. `dump` reads the
lines from a database; `oracle` makes them from events.

Properties that begin with `_` are included only with `internal`. They decide how later events merge, and which nodes
searches find. `_stamps` then has the stamp of every register (`facts.owners.settled`), and `_stamp` is left out.
"""

from __future__ import annotations

import heapq
import json
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any, Self

from headwater_graph.derive import BatchPositions, neighbour_of
from headwater_graph.dump_lines import node_line, relationship_key, relationship_line, segment_line
from headwater_graph.facts.model import BY_QUERY, Label
from headwater_graph.facts.nodes import IntervalFacts
from headwater_graph.facts.owners import without_stamps_of_the_schema
from headwater_graph.keys import use_key
from headwater_graph.oracle import micro_batch_lines
from headwater_graph.retired import RetiredBatches, native
from headwater_graph.segments.segment import Place, SegmentDamagedError, Stored
from headwater_graph.segments.summary import summarize
from headwater_graph.statements import statement
from headwater_graph.summaries import RETIRED

if TYPE_CHECKING:
    from neo4j import Driver, Session


PAGE_NODES = 500
"""Number of nodes of a label in memory at once, with their outgoing relationships."""


def dump(
    driver: Driver, database: str | None = None, *, internal: bool = False, page_nodes: int = PAGE_NODES
) -> Iterator[str]:
    """Yield the graph's lines, without newlines, in code-point order of their key.

    Streamed: one page of each label is in memory at a time. The pages are read one after the other, so the dump may
    contain only some of the concurrent writes. With `internal`, properties that begin with `_` are included.

    Raises:
        SegmentDamagedError: micro-batches can't be read; with `internal` the dump has a line of their segment instead.
        neo4j.exceptions.Neo4jError, DriverError: as the driver raises them.
    """
    with driver.session(database=database, default_access_mode="READ") as session, SortedLines() as micro_batches:
        retired = RetiredBatches(session, internal=internal)
        for lines in _micro_batches(session, retired, internal=internal):
            micro_batches.add(lines)
        micro_batches.add(retired.rest())
        pages = [
            _label(session, label, page_nodes, retired, internal=internal) for label in Label if label not in BY_QUERY
        ]
        yield from (line for _, line in heapq.merge(*pages, *micro_batches.sorted()))


def _micro_batches(session: Session, retired: RetiredBatches, *, internal: bool) -> Iterator[list[tuple[str, str]]]:
    """Lines of all micro-batches, query by query in batch order; after each query, lines of its summaries."""
    query, start = "", -1
    # Last micro-batch of the earlier segments; last micro-batch that isn't retired, at which the next NEXT begins.
    last: IntervalFacts | None = None
    before: IntervalFacts | None = None
    # Previous segment: key, differences and NEXT. The record after it shows whether this NEXT is right.
    earlier: tuple[str, dict[str, Any], list[int]] | None = None
    while True:
        record = session.run(statement("read", "dump_segment"), {"query": query, "start": start}).single()
        if earlier is not None:
            key, faults, next_ = earlier
            same = record is not None and record["properties"]["query"] == query
            if next_ != ([record["properties"]["start"]] if record is not None and same else []):
                faults["NEXT"] = next_
            if faults:
                yield [(key, segment_line(key, faults))]
        if record is None:
            yield retired.end()
            return
        stored = native(record["properties"])
        if stored["query"] != query:
            before = last = None
            yield retired.end()
            retired.begin(stored["query"])
        query, start = stored["query"], stored["start"]
        place = Place.of(stored)
        try:
            intervals = Stored.of(stored).read(place, {})
        except SegmentDamagedError as error:
            if not internal:
                raise
            earlier, before, last = (place.key, {"damaged": str(error)}, record["next"]), None, None
            continue
        kept = retired.leave_out(intervals)
        lines = micro_batch_lines(kept, before, internal=internal)
        if internal:
            earlier = place.key, _differences(place, record, stored, intervals, last), record["next"]
        yield lines
        last = intervals[max(intervals)]
        before = kept[-1] if kept else before


def _differences(
    place: Place,
    record: Mapping[str, Any],
    stored: Mapping[str, Any],
    intervals: Mapping[int, IntervalFacts],
    before: IntervalFacts | None,
) -> dict[str, Any]:
    versions = [
        [type_, key, batches, None if time is None else time.to_native()]
        for type_, key, batches, time in record["versions"]
    ]
    return summary_differences(
        place,
        {**record, "properties": stored, "versions": versions},
        intervals,
        None if before is None else neighbour_of(before),
    )


_MOST_IN_MEMORY = 200_000
"""Number of lines sorted in memory; further lines go to temporary files."""


class SortedLines:
    """External sort of lines by key: beyond a number of lines, they go to sorted temporary files."""

    def __init__(self) -> None:
        self._lines: list[tuple[str, str]] = []
        self._files: list[IO[str]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for file in self._files:
            file.close()

    def add(self, lines: list[tuple[str, str]]) -> None:
        """Add (key, line) pairs; keys contain no tab, and JSON no line feed."""
        self._lines += lines
        if len(self._lines) >= _MOST_IN_MEMORY:
            # Closed with the other files, when the sort ends.
            file = tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n")  # noqa: SIM115
            file.writelines(f"{key}\t{line}\n" for key, line in sorted(self._lines))
            self._files.append(file)
            self._lines = []

    def sorted(self) -> list[Iterator[tuple[str, str]]]:
        """Return the sorted parts, for the caller to merge."""
        return [iter(sorted(self._lines)), *map(_lines_of, self._files)]


def _lines_of(file: IO[str]) -> Iterator[tuple[str, str]]:
    file.seek(0)
    for text in file:
        key, line = text.removesuffix("\n").split("\t", 1)
        yield key, line


def _label(
    session: Session, label: Label, page_nodes: int, retired: RetiredBatches, *, internal: bool
) -> Iterator[tuple[str, str]]:
    # Keys are hexadecimal, so Neo4j's order of strings is that of code points.
    after = ""
    while True:
        result = session.run(statement("read", f"dump_{label.value.lower()}"), after=after, page=page_nodes)
        rows = list(result)
        for row in rows:
            node = native(row["properties"])
            after = node["key"]
            if internal and label is Label.QUERY:
                node[RETIRED] = retired.of(after, node.get(RETIRED))
            if internal and row.get("current"):
                node = without_stamps_of_the_schema(node)
            yield after, node_line(label, node, internal=internal)
            stamp = node.get("_stamp") if internal else None
            yield from sorted(
                _relationship(after, *leaving, stamp=stamp, internal=internal) for leaving in row["leaving"]
            )
        if len(rows) < page_nodes:
            return


def _relationship(
    start: str, type_: str, end: str, stored: Mapping[str, Any], *, stamp: str | None, internal: bool
) -> tuple[str, str]:
    properties = native(stored)
    key = relationship_key(type_, start, end, properties.get("key"))
    return key, relationship_line(type_, start, end, properties, stamp=stamp, internal=internal)


SAMPLES = 20
"""Maximum number of differences that are kept in full; all are counted."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Node or relationship in which two dumps differ.

    Attributes:
        key: sort key of the line.
        expected: expected line; None if the line is unexpected.
        found: actual line; None if it is missing.
    """

    key: str
    expected: str | None
    found: str | None


@dataclass(slots=True)
class Comparison:
    """Differences between two dumps.

    Attributes:
        missing: number of expected lines that weren't found.
        changed: number of lines with the same key in both dumps and different properties.
    """

    equal: int = 0
    missing: int = 0
    extra: int = 0
    changed: int = 0
    samples: list[Difference] = field(default_factory=list)

    @property
    def same(self) -> bool:
        """True if there is no difference."""
        return not (self.missing or self.extra or self.changed)

    def differs(self, key: str, expected: str | None, found: str | None) -> None:
        """Count a difference; keep the first `SAMPLES` differences."""
        if found is None:
            self.missing += 1
        elif expected is None:
            self.extra += 1
        else:
            self.changed += 1
        if len(self.samples) < SAMPLES:
            self.samples.append(Difference(key, expected, found))


def compare(expected: Iterator[str], found: Iterator[str]) -> Comparison:
    """Compare two dumps. Both are read once, side by side; only the differences are kept in memory.

    Args:
        expected: lines in order of key, as `oracle` and `dump` give them.
        found: lines in order of key.
    """
    comparison = Comparison()
    ours, theirs = _next(expected), _next(found)
    while ours is not None or theirs is not None:
        if theirs is None or (ours is not None and ours[0] < theirs[0]):
            assert ours is not None  # noqa: S101 - for the type checker: one of the two is there
            comparison.differs(ours[0], ours[1], None)
            ours = _next(expected)
            continue
        if ours is None or theirs[0] < ours[0]:
            comparison.differs(theirs[0], None, theirs[1])
            theirs = _next(found)
            continue
        if ours == theirs:
            comparison.equal += 1
        else:
            comparison.differs(ours[0], ours[1], theirs[1])
        ours, theirs = _next(expected), _next(found)
    return comparison


def _next(lines: Iterator[str]) -> tuple[str, str] | None:
    line = next(lines, None)
    return None if line is None else (json.loads(line)["key"], line)


_BYTES = ("_block_", "_open", "_head", "_tail", "_last")


def summary_differences(
    place: Place, record: Mapping[str, Any], intervals: Mapping[int, IntervalFacts], before: BatchPositions | None
) -> dict[str, Any]:
    """List properties and relationships, by name, in which a segment's summary differs from its micro-batches.

    Args:
        record: record of the statement `dump_segment`, times as aware datetimes.
        intervals: the segment's micro-batches by ascending batch id.
        before: last micro-batch of the previous segment.
    """
    summary, _ = summarize(place.tenant, intervals, before)
    expected: dict[str, Any] = {
        **place.identity(),
        **summary.properties(place.query),
        "IN_QUERY": [place.query],
        **{f"IN_RUN {key}": count for key, count in summary.runs.items()},
        **{f"{type_} {key}": [use.batches, use.first_time] for (type_, key), use in summary.versions.items()},
    }
    for use, range_ in summary.ranges.items():
        key = use_key(place.tenant, use.type, place.key, use.dataset, use.ordinal)
        ordinal = {"ordinal": use.ordinal} if use.ordinal else {}
        expected[f"{use.type} {use.dataset} {use.ordinal}"] = _present({"key": key} | ordinal | range_.properties())
    actual: dict[str, Any] = {
        **{name: value for name, value in record["properties"].items() if not name.startswith(_BYTES)},
        "IN_QUERY": record["queries"],
        **{f"IN_RUN {key}": count for key, count in record["runs"]},
        **{f"{type_} {key}": [batches, time] for type_, key, batches, time in record["versions"]},
        **{
            f"{type_} {key} {properties.get('ordinal', 0)}": dict(properties)
            for type_, key, properties in record["uses"]
        },
    }
    expected = _present(expected)
    return {
        name: actual.get(name, "not there")
        for name in sorted(expected.keys() | actual.keys())
        if expected.get(name) != actual.get(name)
    }


def _present(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in properties.items() if value is not None}
