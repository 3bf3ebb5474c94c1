"""The rate while the graph grows: one consumer, one topic, one database, from nothing to millions of relationships."""

from __future__ import annotations

import bisect
import contextlib
import statistics
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from headwater_benchmarks.ingest.servers import Database
from headwater_benchmarks.ingest.turn import server_seconds

POINTS = 20
_SAMPLE_SECONDS = 0.5


def points(
    progress: Sequence[Sequence[float]],
    *,
    share: float,
    server: Callable[[float], float | None] = lambda _: None,
    count: int = POINTS,
) -> list[dict[str, Any]]:
    """Rates over stretches of equally many new relationships.

    Args:
        progress: after each transaction: seconds, records applied and relationships created since the start, and the
            consumer's processor time, in seconds.
        share: of records that are distinct events.
        server: Neo4j's processor time at a number of seconds since the start; None where nobody knows.
        count: how many stretches; fewer where there aren't enough transactions.

    Returns:
        For each: relationships at its end; distinct events and relationships per second, and processor time of both for
        a distinct event, within it.
    """
    out: list[dict[str, Any]] = []
    before = (0.0, 0.0, 0.0, 0.0)
    step = progress[-1][2] / count
    for seconds, records, made, used in progress:
        if made < step * (len(out) + 1) or seconds <= before[0]:
            continue
        took, events = seconds - before[0], (records - before[1]) * share
        database = _between(server(before[0]), server(seconds))
        out.append(
            {
                "relationships": int(made),
                "events_per_second": round(events / took, 1),
                "relationships_per_second": round((made - before[2]) / took, 1),
                "consumer_us_per_event": round((used - before[3]) / events * 1e6, 1),
                "neo4j_us_per_event": None if database is None else round(database / events * 1e6, 1),
            }
        )
        before = (seconds, records, made, used)
    return out


def _between(earlier: float | None, later: float | None) -> float | None:
    return None if earlier is None or later is None else later - earlier


class ServerClock:
    """What processor time a database's server had used when, looked up twice a second while the block runs."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._times: list[float] = []
        self._used: list[float] = []

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Look, until the block ends."""
        over = threading.Event()
        thread = threading.Thread(target=self._look, args=(over,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def at(self, moment: float) -> float | None:
        """Processor seconds of the server at a time of the monotonic clock, from the looks on either side of it."""
        right = bisect.bisect_left(self._times, moment)
        if not 0 < right < len(self._times):
            return self._used[0] if right == 0 and self._used else None
        left = right - 1
        share = (moment - self._times[left]) / (self._times[right] - self._times[left])
        return self._used[left] + share * (self._used[right] - self._used[left])

    def _look(self, over: threading.Event) -> None:
        while True:
            used = server_seconds(self._database)
            if used is None:
                return
            self._times.append(time.monotonic())
            self._used.append(used)
            if over.wait(_SAMPLE_SECONDS):
                return


def growth(curve: Sequence[dict[str, Any]]) -> float:
    """The mean rate of the last tenth of the points over that of the first tenth that counts.

    The first stretch doesn't: the consumer, the database's plans and its caches have just started, and a rate that is
    low for that would hide how much it falls afterwards.
    """
    curve = curve[1:] or curve
    tenth = max(len(curve) // 10, 1)
    first, last = (
        statistics.mean(float(point["events_per_second"]) for point in part) for part in (curve[:tenth], curve[-tenth:])
    )
    return round(last / first, 3)
