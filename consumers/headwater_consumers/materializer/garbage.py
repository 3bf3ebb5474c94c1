"""Interval of Python's cyclic garbage collection while events are consumed, or questions answered."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def rare_collections() -> Iterator[None]:
    """Have the garbage collector look for cycles every 50,000 new objects instead of every 700.

    A batch is some 100,000 of them, events and rows, that live until it is written, and hardly any is in a cycle. To
    walk over them again and again takes a quarter of the processor time of decoding and folding
    (docs/benchmarks/ingest-tried.md). So it is with an answer of a thousand items (docs/benchmarks/query.md).
    """
    before = gc.get_threshold()
    gc.freeze()  # modules and settings stay; no need to look at them again
    gc.set_threshold(50_000, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
