"""Run of a demo from start to end."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from headwater.demo import broken, processes
from headwater.demo.broker import DEPARTED, TOPICS, Broker, total
from headwater.demo.checks import DemoCheck, all_checks
from headwater.demo.facts import Facts, gather
from headwater.demo.folder import DemoFolder
from headwater.demo.jobs import DemoJob, flights_jobs
from headwater.demo.processes import GROUP, DemoConsumer, Pipeline
from headwater.demo.view import View
from headwater.stack import EmbeddedStack, StackInfo, state
from headwater.stack.lifecycle import bring_down, kept_up


@contextlib.contextmanager
def demo_stack(folder: DemoFolder, *, keep: bool) -> Iterator[StackInfo]:
    """Run a fresh stack during the block.

    Args:
        folder: Folder of the demo, locked by the caller. A stack that the last demo left running is ended, then the
            folder is emptied.
        keep: Whether to leave the stack up after the block, unless the block raises or this process is killed.
    """
    bring_down(folder.root)
    folder.empty()
    if not keep:
        with EmbeddedStack(folder.root, wanted=state.remembered_ports(folder.root), quick=True) as stack:
            # Fixed addresses, which stay when the user starts the stack of this folder again.
            state.remember_ports(folder.root, stack.ports)
            yield stack.info
        return
    with kept_up(folder.root, quick=True) as info:
        yield info


_POLL_SECONDS = 0.25
_PROGRESS_SECONDS = 1.0

# Measured: the consumer is a second behind the last job. A minute without any progress means that it is stuck.
_STUCK_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class DemoResult:
    """Result of a demo.

    Attributes:
        info: The stack, which is still up only with `keep`.
        seconds: Duration of each phase, and of all phases together.
    """

    info: StackInfo
    days: int
    facts: Facts
    checks: tuple[DemoCheck, ...]
    seconds: dict[str, float]

    @property
    def failed(self) -> list[DemoCheck]:
        """Failed checks."""
        return [check for check in self.checks if not check.holds]


@dataclass(slots=True)
class PhaseTimes:
    """Durations of named phases, in seconds."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextlib.contextmanager
    def timing(self, phase: str) -> Iterator[None]:
        """Time the block."""
        began = time.monotonic()
        yield
        self.seconds[phase] = round(time.monotonic() - began, 2)


def run(folder: DemoFolder, view: View, *, days: int, keep: bool) -> DemoResult:
    """Run the whole pipeline on a fresh stack and collect the results.

    Args:
        folder: Folder of the demo; its contents are replaced.
        keep: Whether to leave the stack up, unless this function raises.

    Raises:
        HeadwaterError: A part of the pipeline could not be run. Failed checks don't raise: they are in the result.
    """
    watch = PhaseTimes()
    with folder.taken(), contextlib.ExitStack() as running, watch.timing("total"):
        view.enter("Starting Kafka and Neo4j")
        with watch.timing("stack"):
            info = running.enter_context(demo_stack(folder, keep=keep))
        jobs = flights_jobs(folder, days)
        with watch.timing("pipeline"):
            broker = Broker(info.bootstrap_servers, GROUP)
            broker.create_topics()
            consumer = _run_jobs(jobs, folder, info, broker, view, running)
        with watch.timing("catch_up"):
            view.enter("Waiting until the graph has all events")
            if _caught_up(broker, consumer, view):
                consumer.stop()
            else:
                # The checks show what is missing.
                consumer.abandon()
        with watch.timing("checks"):
            view.enter("Checking")
            facts = _gathered(broker, info, folder, jobs)
    return DemoResult(info, days, facts, all_checks(facts), watch.seconds)


def _run_jobs(
    jobs: Sequence[DemoJob],
    folder: DemoFolder,
    info: StackInfo,
    broker: Broker,
    view: View,
    running: contextlib.ExitStack,
) -> DemoConsumer:
    variables = processes.environment(folder, info)
    view.enter("Running the pipeline")
    consumer = DemoConsumer(folder, variables)
    running.callback(consumer.abandon)
    pipeline = Pipeline(jobs, folder, variables)
    running.callback(pipeline.stop)
    reader = broker.reader()
    done = pipeline.step()
    # Sent between valid events, as in production: the consumer must dead-letter them without stopping.
    broken.send(info.bootstrap_servers, TOPICS.events)
    read_at = time.monotonic()
    while not done:
        time.sleep(_POLL_SECONDS)
        consumer.watch()
        done = pipeline.step()
        view.restarts = consumer.restarts
        view.show(pipeline.views())
        # Read less often than the processes are checked: each read sends four requests to a busy broker.
        if time.monotonic() - read_at > _PROGRESS_SECONDS:
            view.flights = total(broker.ends(DEPARTED))
            view.events = broker.progress(reader) or view.events
            read_at = time.monotonic()
    return consumer


def _caught_up(broker: Broker, consumer: DemoConsumer, view: View) -> bool:
    """Wait until the consumer has caught up; False, with a warning, if it is stuck."""
    reader = broker.reader()
    before, moved = -1, time.monotonic()
    while (events := broker.progress(reader)) is None or not events.caught_up:
        view.events = events or view.events
        if view.events.processed != before:
            before, moved = view.events.processed, time.monotonic()
        elif time.monotonic() - moved > _STUCK_SECONDS:
            view.warn(
                f"The consumer has not moved for {_STUCK_SECONDS:.0f} s; {before} of {view.events.acknowledged} "
                f"events are processed. See {consumer.log}."
            )
            return False
        consumer.watch()
        time.sleep(_POLL_SECONDS)
    view.events = events
    return True


def _gathered(broker: Broker, info: StackInfo, folder: DemoFolder, jobs: Sequence[DemoJob]) -> Facts:
    from neo4j import GraphDatabase

    # Without notifications: Neo4j warns about queries for properties that a sound graph doesn't have (gaps).
    with GraphDatabase.driver(
        info.neo4j_uri, auth=(info.neo4j_user, info.neo4j_password), notifications_min_severity="OFF"
    ) as driver:
        return gather(broker, driver, folder, jobs, GROUP)
