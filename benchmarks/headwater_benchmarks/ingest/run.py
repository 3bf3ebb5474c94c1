"""Wiring, and the report."""

from __future__ import annotations

import contextlib
import os
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from headwater.console import console
from headwater.stack import java_runtime
from headwater.stack.embedded import locked_version
from headwater_benchmarks.ingest.figures import LATENCIES, goals, latency, measurements
from headwater_benchmarks.ingest.floor.graph import FinalGraph, final_graph, segment_graph
from headwater_benchmarks.ingest.floor.shapes import Phase
from headwater_benchmarks.ingest.floor.write import Trial, trial_count, trials
from headwater_benchmarks.ingest.options import PACK, Options
from headwater_benchmarks.ingest.rounds import Floor, Found, Rounds
from headwater_benchmarks.ingest.servers import Databases, EmbeddedServers, Servers
from headwater_benchmarks.ingest.topic import TopicContents, Topics, in_memory
from headwater_benchmarks.report import report
from headwater_benchmarks.workload.mixture import Mixture, Proportions
from headwater_graph.facts.delta import GraphDelta

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


def run(options: Options, servers: Servers | None = None) -> dict[str, Any]:
    """Start the servers, measure, and report.

    Args:
        options: what to measure.
        servers: where they come from, by default embedded ones.

    Raises:
        HeadwaterError: a server or the consumer failed.
    """
    servers = servers or EmbeddedServers(heap_mb=options.heap_mb, page_cache_mb=options.page_cache_mb)
    with console.progress(lines=True) as progress, servers.kafka() as broker:
        bench = _Bench(options, servers, broker, progress)
        load = os.getloadavg()[0]
        contents, packs = bench.fill(), bench.fill_packs()
        found, tried = bench.rounds(contents)
    measured = measurements(found, contents, packs, tried)
    late = [latency(*each) for each in found.latency]
    return report(
        "ingest",
        options=asdict(options),
        environment={
            "kafka": locked_version("kafka", "kafka_2.13"),
            "neo4j": locked_version("neo4j", "neo4j"),
            "java": java_runtime().version,
            "load_average_before": round(load, 1),
            "topic": _described(contents),
            "topic of packs": _described(packs),
        },
        measurements=[
            *measured,
            *[{"name": name, **each} for name, each in zip(LATENCIES, late, strict=False)],
            *[
                {"name": f"graph of {name}", "same": beside.same, **_counts(beside)}
                for name, beside in found.same.items()
            ],
        ],
        goals=goals(measured, late),
    )


class _Bench:
    """Resources that all parts of the benchmark use."""

    def __init__(self, options: Options, servers: Servers, broker: str, progress: Progress) -> None:
        self._options = options
        self._servers = servers
        self._broker = broker
        self._topics = Topics(broker, options.partitions)
        self._progress = progress

    def fill(self) -> TopicContents:
        """Fill the topic with events."""
        options = self._options
        task = self._progress.add_task("events", total=options.events)
        contents = self._topics.fill(
            options.prefix,
            Mixture(options.seed).take(options.events),
            folded=options.baselines or options.small,
            sample=options.sample,
            values=(options.by_hand or options.events) if options.baselines else 0,
            put=lambda: self._progress.advance(task),
        )
        self._progress.remove_task(task)
        return contents

    def fill_packs(self) -> TopicContents:
        """Fill the other topic with packs."""
        options = self._options
        late_by = Proportions().late_by // PACK  # as many micro-batches
        packs = Mixture(options.seed, Proportions(intervals=1.0, runs=0.0, pack=PACK, late_by=late_by))
        return self._topics.fill(options.packs_prefix, packs.take(options.events // PACK))

    def rounds(self, contents: TopicContents) -> tuple[Found, list[Trial]]:
        """Run all rounds; also returns the trials of the floor's shapes."""
        options = self._options
        with contextlib.ExitStack() as stack:
            databases = stack.enter_context(Databases(self._servers, fresh=not options.small))
            tried: list[Trial] = []
            floor = by_hand = None
            if options.baselines and contents.delta is not None:
                tried = self._trials(contents, databases)
                floor = _floor(contents.delta, tried[0])
                if not options.small:
                    contents.delta = None  # hundreds of MB, and large graphs aren't compared
                # A separate server: on Headwater's the baselines would also pay for Headwater's constraints.
                by_hand = stack.enter_context(Databases(self._servers, fresh=not options.small))
            task = self._task("rounds")
            rounds = Rounds(
                options,
                self._broker,
                self._topics,
                contents,
                databases,
                by_hand,
                floor,
                say=lambda what: self._progress.update(task, description=what),
            )
            return rounds.run(), tried

    def _trials(self, contents: TopicContents, databases: Databases) -> list[Trial]:
        wanted = self._options.batch_rows, self._options.tries
        task = self._progress.add_task("floor: shapes and batch sizes", total=trial_count(*wanted))
        with databases.empty() as (graph, _):
            small = final_graph(in_memory(contents.sample))
            found = trials(graph, small, *wanted, lambda: self._progress.advance(task))
        self._progress.remove_task(task)
        return found

    def _task(self, what: str) -> TaskID:
        return self._progress.add_task(what, total=None)


def _floor(delta: GraphDelta, best: Trial) -> Floor:
    def written(graph: FinalGraph) -> list[Phase]:
        return best.shape.phases(graph, best.rows)

    return Floor(written(final_graph(delta)), written(segment_graph(delta)), best)


def _described(contents: TopicContents) -> dict[str, Any]:
    return {name: getattr(contents, name) for name in ("records", "distinct", "bytes", "kinds")}


def _counts(beside: Any) -> dict[str, int]:
    return {name: getattr(beside, name) for name in ("equal", "missing", "extra", "changed")}
