"""Concurrent writer of the parts of a batch, each in its own transaction and session.

Neo4j runs a transaction on one core. Parts that have no job or dataset in common (`fold.disjoint`) hardly wait for each
other.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import fields

from headwater_graph.write.transaction import WriteCounters
from headwater_graph.write.writer import GraphWriter, PreparedDelta


class PartsWriter:
    """Writer of batches in parts. Call `apply` from one thread at a time.

    Args:
        writers: writers of the parts, at least one for each part. Every attempt at a part uses the same writer, and so
            the same `Patience`.
    """

    def __init__(self, writers: Sequence[GraphWriter]) -> None:
        self._writers = writers

    def ensure_schema(self) -> None:
        """Make constraints, indexes and the graph's version: `GraphWriter.ensure_schema`."""
        self._writers[0].ensure_schema()

    def apply(self, parts: Sequence[PreparedDelta]) -> WriteCounters:
        """Write all parts, committed on return. Applying the parts again changes nothing.

        Raises:
            neo4j.exceptions.Neo4jError, DriverError: the first failed part's error, see `GraphWriter.apply`. Nothing of
                that part was written; other parts may have been written.
        """
        written: list[Future[WriteCounters]] = [Future() for _ in parts]
        pending = list(zip(written, self._writers, parts, strict=False))
        for further in pending[1:]:
            # Daemon thread: a driver call that never returns can't keep the process from ending.
            threading.Thread(target=_write, args=further, name="writer of a part", daemon=True).start()
        _write(*pending[0])
        for part in written:
            part.exception()  # waits, so that the next attempt doesn't run at the same time
        return _sum([part.result() for part in written])


def _write(written: Future[WriteCounters], writer: GraphWriter, part: PreparedDelta) -> None:
    try:
        written.set_result(writer.apply(part))
    except BaseException as error:  # noqa: BLE001  raised by `part.result()`
        written.set_exception(error)


def _sum(counters: Sequence[WriteCounters]) -> WriteCounters:
    names = [field.name for field in fields(WriteCounters)]
    return WriteCounters(**{name: sum(getattr(each, name) for each in counters) for name in names})
