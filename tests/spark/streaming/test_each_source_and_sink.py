"""Events of each streaming source and sink, beside its golden; and that its checkpoint emits the same.

Each query of `sources.py` and `sinks.py` runs captured. Then `headwater reconcile` is asked for its micro-batches; and
a second capture, which knows nothing, sees all queries start once more and emits what their checkpoints have.
"""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from confluent_kafka.admin import AdminClient

from headwater.reconciling.queries import Knowledge, reconcile
from headwater.stack.spark import installed_release
from headwater_producers.spark import Capture, attach
from headwater_producers.spark.connectors.kafka import topic_states
from headwater_producers.spark.jvm.files import JvmFiles
from headwater_producers.spark.jvm.versions import jvm_sessions
from headwater_producers.spark.streaming.checkpoint import QueryLog
from headwater_schemas.events import IntervalEntry, JobRef, Position, Provenance
from spark.plan.goldens import check
from spark.streaming.emitted import Lines, event_ids, observed
from spark.streaming.sinks import SINKS
from spark.streaming.sources import SOURCES
from spark.streaming.world import Case, World
from support.capture import FLUSH_SECONDS, RecordingSink
from support.stack import StackUnderTest
from support.waiting import patience

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


# A test that is cut off would leave its call to the JVM half made, and all others after it would fail too.
pytestmark = [pytest.mark.spark, pytest.mark.stack, pytest.mark.timeout(600)]

# Event ids of a micro-batch that came alone are those of `headwater reconcile`.
ONE_BY_ONE: dict[str, Any] = {
    "job_name": "job",
    "coalesce_max_batches": 1,
    "capture_drain_timeout_seconds": FLUSH_SECONDS,
}
PREFIX = f"s{uuid.uuid4().hex[:6]}"
NUMBERS = itertools.count()
GOLDEN = Path(__file__).parent / "golden"
NIGHTLY = {
    "Kafka joined with Delta",
    "Kafka, another writer of the topic",
    "Kafka, the topic by a column of the data",
    "Kafka, `subscribePattern`; a topic that comes later",
    "Kafka, `assign` of two partitions out of three",
    "Kafka, a topic that vanishes (`failOnDataLoss=false`)",
    "Delta, `maxFilesPerTrigger`: parts of a version",
    "Delta, `startingVersion=2`",
    "Iceberg, `streaming-max-files-per-micro-batch`: parts of a snapshot",
    "a Python data source, `simpleStreamReader`",
    "six folders, united",
    "one folder, united with itself",
    "Kafka, the topic by a column of known values",
    "json files, partitioned",
    "Delta, a path",
    "Delta, output mode complete",
    "a table of parquet files, `toTable`",
}
"""Further ways to read or write what a case of the gate reads or writes."""
CASES = [
    pytest.param(family, case, id=f"{family}: {case.title}", marks=pytest.mark.nightly if case.title in NIGHTLY else ())
    for family, cases in (("sources", SOURCES), ("sinks", SINKS))
    for case in cases
]


class Emitted:
    """Micro-batches that the first capture emitted of the queries that can be started again."""

    def __init__(self) -> None:
        self.queries: list[tuple[Case, World, str, dict[int, IntervalEntry], dict[int, str]]] = []


@pytest.fixture(scope="module")
def emitted(lake: SparkSession, stack: StackUnderTest) -> Iterator[Emitted]:
    """Afterwards no topic and no table is left."""
    emitted = Emitted()
    schemas = ["default"]
    if "iceberg" in installed_release().modules:
        lake.sql("CREATE NAMESPACE IF NOT EXISTS ice.db")
        schemas.append("ice.db")
    yield emitted
    admin = AdminClient({"bootstrap.servers": stack.bootstrap_servers, "log_level": 2})
    if made := [name for name in admin.list_topics(timeout=patience(10)).topics if name.startswith(PREFIX)]:
        for deleted in admin.delete_topics(made, operation_timeout=patience(10)).values():
            deleted.result()
    for schema in schemas:
        for table in lake.sql(f"SHOW TABLES IN {schema}").collect():
            if table.tableName.startswith(PREFIX):
                kind = "VIEW" if table.isTemporary else "TABLE"
                lake.sql(f"DROP {kind} {table.tableName if table.isTemporary else f'{schema}.{table.tableName}'}")


@pytest.fixture(scope="module")
def active(lake: SparkSession) -> Iterator[None]:
    """Delta's sink and Spark's look-up of Python data sources ask the thread's session, whichever started the query."""
    jvm: Any = lake._jvm
    sessions, mine = jvm_sessions(jvm), lake._jsparkSession
    before = sessions.getActiveSession()
    sessions.setActiveSession(mine)
    yield
    if before.isDefined():
        sessions.setActiveSession(before.get())


@pytest.fixture(scope="module")
def first(lake: SparkSession, active: None) -> Iterator[tuple[Capture, RecordingSink]]:
    """The capture. A busy machine's broker may take its time to answer; which ranges are known is the test."""
    sink = RecordingSink()
    with pytest.MonkeyPatch.context() as patient:
        patient.setattr(topic_states, "TIMEOUT_SECONDS", 30.0)
        with attach(lake, sink=sink, **ONE_BY_ONE) as capture:
            yield capture, sink


@pytest.mark.parametrize(("family", "case"), CASES)
def test_what_is_emitted(
    lake: SparkSession,
    stack: StackUnderTest,
    first: tuple[Capture, RecordingSink],
    emitted: Emitted,
    tmp_path_factory: pytest.TempPathFactory,
    family: str,
    case: Case,
) -> None:
    folder = tmp_path_factory.mktemp("stream")
    world = World(lake, stack.bootstrap_servers, f"{PREFIX}{next(NUMBERS):02}", folder, *first)
    query_id = case.run(world)
    events = world.sink.events
    entries = observed(events, query_id, Provenance.OBSERVED)
    ids = event_ids(events, query_id)
    assert sorted(entries) == QueryLog(f"file:{folder}/cp", JvmFiles(lake.sparkContext)).committed()
    check(family, case.title, Lines(world.prefix).of(entries[n] for n in sorted(entries)), folder=GOLDEN)
    by_hand(case, world, query_id, entries, ids)
    if case.again:
        emitted.queries.append((case, world, query_id, entries, ids))


def by_hand(case: Case, world: World, query_id: str, entries: dict[int, IntervalEntry], ids: dict[int, str]) -> None:
    """`headwater reconcile`, which knows the datasets of the query's run and what a person says."""
    files = JvmFiles(world.spark.sparkContext)
    job = next(
        e.job for e in world.sink.of_kind("INTERVAL") if e.interval_event and e.interval_event.query_id == query_id
    )
    run = world.sink.last_run(job.name if job else "")
    known = Knowledge(
        job=job or JobRef("default", "job"),
        reads=tuple(use.dataset for use in run.inputs),
        writes=tuple(use.dataset for use in run.outputs),
    )
    found = reconcile(
        QueryLog(f"file:{world.folder}/cp", files),
        files,
        known,
        query_id=query_id,
        tenant="default",
        sources=case.sources(world),
    )
    assert found.unreadable == ()
    assert {e.interval_event.entries[0].batch_id: e.event_id for e in found.events if e.interval_event} == ids
    # A catalog isn't in a checkpoint, and so no snapshot of Iceberg's.
    same(
        entries, observed(found.events, query_id, Provenance.RECONCILED), sinks=case.has_log and "Ice" not in case.title
    )


def same(entries: dict[int, IntervalEntry], again: dict[int, IntervalEntry], *, sinks: bool = False) -> None:
    """Check for the same source positions, and for outputs that are the same or unknown.

    A checkpoint doesn't have the ids of topics: what is rebuilt from it has none.
    """
    assert sorted(again) == sorted(entries)
    for batch, entry in entries.items():
        other = again[batch]
        assert [(u.dataset, u.position) for u in other.inputs] == [
            (u.dataset, without_id(u.position)) for u in entry.inputs
        ]
        assert (other.watermark_before, other.watermark_after) == (entry.watermark_before, entry.watermark_after)
        written = {use.dataset: use for use in entry.outputs}
        for use in other.outputs:
            if use.position is not None or (sinks and written[use.dataset].position is not None):
                assert (use.position, use.certainty) == (
                    written[use.dataset].position,
                    written[use.dataset].certainty,
                )


def without_id(position: Position | None) -> Position | None:
    if position is None or position.kafka is None:
        return position
    return msgspec.structs.replace(position, kafka=msgspec.structs.replace(position.kafka, topic_id=None))


def test_a_second_start_emits_the_same(
    lake: SparkSession, emitted: Emitted, first: tuple[Capture, RecordingSink]
) -> None:
    first[0].close()
    sink = RecordingSink()
    with attach(lake, sink=sink, **ONE_BY_ONE) as capture:
        for case, world, *_ in emitted.queries:
            query = case.start(world)
            if case.live:
                query.processAllAvailable()
                query.stop()
            else:
                assert query.awaitTermination(int(patience(120)))
        assert capture.flush(FLUSH_SECONDS)
        assert capture.status().failed == 0, capture.status().last_error
    for case, _, query_id, entries, ids in emitted.queries:
        again = observed(sink.events, query_id, Provenance.RECONCILED)
        assert {n: again[n] for n in entries}.keys() == entries.keys(), case.title
        same(entries, {n: again[n] for n in entries}, sinks=case.has_log)
        assert ids, case.title
