"""A graph of an earlier version becomes one of this version.

Version 4 compressed the closed blocks of segments in another way: they are made again, those of some segments in each
transaction. Version 3 had a node for each micro-batch: each transaction moves the micro-batches of one segment. So it
can end at any time and is continued by doing it again. From its first transaction to its last, neither the old release
nor this one writes into the graph or reads it.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from headwater_consumers.facts.nodes import IntervalFacts
from headwater_consumers.graph.schema import (
    GRAPH_VERSION,
    MIGRATES_FROM,
    GraphVersionMismatch,
    ensure_schema,
    make_schema,
)
from headwater_consumers.graph.segments import blocks, segment
from headwater_consumers.graph.segments.segment import BLOCKS, Place, at, block_property
from headwater_consumers.graph.segments.slots import Names
from headwater_consumers.graph.statements import names, statement
from headwater_consumers.materializer.write.segments import SegmentRows, write_segments
from headwater_consumers.materializer.write.state import read_variant
from headwater_consumers.materializer.write.transaction import WriteTransaction

if TYPE_CHECKING:
    from neo4j import Driver, ManagedTransaction


def migrate(driver: Driver, database: str | None, progress: Callable[[int, int], None]) -> int:
    """Migrate a graph of one of the versions `MIGRATES_FROM`; one of this version stays as it is.

    Args:
        driver: of the database.
        database: its name; None: the user's home database.
        progress: called with how many micro-batches were looked at, and of how many in all.

    Returns:
        How many micro-batches were in nodes of their own, or in segments of which blocks were made again.

    Raises:
        GraphVersionMismatch: the graph is of neither version; nothing was changed.
        neo4j.exceptions.Neo4jError, DriverError: as the driver raises them.
    """
    with driver.session(database=database) as session:
        record = session.run(statement("read", "graph_version")).single()
        found = GRAPH_VERSION if record is None else record["version"]
        if found == GRAPH_VERSION:
            ensure_schema(driver, database)
            return 0
        if found not in MIGRATES_FROM:
            raise GraphVersionMismatch(found)
        session.run(statement("migrate", "begin"), version=GRAPH_VERSION).consume()
        make_schema(driver, database)
        left = session.run(statement("migrate", "intervals_left")).single(strict=True)["count"]
        total = left + session.run(statement("migrate", "batches_of_segments")).single(strict=True)["count"]
        moved, done, last = 0, 0, ""
        progress(done, total)
        while passed := session.execute_write(_compress_again, last):
            moved += sum(each.batches for each in passed if each.changed)
            done += sum(each.batches for each in passed)
            last = passed[-1].key
            progress(done, total)
        while count := session.execute_write(_move_segment):
            moved += count
            done += count
            progress(done, total)
        for name in names("migrate"):
            if name.startswith("drop_"):
                session.run(statement("migrate", name)).consume()
        session.run(statement("migrate", "end")).consume()
    return moved


_BLOCKS = [block_property(number) for number in range(BLOCKS)]
_SEGMENTS = 50
"""Of which blocks are made again in one transaction."""
_block_of_version_4 = msgspec.msgpack.Decoder(
    tuple[msgspec.Raw, list[int], list[int], list[dict[int, str]], list[bytes]]
)
_PRESET = 0x20
"""Bit of zlib's second byte: there is a preset dictionary, as in all blocks of this version and none of version 4."""


class _Passed(NamedTuple):
    """A segment that was looked at."""

    key: str
    batches: int
    changed: bool


def _compress_again(tx: ManagedTransaction, last: str) -> list[_Passed]:
    """Make the closed blocks of the segments behind a key again; returns these segments, none where there are none."""
    passed: list[_Passed] = []
    rows: list[dict[str, Any]] = []
    for row in tx.run(statement("migrate", "segments"), last=last, limit=_SEGMENTS):
        old = {name: bytes(row[name]) for name in _BLOCKS if row[name] is not None}
        new = {name: recompressed(block) for name, block in old.items()}
        passed.append(_Passed(row["key"], row["batches"], new != old))
        if new != old:
            rows.append({"key": row["key"], "blocks": new})
    tx.run(statement("migrate", "blocks"), rows=rows).consume()
    return passed


def recompressed(block: bytes) -> bytes:
    """A closed block of version 4, or of this one, as one of this version. A damaged one stays: readers name it."""
    try:
        if block[1] & _PRESET:
            return block
        head, places, numbers, texts, columns = _block_of_version_4.decode(zlib.decompress(block))
        counts = [numbers.count(number) for number in range(len(columns))]
        planes = [
            b"".join(_plane(data, count, byte) for data, count in zip(columns, counts, strict=True))
            for byte in range(8)
        ]
        return blocks.closed(msgspec.msgpack.decode(head), places, numbers, texts, planes)
    except blocks.DAMAGE:
        return block


def _plane(columns: bytes, count: int, byte: int) -> bytes:
    """One byte of all numbers of a structure. Version 4 had these together for each column of so many numbers alone."""
    return b"".join(columns[at_ : at_ + count] for at_ in range(byte * count, len(columns), 8 * count))


def _move_segment(tx: ManagedTransaction) -> int:
    """Move the first micro-batches that are left; returns how many, 0 where none are."""
    first = tx.run(statement("migrate", "first_interval")).single()
    if first is None:
        return 0
    place = Place(first["tenant"], first["query_id"], first["query"], at(first["batch_id"]).segment)
    stretch = {"query": place.query, "first": place.start, "last": place.start + segment.SIZE - 1}
    rows = SegmentRows()
    intervals: dict[int, IntervalFacts] = {}
    for record in tx.run(statement("migrate", "intervals"), stretch):
        digest, variant = read_variant(record["properties"], record["uses"])
        batch_id = record["batch_id"]
        interval = intervals.setdefault(batch_id, place.interval(batch_id))
        interval.variants[digest] = variant
        rows.names.update({key: Names(namespace, name) for key, namespace, name in record["names"]})
    rows.add(place, intervals)
    writing = WriteTransaction(tx)
    write_segments(writing, rows)
    _ = writing.summary  # what was sent is through
    tx.run(statement("migrate", "delete_intervals"), stretch).consume()
    return len(intervals)
