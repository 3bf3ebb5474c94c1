"""One query's micro-batches, event by event, through the consumer's loop: decode, check, fold, write.

The loop is the consumer's own, with its settings, in this process. Only the source and the dead letters aren't Kafka's.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headwater.errors import HeadwaterError
from headwater.settings import load_settings
from headwater_analysis.reader import Reader, reading_driver
from headwater_benchmarks.estate.store import server_up
from headwater_benchmarks.ingest.servers import Database
from headwater_benchmarks.ingest.turn import server_seconds
from headwater_benchmarks.intervals.source import GeneratedSource, generated
from headwater_benchmarks.intervals.traces import traced
from headwater_benchmarks.memory import own_peak_mb
from headwater_consumers.kafka.backoff import BackoffPolicy
from headwater_consumers.kafka.notices import Notices
from headwater_consumers.kafka.records import Decoded
from headwater_consumers.materializer.batch import BatchPreparation
from headwater_consumers.materializer.checkpoint import CheckpointContext
from headwater_consumers.materializer.dead_letters.letter import DeadLetter
from headwater_consumers.materializer.garbage import rare_collections
from headwater_consumers.materializer.graph import Neo4jGraph, writing_driver
from headwater_consumers.materializer.health import Health
from headwater_consumers.materializer.lane import ThreadLane
from headwater_consumers.materializer.limits import BatchLimit, DeadLetterLimit
from headwater_consumers.materializer.loop import Loop, LoopParts, LoopPolicy
from headwater_consumers.materializer.metrics import Metrics
from headwater_consumers.materializer.reporting import ConsumerTally, ConsumerTotals
from headwater_consumers.materializer.settings import MaterializerSettings
from headwater_graph.fold import fold, reject_decoded
from headwater_graph.statement_files import load
from headwater_graph.write import GraphWriter, PreparedDelta, prepare_delta
from headwater_graph.write.transaction import WriteCounters
from headwater_schemas.codec import Decoder
from headwater_schemas.events import LineageEvent

YEAR = 365 * 24 * 360
"""Micro-batches of a query in a year, one each ten seconds."""
STRETCHES = 20
"""Parts of equally many micro-batches, whose rates are reported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Options of the intervals benchmark.

    Attributes:
        micro_batches: of the query.
        rounds: of traces, that count.
        questions: traces in each round.
        seed: decides everything that is drawn.
        heap_mb, page_cache_mb: of Neo4j.
    """

    micro_batches: int = YEAR
    rounds: int = 5
    questions: int = 40
    seed: int = 1
    heap_mb: int = 1_024
    page_cache_mb: int = 2_048


@dataclass(frozen=True, slots=True)
class Moment:
    """After a transaction: seconds and processor seconds since the beginning, and micro-batches so far."""

    seconds: float
    batches: int
    client: float
    server: float


def one_query(options: Options, report: Callable[[str], None], wrote: Callable[[int], None]) -> dict[str, Any]:
    """Ingest its micro-batches, and trace records to them; the measurement.

    Args:
        options: what to measure.
        report: called with what is being done.
        wrote: called with how many micro-batches are written, after each transaction.

    Raises:
        HeadwaterError: a server or the consumer failed, or a trace found something else.
    """
    count = options.micro_batches
    dice = random.Random(options.seed)  # noqa: S311  no secret
    sought = frozenset(dice.sample(range(count), min(options.questions, count)))
    with tempfile.TemporaryDirectory(prefix="headwater-bench-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        memory = {"heap_mb": options.heap_mb, "page_cache_mb": options.page_cache_mb}
        # A server that stops has written everything into the store's files.
        with server_up(folder, **memory) as (_, target), writing_driver(target) as driver:
            GraphWriter(driver, target.database).ensure_schema()
        empty = _disk_of(folder / "neo4j", target.database)
        with server_up(folder, **memory) as (server, target), writing_driver(target) as driver:
            report("micro-batches")
            with generated(options.seed, count, sought) as source:
                moments = _consume(source, Database(target, driver, server.process.pid), count, wrote)
                records = source.sought()
        disk = _disk_of(folder / "neo4j", target.database)
        with server_up(folder, **memory) as (server, target), reading_driver(target) as driver:
            report("traces")
            with driver.session(database=target.database) as session:
                row = session.run(load("headwater_benchmarks.intervals", "database/nodes")).single(strict=True)
            return {
                "name": "one query",
                "micro_batches": count,
                "nodes": row["nodes"],
                "relationships": row["relationships"],
                "nodes_per_year": round(row["nodes"] * YEAR / count),
                "store_bytes": disk.store,
                "log_bytes": disk.logs,
                "bytes_per_micro_batch": round(disk.store / count, 1),
                "bytes_per_micro_batch_with_logs": round((disk.store + disk.logs) / count, 1),
                "store_bytes_when_empty": empty.store,
                "seconds": round(moments[-1].seconds, 1),
                "micro_batches_per_second": round(count / moments[-1].seconds, 1),
                "stretches": (stretches := _stretches(moments, count)),
                "end_to_beginning": _growth(stretches),
                "peak_rss_mb": round(own_peak_mb(), 1),
                "trace": traced(Reader(driver, target), records, rounds=options.rounds, neo4j_pid=server.process.pid),
            }


def _consume(source: GeneratedSource, database: Database, count: int, wrote: Callable[[int], None]) -> list[Moment]:
    metrics = _Progress(database, wrote)
    totals = ConsumerTotals()
    tally = ConsumerTally(totals, metrics)
    target = database.target
    settings: MaterializerSettings = load_settings().materializer
    clock = time.monotonic
    with writing_driver(target) as driver:
        writer = GraphWriter(driver, target.database, timeout_seconds=settings.write_timeout_seconds)
        graph = Neo4jGraph(target, driver, writer)
        parts = LoopParts(
            source=source,
            lane=ThreadLane(),
            checkpoint_context=CheckpointContext(
                graph=graph,
                dead_letters=_NoDeadLetters(),
                fold=_folded,
                limit=DeadLetterLimit(settings.dead_letter_policy()),
                observer=tally,
                clock=clock,
            ),
            preparation=BatchPreparation(Decoder(), reject_decoded, _folded, timed=metrics.timed, clock=clock),
            limit=BatchLimit(settings.batch_policy()),
            group="",
            start=graph.prepare,
            finish=graph.close,
            health=Health(metrics, clock),
            metrics=metrics,
            notices=Notices(lambda _: None, clock),
            totals=totals,
            committed=tally.committed,
            watch=lambda: None,
        )
        policy = LoopPolicy(
            backoff=BackoffPolicy(cap_seconds=settings.retry_max_seconds),
            drain_seconds=settings.drain_seconds,
            until_caught_up=True,
            reads_topic=False,
        )
        with rare_collections():
            Loop(parts, policy, clock=clock, random=random.random).run()
    if totals.applied != count:
        raise HeadwaterError(f"{totals.applied:,} of {count:,} micro-batches were applied.")
    return metrics.moments


def _folded(events: Sequence[LineageEvent]) -> PreparedDelta:
    return prepare_delta(fold(events))


class _NoDeadLetters:
    """There are none (`DeadLetterSink`)."""

    def send(self, letters: Sequence[DeadLetter]) -> None:
        if letters:
            raise HeadwaterError(f"{len(letters)} events were rejected: {letters[0]}")

    def close(self) -> None:
        pass


class _Progress(Metrics):
    """The metrics, with what has happened after each transaction."""

    def __init__(self, database: Database, wrote: Callable[[int], None]) -> None:
        super().__init__()
        self._database = database
        self._wrote = wrote
        self._begun = self._now(0)
        self.moments: list[Moment] = []

    def wrote(self, events: Sequence[Decoded], seconds: float, summary: WriteCounters) -> None:
        super().wrote(events, seconds, summary)
        before = self.moments[-1].batches if self.moments else 0
        now, begun = self._now(before + len(events)), self._begun
        self.moments.append(
            Moment(now.seconds - begun.seconds, now.batches, now.client - begun.client, now.server - begun.server)
        )
        self._wrote(now.batches)

    def _now(self, batches: int) -> Moment:
        return Moment(time.monotonic(), batches, time.process_time(), server_seconds(self._database) or 0.0)


def _stretches(moments: Sequence[Moment], count: int) -> list[dict[str, Any]]:
    """Rates over equally many micro-batches."""
    out: list[dict[str, Any]] = []
    before = Moment(0.0, 0, 0.0, 0.0)
    for moment in moments:
        if moment.batches < count * (len(out) + 1) / STRETCHES:
            continue
        batches = moment.batches - before.batches
        out.append(
            {
                "micro_batches": moment.batches,
                "micro_batches_per_second": round(batches / max(moment.seconds - before.seconds, 1e-9), 1),
                "consumer_us": round((moment.client - before.client) / batches * 1e6, 1),
                "neo4j_us": round((moment.server - before.server) / batches * 1e6, 1),
            }
        )
        before = moment
    return out


def _growth(stretches: Sequence[dict[str, Any]]) -> float:
    """The rate of the last tenth over that of the first tenth that counts; the first stretch doesn't."""
    kept = stretches[1:] or stretches
    tenth = max(len(kept) // 10, 1)
    first, last = (
        sum(float(each["micro_batches_per_second"]) for each in part) for part in (kept[:tenth], kept[-tenth:])
    )
    return round(last / first, 3)


@dataclass(frozen=True, slots=True)
class _Disk:
    """Bytes of a database's files.

    Attributes:
        store: nodes, relationships, properties, indexes.
        logs: of transactions, which Neo4j deletes in time.
    """

    store: int
    logs: int


def _disk_of(home: Path, database: str) -> _Disk:
    """The size of a database's files.

    Args:
        home: Neo4j's folder. The server is stopped, which writes everything into the store's files.
        database: its name.
    """
    return _Disk(*(_bytes(home / "data" / kind / database) for kind in ("databases", "transactions")))


def _bytes(folder: Path) -> int:
    # As they are on the disk: files may have space reserved at their ends.
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())
