"""Wiring, and the report."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from headwater.console import console
from headwater.errors import HeadwaterError
from headwater.stack import java_runtime
from headwater.stack.embedded import locked_version
from headwater.stack.process import GuardedProcess
from headwater_benchmarks.broker import broker_up
from headwater_benchmarks.capture import driver
from headwater_benchmarks.capture.contestants import CONTESTANTS, WITHOUT, Contestant, Place, environment
from headwater_benchmarks.capture.feed import Feed
from headwater_benchmarks.capture.goals import goals, measurement
from headwater_benchmarks.capture.link import Listener
from headwater_benchmarks.capture.measure import Runner, in_turns
from headwater_benchmarks.report import report

_START_SECONDS = 240.0


@dataclass(frozen=True, slots=True)
class Options:
    """Options of the capture benchmark.

    Attributes:
        rounds: that count, of micro-batches and of writes.
        micro_batches: in each round, of each contestant.
        records: in a micro-batch.
        rows: that a batch job writes.
        columns: of the batch job.
        writes: in each round, of each contestant.
        plan_columns: of the large plan.
        warm_up: rounds before the first.
        seed: of the records.
        heap_mb: of each driver.
    """

    rounds: int
    micro_batches: int
    records: int
    rows: int
    columns: int
    writes: int
    plan_columns: int
    warm_up: int
    seed: int
    heap_mb: int


def run(options: Options, contestants: Sequence[Contestant] = CONTESTANTS) -> dict[str, Any]:
    """Start a broker and the drivers, measure, and report.

    Raises:
        HeadwaterError: the broker or a driver failed.
    """
    with tempfile.TemporaryDirectory(prefix="headwater-bench-") as scratch, contextlib.ExitStack() as stack:
        folder = Path(scratch)
        broker = stack.enter_context(broker_up(folder / "kafka", "-Xmx512m"))
        runners = stack.enter_context(_runners(contestants, folder, broker, options))
        _measure(runners, Feed(broker, options.seed), options)
        for runner in runners:
            runner.measured.memory = runner.line.ask("memory")
    base = next(runner.measured for runner in runners if runner.contestant.name == WITHOUT)
    measurements = [measurement(runner.contestant.name, runner.measured, base) for runner in runners]
    return report(
        "capture",
        options=asdict(options),
        environment={
            "spark": version("pyspark"),
            "java": java_runtime().version,
            "kafka": locked_version("kafka", "kafka_2.13"),
            "openlineage": locked_version("openlineage", "openlineage-spark_2.13"),
        },
        measurements=measurements,
        goals=goals(measurements),
    )


def _measure(runners: Sequence[Runner], feed: Feed, options: Options) -> None:
    turns = (options.rounds + options.warm_up) * len(runners)
    for runner in runners:
        place = runner.place
        runner.line.ask(
            "start_query",
            bootstrap_servers=place.bootstrap_servers,
            source=place.source,
            target=place.target,
            records=options.records,
        )
    with console.progress(lines=True) as progress:
        task = progress.add_task("micro-batches", total=turns)
        in_turns(
            runners,
            options.rounds,
            options.warm_up,
            lambda runner, counts: runner.block(feed, options.micro_batches, options.records, counts=counts),
            lambda: progress.advance(task),
        )
        for runner in runners:
            runner.count_sent()
        task = progress.add_task("batch writes", total=turns)
        in_turns(
            runners,
            options.rounds,
            options.warm_up,
            lambda runner, counts: runner.writes(options.rows, options.columns, options.writes, counts=counts),
            lambda: progress.advance(task),
        )
        for runner in progress.track(runners, description="large plan"):
            answer = runner.line.ask("write", rows=10, columns=options.plan_columns, projections=5, times=1)
            runner.measured.plan_seconds = answer["flush_seconds"]


@contextlib.contextmanager
def _runners(contestants: Sequence[Contestant], folder: Path, broker: str, options: Options) -> Iterator[list[Runner]]:
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(Listener())
        waiting: dict[str, _Started] = {}
        for number, contestant in enumerate(contestants):
            place = Place(number, folder / str(number), broker)
            place.prepare()
            process = GuardedProcess(
                f"The Spark driver {contestant.name!r}",
                [sys.executable, driver.__file__, str(listener.port), contestant.kind, str(place.folder)],
                output=place.folder / "driver.log",
                environment=environment(contestant, place, os.environ, options.heap_mb),
            )
            stack.callback(process.stop)
            waiting[str(place.folder)] = _Started(contestant, place, process)
        runners = [runner for _, runner in sorted(_called(listener, waiting), key=lambda each: each[0])]
        for runner in runners:
            stack.callback(runner.line.close)
        yield runners
        for runner in runners:
            runner.line.ask("end")


@dataclass(frozen=True, slots=True)
class _Started:
    contestant: Contestant
    place: Place
    process: GuardedProcess


def _called(listener: Listener, waiting: dict[str, _Started]) -> Iterator[tuple[int, Runner]]:
    deadline = time.monotonic() + _START_SECONDS
    while waiting:
        line = listener.accept()
        if line is not None and (message := line.receive()) is not None:
            started = waiting.pop(message["folder"])
            yield started.place.number, Runner(started.contestant, started.place, line)
        late = time.monotonic() > deadline
        for started in waiting.values():
            if late or started.process.ended():
                log = (started.place.folder / "driver.log").read_text(encoding="utf-8", errors="replace")
                raise HeadwaterError(f"{started.process.name} did not start:\n{log[-2_000:]}")
