"""Interval of Python's cyclic garbage collection while events are consumed, or questions answered."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def rare_collections() -> Iterator[None]:
    """Let the garbage collector search for cycles every 50,000 new objects instead of every 700.

    A batch has some 100,000 objects (events and rows) that live until it is written, and hardly any is in a cycle.
    Traversing them repeatedly takes a quarter of the processor time of decoding and folding
    (docs/benchmarks/ingest-tried.md). An answer of a thousand items has the same problem (docs/benchmarks/query.md).
    """
    before = gc.get_threshold()
    gc.freeze()  # modules and settings live forever; the collector needn't examine them
    gc.set_threshold(50_000, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
