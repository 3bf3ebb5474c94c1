"""Reference implementation of docs/graph.md: events to the lines of a dump, plain and slow.

Written from the document, not from the product's code, so that the two can be compared: where they differ, one of them
or the document is wrong. It keeps every report of everything and decides only at the end, with `max`, `min` and loops,
while the product joins two states. Nothing of `headwater_consumers` is imported; keys are hashed here too.
"""

from __future__ import annotations

from support.graph.reference.graph import reference_lines

__all__ = ["reference_lines"]
