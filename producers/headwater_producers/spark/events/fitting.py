"""Fitting: intervals of several micro-batches, in events that aren't too large for the topic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from headwater_schemas.codec import encode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from headwater_schemas.events import IntervalEntry, LineageEvent

# A quarter of the topic's default limit: 50 micro-batches of 64 partitions, or 10 of 100 files.
MAX_BYTES: Final = 256 * 1024


def fitting(
    entries: Sequence[IntervalEntry],
    event_of: Callable[[Sequence[IntervalEntry]], LineageEvent],
    max_bytes: int = MAX_BYTES,
) -> Iterator[LineageEvent]:
    """Consecutive micro-batches as one event, or as several where one would be larger than `max_bytes`.

    A micro-batch is never divided: one that is too large by itself is the publisher's to refuse.
    """
    event = event_of(entries)
    if len(entries) == 1 or len(encode(event)) <= max_bytes:
        yield event
        return
    middle = len(entries) // 2
    yield from fitting(entries[:middle], event_of, max_bytes)
    yield from fitting(entries[middle:], event_of, max_bytes)
