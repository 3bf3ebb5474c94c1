"""`bench intake`: contestants in turn, each warmed up and measured from the first event to the last commit."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import statistics
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from rich.console import Group

from headwater.console import console
from headwater.errors import HeadwaterError
from headwater_benchmarks.draining import (
    consumer_variables,
    create_topics,
    producer_like_the_publishers,
    put,
    warm_up,
)
from headwater_benchmarks.intake.documents import ClientDocument, documents
from headwater_benchmarks.intake.rentgen import InstalledRentgen, RunningRentgen, installed, rentgen_up
from headwater_benchmarks.measuring import in_turns, processor_seconds
from headwater_benchmarks.processes import CommandProcess, ConsumerProcess, running, serving
from headwater_benchmarks.report import ROUNDS, Goal, goals_table, ratio, report, shown, spread, table
from headwater_benchmarks.servers import Database, broker_up, neo4j_up
from headwater_benchmarks.workload import Mixture
from headwater_consumers.kafka.offsets import OffsetReader
from headwater_schemas.kafka.client import quiet

HTTP, KAFKA, RENTGEN = "over http", "from a kafka topic", "data-rentgen"
QUICK, FULL = 1_000, 10_000
"""Default number of events in each turn."""
_ONE_MS, _BATCH_MS, _TIMES_AS_FAST = 1.0, 0.3, 5.0
_CLIENTS = 8
_PARTITIONS = 4
_DATABASE_WARM_UP = 500
"""Number of events with which a new database compiles and plans the consumer's statements."""
_SETTLE_SECONDS = 600.0
_REQUEST_SECONDS = 120.0


@dataclass(frozen=True, slots=True, kw_only=True)
class IntakeOptions:
    """Options of the intake benchmark.

    Attributes:
        events: OpenLineage events in each turn.
        rounds: number of counted rounds.
        warm_up: number of events of the same jobs before the measured events of each turn.
        batch: events in a request over HTTP; 1: single events.
        rentgen: Python of an environment with Data.Rentgen; None: at the location that the docs describe.
    """

    events: int = QUICK
    rounds: int = ROUNDS
    warm_up: int = 500
    batch: int = 1
    rentgen: Path | None = None
    seed: int = 1


@dataclass(slots=True)
class IntakeTurn:
    """Measurements of one turn.

    Attributes:
        events: number of sent documents.
        seconds: time from the first document to the last commit.
        processor: seconds of processor time by process.
        accepted_seconds: time to the last answer; None without requests over HTTP.
    """

    events: int
    seconds: float
    processor: dict[str, float]
    accepted_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Documents:
    """Documents of a turn.

    Attributes:
        before: documents that are sent first, unmeasured.
        counted: measured documents.
    """

    before: list[ClientDocument]
    counted: list[ClientDocument]


def bench_intake(options: IntakeOptions) -> dict[str, Any]:
    """Start the servers, measure, and report.

    Raises:
        HeadwaterError: a server or a process failed.
    """
    peer = installed(options.rentgen)
    load = os.getloadavg()[0]
    turns: dict[str, list[IntakeTurn]] = {HTTP: [], KAFKA: []}
    wanted = Documents([], [])
    with contextlib.ExitStack() as stack:
        progress = stack.enter_context(console.progress(lines=True))
        broker = stack.enter_context(broker_up())
        rentgen = stack.enter_context(rentgen_up(peer)) if isinstance(peer, InstalledRentgen) else None
        if rentgen is not None:
            turns[RENTGEN] = []
        task = progress.add_task("rounds", total=options.rounds * len(turns))
        for number, contestant in in_turns(list(turns), options.rounds):
            progress.update(task, description=f"round {number + 1} of {options.rounds}: {contestant}")
            seed = options.seed + number
            wanted = Documents(
                documents(options.warm_up, seed=seed), documents(options.events, seed=seed, after=options.warm_up)
            )
            if contestant == RENTGEN and rentgen is not None:
                turns[contestant].append(_rentgen(broker, f"rentgen_{number}", rentgen, wanted))
            else:
                with neo4j_up() as database:
                    warm_up(database, list(Mixture(options.seed).take(_DATABASE_WARM_UP)))
                    name = f"{contestant.rpartition(' ')[2]}-{number}"
                    if contestant == HTTP:
                        turns[contestant].append(_over_http(broker, name, database, wanted, options.batch))
                    else:
                        turns[contestant].append(_from_topic(broker, name, database, wanted))
            progress.advance(task)
    measurements = [way_figures(name, each) for name, each in turns.items()]
    if isinstance(peer, InstalledRentgen):
        compared = times_headwater(turns[KAFKA], turns[RENTGEN])
        measurements[-1] |= {"version": peer.version, "times_headwater": compared}
    else:
        measurements.append({"name": RENTGEN, "absent": peer})
    return report(
        "intake",
        options={**asdict(options), "rentgen": None if options.rentgen is None else str(options.rentgen)},
        environment={
            "load_average_before": round(load, 1),
            "document_bytes": round(statistics.mean(len(each.data) for each in wanted.counted)),
            "events_per_document": round(_events(wanted.counted) / len(wanted.counted), 2),
        },
        measurements=measurements,
        goals=goals(measurements, batch=options.batch),
    )


def _over_http(broker: str, name: str, database: Database, wanted: Documents, batch: int) -> IntakeTurn:
    variables = {
        **consumer_variables(broker, name, name, database),
        "HEADWATER_SERVE_PORT": "0",
        "HEADWATER_SERVE_INTAKE": "true",
    }
    with _consuming(broker, name, variables) as (consumer, until_stored), serving(variables) as server:
        post(server.url(), wanted.before, batch)
        until_stored(_events(wanted.before))
        used = _watch(server=server.process.pid, consumer=consumer.process.pid, database=database.pid)
        accepted = post(server.url(), wanted.counted, batch)
        until_stored(_events(wanted.before) + _events(wanted.counted))
        turn = IntakeTurn(len(wanted.counted), *used(), accepted)
        _stop(server)
        _stop(consumer)
    return turn


def _from_topic(broker: str, name: str, database: Database, wanted: Documents) -> IntakeTurn:
    topic = _openlineage_topic(broker, name)
    variables = {
        **consumer_variables(broker, name, name, database),
        "HEADWATER_MATERIALIZER_OPENLINEAGE_TOPIC": topic,
    }
    with _consuming(broker, name, variables) as (consumer, until_stored):
        _publish(broker, topic, wanted.before)
        until_stored(_events(wanted.before))
        used = _watch(consumer=consumer.process.pid, database=database.pid)
        _publish(broker, topic, wanted.counted)
        until_stored(_events(wanted.before) + _events(wanted.counted))
        turn = IntakeTurn(len(wanted.counted), *used())
        _stop(consumer)
    return turn


def _rentgen(broker: str, name: str, rentgen: RunningRentgen, wanted: Documents) -> IntakeTurn:
    topic = _openlineage_topic(broker, name)
    every = [*wanted.before, *wanted.counted]
    with rentgen.consuming(broker, topic, name):
        _publish(broker, topic, wanted.before)
        rentgen.until_saved(len(wanted.before))
        began, used = time.monotonic(), rentgen.processor_seconds()
        _publish(broker, topic, wanted.counted)
        rentgen.until_saved(len(every), _SETTLE_SECONDS)
        seconds, now = time.monotonic() - began, rentgen.processor_seconds()
    if (runs := rentgen.runs(name)) != (expected := len({each.run for each in every})):
        raise HeadwaterError(f"Data.Rentgen has {runs} runs, not {expected}.")
    return IntakeTurn(len(wanted.counted), seconds, {process: now[process] - used[process] for process in used})


@contextlib.contextmanager
def _consuming(
    broker: str, name: str, variables: Mapping[str, str]
) -> Iterator[tuple[ConsumerProcess, Callable[[int], None]]]:
    """Run `headwater consume`; yield a function that waits until the consumer has committed a number of events.

    The function reads the offsets from Kafka, because reading the consumer's metrics would cost the consumer time.
    """
    topic = create_topics(broker, name, _PARTITIONS)
    reader = OffsetReader(quiet({"bootstrap.servers": broker}), group=name)
    partitions = [TopicPartition(topic, number) for number in range(_PARTITIONS)]

    def committed() -> int:
        return sum(each.offset for each in reader.committed(partitions, timeout_seconds=_REQUEST_SECONDS).values())

    with running(ConsumerProcess, variables) as consumer:

        def until_stored(count: int) -> None:
            consumer.until(lambda: committed() >= count, f"{count} events", seconds=_SETTLE_SECONDS)

        consumer.until(consumer.ready, "readiness", seconds=_SETTLE_SECONDS)
        yield consumer, until_stored


def _watch(**pids: int) -> Callable[[], tuple[float, dict[str, float]]]:
    """Return a function that measures the seconds since this call, and the processor seconds of each process."""
    before = {name: processor_seconds(pid) for name, pid in pids.items()}
    began = time.monotonic()
    return lambda: (
        time.monotonic() - began,
        {name: processor_seconds(pid) - before[name] for name, pid in pids.items()},
    )


def _openlineage_topic(broker: str, name: str) -> str:
    topic = f"{name}.openlineage"
    admin = AdminClient(quiet({"bootstrap.servers": broker}))
    admin.create_topics([NewTopic(topic, _PARTITIONS, 1)])[topic].result(_REQUEST_SECONDS)
    return topic


def _publish(broker: str, topic: str, wanted: Sequence[ClientDocument]) -> None:
    producer = producer_like_the_publishers(broker)
    for each in wanted:
        put(producer, topic, each.data, each.run.encode())
    if producer.flush(_REQUEST_SECONDS):
        raise HeadwaterError("Kafka doesn't acknowledge the events.")


def _stop(process: CommandProcess) -> None:
    if (status := process.stop(seconds=_SETTLE_SECONDS)) != 0:
        raise HeadwaterError(f"A process ended with {status}. Its stderr: {process.stderr}")


def post(url: str, wanted: Sequence[ClientDocument], batch: int) -> float:
    """Post documents from several clients that keep their connections; a client waits for each answer.

    Returns:
        Seconds from the first request to the last answer.

    Raises:
        HeadwaterError: the status of an answer isn't 201, or the answer has another number of events.
    """
    groups = iter([wanted[at : at + batch] for at in range(0, len(wanted), batch)])
    lock = threading.Lock()
    begun = time.monotonic()

    def client(_number: int) -> None:
        with contextlib.closing(http.client.HTTPConnection(urlsplit(url).netloc, timeout=_REQUEST_SECONDS)) as server:
            while True:
                with lock:
                    group = next(groups, None)
                if group is None:
                    return
                path, body = "/api/v1/lineage", group[0].data
                if batch > 1:
                    path, body = "/api/v1/lineage/batch", b"[" + b",".join(each.data for each in group) + b"]"
                server.request("POST", path, body, {"Content-Type": "application/json"})
                answer = server.getresponse()
                text = answer.read()
                if answer.status != 201 or json.loads(text)["events"] != _events(group):
                    raise HeadwaterError(f"Events were answered {answer.status}: {text[:500].decode()}")

    with ThreadPoolExecutor(_CLIENTS) as pool:
        list(pool.map(client, range(_CLIENTS)))
    return time.monotonic() - begun


def _events(sent: Sequence[ClientDocument]) -> int:
    return sum(each.events for each in sent)


def way_figures(name: str, turns: Sequence[IntakeTurn]) -> dict[str, Any]:
    """Figures of one contestant: events a second, and processor time in milliseconds per event, for each round."""
    rates = [turn.events / turn.seconds for turn in turns]
    accepted = [turn.events / turn.accepted_seconds for turn in turns if turn.accepted_seconds]
    return {
        "name": name,
        "events": turns[0].events,
        "events_per_second": spread(rates, 1),
        "processor_ms_per_event": {
            process: spread([turn.processor[process] * 1_000 / turn.events for turn in turns])
            for process in turns[0].processor
        },
        "samples": [round(rate, 1) for rate in rates],
        **({"accepted_per_second": spread(accepted, 1)} if accepted else {}),
    }


def times_headwater(ours: Sequence[IntakeTurn], theirs: Sequence[IntakeTurn]) -> dict[str, Any]:
    """Ratios of the peer's cost to Headwater's, round by round."""
    pairs = list(zip(ours, theirs, strict=True))
    return {
        **ratio("seconds", [peer.seconds / own.seconds for own, peer in pairs]),
        **ratio("processor", [sum(peer.processor.values()) / sum(own.processor.values()) for own, peer in pairs]),
    }


def goals(measurements: Sequence[Mapping[str, Any]], *, batch: int) -> list[Goal]:
    """Goals, with the measured values.

    Args:
        measurements: one for each contestant.
        batch: documents in a request over HTTP.
    """
    by_name = {each["name"]: each for each in measurements}
    how, wished = ("one by one", _ONE_MS) if batch == 1 else ("in batches", _BATCH_MS)
    server_ms = by_name[HTTP]["processor_ms_per_event"]["server"]["median"]
    compared = by_name[RENTGEN].get("times_headwater")
    times = None if compared is None else compared["seconds"]["median"]
    return [
        Goal(f"processor time of the server, {how}, ms an event", server_ms, wished),
        Goal("events/s from a topic of OpenLineage events, times Data.Rentgen's", times, _TIMES_AS_FAST, "at_least"),
    ]


def intake_tables(document: Mapping[str, Any]) -> Group:
    """Report for people: contestants, Data.Rentgen, goals; medians with minimum and maximum."""
    peer = ""
    ways = table("", "events/s", "accepted/s", "processor ms/event")
    for each in document["measurements"]:
        if "absent" in each:
            peer = f"Data.Rentgen wasn't measured: {each['absent']}."
            continue
        processor = (f"{name} {found['median']:.2f}" for name, found in each["processor_ms_per_event"].items())
        accepted = shown(each.get("accepted_per_second"), 0)
        ways.add_row(each["name"], shown(each["events_per_second"], 0), accepted, ", ".join(processor))
        if "times_headwater" in each:
            times = each["times_headwater"]
            peer = (
                f"Data.Rentgen {each['version']} takes {times['seconds']['median']:.2f} × as long as Headwater from a "
                f"topic ({shown(times['seconds_interval'], 2)}), and {times['processor']['median']:.2f} × its "
                "processor time."
            )
    return Group(ways, f"\n{peer}", "", goals_table(document))
