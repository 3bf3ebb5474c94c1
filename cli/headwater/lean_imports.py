"""Importing a library without the heavy ones it would take along only because they happen to be installed."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def without(*packages: str) -> Iterator[None]:
    """Let these look uninstalled to what is imported in the block; those imported already stay.

    Neo4j's driver imports numpy and pandas where it finds them, to take their values as parameters. A consumer has none
    and starts 4 s sooner and 100 MB smaller (two busy cores, pandas 2.3) beside the demo's packages.
    """
    hidden = [name for name in packages if name not in sys.modules]
    for name in hidden:
        sys.modules[name] = None  # type: ignore[assignment]  # Python's own mark of what isn't to be imported
    try:
        yield
    finally:
        for name in hidden:
            del sys.modules[name]
