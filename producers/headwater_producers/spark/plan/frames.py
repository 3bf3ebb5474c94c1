"""Frames whose rows continue as RDDs: `checkpoint()`, `localCheckpoint()`, `.rdd`.

A later plan begins with the RDD and lacks the frame's lineage. So the lineage is remembered here, by the RDD's
id, which is unique for each frame of an application.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import replace
from typing import Final

from headwater_producers.spark.plan.description import Upstream

MAX_COLUMNS: Final = 20_000
"""Maximum number of columns of all frames together. A column takes one or two KB; beyond the limit the least recently
used frame is dropped."""


class KnownFrames:
    """LRU cache of frames' lineage, by the id of the RDD that has their rows, bounded by its number of columns.

    Safe to use from many threads.
    """

    def __init__(self, max_columns: int = MAX_COLUMNS) -> None:
        self._max_columns = max_columns
        self._columns = 0
        self._lock = threading.Lock()
        self._frames: OrderedDict[int, Upstream] = OrderedDict()

    def remember(self, rdd: int, frame: Upstream) -> None:
        """Remember a frame's lineage under the RDD with its rows."""
        relation = frame.relation
        # Only the output's columns are kept: a relation may have further ones.
        own = relation.with_output(zip(relation.output, relation.ordered(), strict=True))
        with self._lock:
            self._forget(rdd)
            self._frames[rdd] = replace(frame, relation=own)
            self._columns += len(own.output)
            while self._columns > self._max_columns:
                self._forget(next(iter(self._frames)))

    def of(self, rdd: int) -> Upstream | None:
        """Return the frame of an RDD's rows; None if it wasn't remembered, or was evicted."""
        with self._lock:
            found = self._frames.get(rdd)
            if found is not None:
                self._frames.move_to_end(rdd)
            return found

    def __contains__(self, rdd: int) -> bool:
        return rdd in self._frames

    def _forget(self, rdd: int) -> None:
        gone = self._frames.pop(rdd, None)
        if gone is not None:
            self._columns -= len(gone.relation.output)
