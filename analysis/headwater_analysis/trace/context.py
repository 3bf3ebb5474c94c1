"""Transaction and cached look-ups that the hops of one trace share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, TypeAlias

from headwater_analysis.reader import Transaction
from headwater_analysis.trace.arrivals import Arrivals
from headwater_analysis.trace.batches import Batch, Query, Run, before, read_queries, read_run
from headwater_analysis.trace.parts import Datasets
from headwater_analysis.trace.plans import WritingPlan, learn_plans, unknown_plans
from headwater_analysis.trace.prefetch import Prefetched, prefetch
from headwater_graph.facts.nodes import IntervalFacts
from headwater_graph.facts.spans import Spans

Archived: TypeAlias = Callable[[Query, Mapping[str, Any]], Sequence[IntervalFacts]]
"""Function that returns a query's archived micro-batches, given the properties of a summary."""


DatasetTimes: TypeAlias = tuple[str, datetime | None, datetime | None]
"""Key of a dataset, and start and end of a time range; None: no bound."""


@dataclass(slots=True)
class Context:
    """Context of one trace.

    Attributes:
        backward: whether the trace goes backwards.
        horizon: longest time that a query's state keeps a record, as given in the question; None: not given.
        limit: maximum number of runs and micro-batches that one look-up returns.
        archive: archive of micro-batches that the graph no longer stores individually; None: no archive.
        arrivals: looks up in Kafka when records arrived; None: no access to Kafka.
        notes: further remarks for the answer.
        cut: whether a limit left something out.
        goes_on: whether there may be a hop after the current one.
    """

    tx: Transaction
    datasets: Datasets
    backward: bool
    horizon: timedelta | None
    limit: int
    archive: Archived | None = None
    arrivals: Arrivals | None = None
    notes: dict[str, None] = field(default_factory=dict)
    cut: bool = False
    goes_on: bool = True
    _queries: dict[str, Query | None] = field(default_factory=dict)
    _users: dict[str, list[str]] = field(default_factory=dict)
    _of_runs: dict[str, bool] = field(default_factory=dict)
    _runs: dict[str, Run] = field(default_factory=dict)
    _last: dict[str, Batch | None] = field(default_factory=dict)

    def queries_of(self, datasets: Iterable[str]) -> dict[str, list[Query]]:
        """Queries that read each dataset (backwards: that write it), by the dataset's key."""
        wanted = sorted(set(datasets))
        missing = [key for key in wanted if key not in self._users]
        if missing:
            self._learn(missing, prefetch(self.tx, users=missing, backward=self.backward))
        return {key: [query for each in self._users[key] if (query := self._queries[each])] for key in wanted}

    def prefetch(
        self,
        datasets: Collection[str],
        wants: Iterable[tuple[str, Spans]] = (),
        plans: Iterable[WritingPlan] = (),
    ) -> None:
        """Look up in one statement the data that the next steps need.

        Args:
            datasets: keys of the next parts' datasets.
            wants: wanted offsets of these datasets.
            plans: plans whose steps show whether a query keeps state or drops records.
        """
        names, unknown = self.datasets.unknown(datasets), unknown_plans(self.tx, plans)
        users = sorted({key for key in datasets if key not in self._users}) if self.goes_on else []
        if names or unknown or users:
            offsets = wants if self.goes_on else ()
            found = prefetch(self.tx, datasets=names, plans=unknown, users=users, wants=offsets, backward=self.backward)
            self.datasets.learn(found.datasets)
            learn_plans(self.tx, unknown, found.plans)
            self._learn(users, found)

    def _learn(self, keys: Iterable[str], found: Prefetched) -> None:
        """Cache the queries that read datasets (backwards: write them)."""
        self._users |= {key: [] for key in keys}
        for dataset, of_runs, queries in found.users:
            self._of_runs[dataset] = of_runs
            self._users[dataset] += [stored["key"] for stored in queries if stored["first_batch"] is not None]
        stored = [each for _, _, queries in found.users for each in queries]
        self._queries |= read_queries(self.tx, stored)

    def is_of_runs(self, dataset: str) -> bool:
        """Return whether batch runs read a dataset (backwards: write it)."""
        self.queries_of([dataset])
        return self._of_runs.get(dataset, False)

    def queries(self, keys: Iterable[str]) -> dict[str, Query]:
        """Queries by key."""
        wanted = set(keys)
        missing = sorted(wanted - self._queries.keys())
        if missing:
            rows = self.tx.rows("trace/queries_by_key", keys=missing)
            self._queries |= read_queries(self.tx, [row["query"] for row in rows])
        return {key: query for key in wanted if (query := self._queries.get(key)) is not None}

    def runs(self, keys: Iterable[str]) -> list[Run]:
        """Runs by key."""
        wanted = sorted(set(keys))
        missing = [key for key in wanted if key not in self._runs]
        if missing:
            for row in self.tx.rows("trace/runs", keys=missing):
                run = read_run(row)
                self._runs[run.key] = run
        return [self._runs[key] for key in wanted if key in self._runs]

    def runs_of(self, wanted: Sequence[DatasetTimes]) -> list[list[Run]]:
        """Batch runs of the jobs that read each dataset, by job and start.

        Backwards: runs of the jobs that write the dataset, the latest first.

        Runs that ended before the start of the time range (backwards: that began after its end) are left out. At most
        `limit` runs of each job are returned.
        """
        wants = [{"n": n, "dataset": key, "since": begin, "until": end} for n, (key, begin, end) in enumerate(wanted)]
        if not wants:
            return []
        name = "trace/writing_runs" if self.backward else "trace/reading_runs"
        keys = {row["n"]: row["runs"] for row in self.tx.rows(name, wants=wants, limit=self.limit)}
        self.cut |= any(len(each) >= self.limit for each in keys.values())
        self.runs(key for each in keys.values() for key in each)
        return [[self._runs[key] for key in dict.fromkeys(keys.get(n, ()))] for n in range(len(wants))]

    def last_batch(self, query: Query) -> Batch | None:
        """Last known micro-batch of a query."""
        if query.key not in self._last:
            [found] = before(self.tx, [(query.key, query.last_batch + 1)])
            self._last[query.key] = found[-1] if found else None
        return self._last[query.key]
