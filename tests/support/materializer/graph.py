"""A graph in memory: a set of events, which is a join like the real one. Errors come from a script."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from headwater_consumers.materializer.progress import PartitionProgress
from headwater_graph.write.transaction import WriteCounters
from headwater_schemas.events import LineageEvent


class Ids(frozenset[str]):
    """The delta of `fold_ids`, with what the real one counts."""

    duplicates: int = 0
    stale: int = 0


def fold_ids(events: Sequence[LineageEvent]) -> Ids:
    """A fold whose delta is the set of event ids."""
    folded = Ids(event.event_id for event in events)
    first: dict[str, LineageEvent] = {}
    again = [event for event in events if first.setdefault(event.event_id, event) is not event]
    folded.duplicates = sum(event == first[event.event_id] for event in again)
    folded.stale = len(again) - folded.duplicates
    return folded


class FakeGraph:
    """Takes the deltas of `fold_ids`.

    Attributes:
        events: what was applied.
        errors: met by the next applies, one each; None lets one through.
        refuses: an error for a delta, whenever it comes.
        probe_error, report_error, prepare_errors: likewise for those.
        sizes: how many events each committed transaction held.
    """

    def __init__(self) -> None:
        self.events: set[str] = set()
        self.errors: deque[Exception | None] = deque()
        self.refuses: Callable[[frozenset[str]], Exception | None] = lambda _: None
        self.prepare_errors: deque[Exception | None] = deque()
        self.probe_error: Exception | None = None
        self.report_error: Exception | None = None
        self.sizes: list[int] = []
        self.prepared = 0
        self.probes = 0
        self.reports: list[list[PartitionProgress]] = []
        self.closed = False

    def prepare(self) -> None:
        if self.prepare_errors and (error := self.prepare_errors.popleft()) is not None:
            raise error
        self.prepared += 1

    def apply(self, folded: frozenset[str]) -> WriteCounters:
        if self.errors and (error := self.errors.popleft()) is not None:
            raise error
        if (refused := self.refuses(folded)) is not None:
            raise refused
        new = len(folded - self.events)
        self.events |= folded
        self.sizes.append(len(folded))
        counts = folded if isinstance(folded, Ids) else Ids(folded)
        return WriteCounters(nodes_created=new, duplicates=counts.duplicates, stale=counts.stale)

    def report(self, progress: Sequence[PartitionProgress]) -> None:
        self.reports.append(list(progress))
        if self.report_error is not None:
            raise self.report_error

    def probe(self) -> None:
        self.probes += 1
        if self.probe_error is not None:
            raise self.probe_error

    def close(self) -> None:
        self.closed = True
