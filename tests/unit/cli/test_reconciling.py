"""Reconciliation of a checkpoint with the graph and with a table's log."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from headwater.errors import (
    ConfigurationError,
    HeadwaterError,
    InputError,
    NotConfiguredError,
    SubjectNotFoundError,
    UnreachableError,
)
from headwater.reconciling import queries, tables
from headwater.reconciling.checkpoints import NAME_THE_FOLDER, reading, unreadable_as_errors
from headwater.reconciling.queries import Knowledge, QueryOptions, Reconciled, knowledge, reconcile
from headwater.reconciling.tables import Left
from headwater_analysis.reconciling import CheckpointQuery, OpenWrite
from headwater_producers.spark.common.versions import capture_version
from headwater_producers.spark.events.left_writes import mark_of
from headwater_producers.spark.jvm.files import LocalTextFiles
from headwater_producers.spark.streaming.checkpoint import QueryLog
from headwater_schemas import naming
from headwater_schemas.events import DatasetRef, JobRef, ParentRun, Provenance, PublicationState, RunEventType
from support.capture import DictFiles, body
from support.checkpoints import QUERY, HandWritten, kafka_checkpoint

JOB = JobRef("default", "app.copy")
IN, OUT = DatasetRef("kafka://here", "in"), DatasetRef("file", "/out")
PRODUCER = f"https://headwater/reconcile/{capture_version()}"


# A checkpoint.


def reconciled(made: HandWritten, files: DictFiles | None = None, **known: Any) -> Reconciled:
    fields: dict[str, Any] = {"job": JOB, "reads": (IN,), "writes": (OUT,), "writes_itself": True}
    files = files or made.files
    log = QueryLog(made.location, files)
    return reconcile(log, files, Knowledge(**(fields | known)), query_id=QUERY, tenant="t", sources={})


def outputs(found: Reconciled) -> list[list[tuple[DatasetRef, bool]]]:
    """Datasets that each event writes, with True where the position is known."""
    return [
        [(use.dataset, use.position is not None) for use in entry.outputs]
        for event in found.events
        if event.interval_event is not None
        for entry in event.interval_event.entries
    ]


def test_a_checkpoint_s_micro_batches_are_events_of_its_query() -> None:
    found = reconciled(kafka_checkpoint(3), name="copy")
    assert (found.location, found.query_id, found.batches) == ("file:/cp", QUERY, (0, 1, 2))
    assert (found.purged, found.uncommitted, found.unreadable) == (0, (), ())
    assert len(found.events) == 3
    for event in found.events:
        assert (event.tenant, event.job, event.producer) == ("t", JOB, PRODUCER)
        assert event.interval_event is not None
        assert (event.interval_event.query_name, event.interval_event.checkpoint_location) == ("copy", "file:/cp")


def test_what_the_graph_has_is_told_from_what_was_never_emitted() -> None:
    made = kafka_checkpoint(6)
    made.purge(4)
    made.plan(6, {"in": {"0": 99}})
    found = reconciled(made, batches=dict.fromkeys((0, 2, 5), Provenance.OBSERVED))
    assert (found.batches, found.not_emitted, found.uncommitted) == ((4, 5), (4,), (6,))
    assert (found.purged, found.gaps) == (4, ((1, 1), (3, 3)))
    found = reconciled(made)
    assert (found.purged, found.not_emitted, found.gaps) == (4, None, None)


def test_of_a_query_that_has_committed_nothing_nothing_is_purged() -> None:
    made = kafka_checkpoint(0)
    made.plan(0, {"in": {"0": 9}})
    found = reconciled(made, batches={})
    assert (found.batches, found.uncommitted, found.purged, found.gaps) == ((), (0,), 0, ())


def test_what_a_query_writes_is_as_its_sink_s_log_has_it(subtests: pytest.Subtests) -> None:
    cases = [
        (True, [[(OUT, False)], [(OUT, True)]]),
        (False, [[], [(OUT, True)]]),
    ]
    for writes_itself, expected in cases:
        with subtests.test(writes_itself=writes_itself):
            made = kafka_checkpoint(2)
            made.files.texts["/out/_spark_metadata/1"] = 'v1\n{"path":"file:///out/a","size":369,"action":"add"}'
            assert outputs(reconciled(made, writes_itself=writes_itself)) == expected


def test_of_none_or_several_outputs_none_is_reported(subtests: pytest.Subtests) -> None:
    for writes in [(), (OUT, DatasetRef("file", "/other"))]:
        with subtests.test(writes=writes):
            assert outputs(reconciled(kafka_checkpoint(1), writes=writes)) == [[]]


class Failing(DictFiles):
    """Files of which one can't be read."""

    def __init__(self, files: DictFiles, name: str, error: Exception) -> None:
        super().__init__(files.texts)
        self._name, self._error = name, error

    def read(self, path: str) -> str | None:
        if path.endswith(self._name):
            raise self._error
        return super().read(path)


def test_a_micro_batch_that_cannot_be_read_keeps_no_other_back(subtests: pytest.Subtests) -> None:
    for error in [OSError("gone"), ValueError("gone")]:
        with subtests.test(error=error):
            made = kafka_checkpoint(4)
            found = reconciled(made, Failing(made.files, "offsets/1", error))
            assert (found.batches, found.unreadable) == ((0, 3), ((1, "gone"), (2, "gone")))


def test_a_micro_batch_of_another_form_keeps_no_other_back() -> None:
    made = kafka_checkpoint(4)
    made.files.texts["file:/cp/offsets/1"] = "v9\n{}"
    found = reconciled(made)
    assert found.batches == (0, 3)
    assert [batch for batch, _ in found.unreadable] == [1, 2]


# What the graph knows.

ANSWER = CheckpointQuery(
    jobs=(JOB,), reads=(IN,), writes=(OUT,), name="copy", writes_itself=True, batches={1: Provenance.OBSERVED}
)


@pytest.fixture
def graph(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Questions to a fake graph; its answers, or errors, are put in front."""
    answers: list[Any] = []

    @contextmanager
    def asking(*, tenant: str | None) -> Iterator[str]:
        yield f"reader of {tenant}"

    def known_query(reader: str, query_id: str, *, until: int) -> CheckpointQuery | None:
        answer = answers.pop(0)
        answers.append((reader, query_id, until))
        if isinstance(answer, Exception):
            raise answer
        found: CheckpointQuery | None = answer
        return found

    monkeypatch.setattr(queries, "asking", asking)
    monkeypatch.setattr(queries, "known_query", known_query)
    return answers


def test_what_the_graph_knows_of_a_query(graph: list[Any]) -> None:
    graph.append(ANSWER)
    found = knowledge(QueryOptions(tenant="mine"), QUERY, until=7)
    assert found == Knowledge(
        job=JOB, reads=(IN,), writes=(OUT,), name="copy", writes_itself=True, batches={1: Provenance.OBSERVED}
    )
    assert graph == [("reader of mine", QUERY, 7)]


def test_a_job_that_is_named_is_the_query_s(graph: list[Any]) -> None:
    graph.append(ANSWER)
    found = knowledge(QueryOptions(job="mine", namespace="n"), QUERY, until=7)
    assert (found.job, found.name) == (JobRef("n", "mine"), "copy")
    graph[:] = [None]
    assert knowledge(QueryOptions(job="mine"), QUERY, until=7) == Knowledge(job=JobRef("default", "mine"), batches={})
    alone = knowledge(QueryOptions(job="mine", ask_graph=False), QUERY, until=7)
    assert alone == Knowledge(job=JobRef("default", "mine"))
    assert alone.writes_itself is False


def test_of_several_jobs_one_has_to_be_chosen(graph: list[Any]) -> None:
    jobs = (JOB, JobRef("n", "other"))
    several = CheckpointQuery(jobs=jobs, reads=(), writes=(), name=None, writes_itself=False, batches={})
    graph.append(several)
    with pytest.raises(InputError, match="under 2 jobs") as refused:
        knowledge(QueryOptions(), QUERY, until=7)
    assert (refused.value.fix, refused.value.nearest) == ("Choose one: --job.", ("default/app.copy", "n/other"))
    graph[:] = [several]
    assert knowledge(QueryOptions(job="other", namespace="n"), QUERY, until=7).job == jobs[1]


def test_without_a_graph_or_its_answer_the_job_has_to_be_named(graph: list[Any]) -> None:
    with pytest.raises(InputError) as refused:
        knowledge(QueryOptions(ask_graph=False), QUERY, until=7)
    assert refused.value.fix == "Add --job, and --job-namespace."
    graph.append(None)
    with pytest.raises(SubjectNotFoundError, match=f"The graph has no query {QUERY}") as missing:
        knowledge(QueryOptions(), QUERY, until=7)
    assert missing.value.fix == (
        "Name its job with --job and --job-namespace, and its sources: --source 0=kafka://cluster."
    )


def test_a_graph_that_does_not_answer_is_needed_for_the_job_alone(
    subtests: pytest.Subtests, graph: list[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    for error in [UnreachableError, SubjectNotFoundError, NotConfiguredError]:
        with subtests.test(error=error):
            named = QueryOptions(job="mine")
            graph[:] = [error("It is down.", fix="Start it.")]
            assert knowledge(named, QUERY, until=7) == Knowledge(job=JobRef("default", "mine"))
            printed = " ".join(capsys.readouterr().err.split())
            assert printed.endswith("It is down. So it is unknown which batches were never emitted.")
            for fix, expected in (("Start it.", "Start it. Or name the job"), ("", "Or name the job")):
                graph[:] = [error("It is down.", fix=fix)]
                with pytest.raises(error) as raised:
                    knowledge(QueryOptions(), QUERY, until=7)
                assert raised.value.message == "It is down."
                assert raised.value.fix == f"{expected}: --job, --job-namespace, --source."
            graph[:] = [ConfigurationError("No password.")]
            with pytest.raises(ConfigurationError, match="No password"):
                knowledge(named, QUERY, until=7)


# Open writes of tables.

NOW = datetime(2026, 11, 26, 12, tzinfo=UTC)
BEGAN = NOW - timedelta(hours=1)
TABLE = DatasetRef("file", "/lake/orders")


def facet(*targets: DatasetRef, names: Sequence[str] = ("sales.orders",)) -> str:
    written = [{"namespace": of.namespace, "name": of.name, "format": "delta", "names": list(names)} for of in targets]
    document = {"application": "local-1", "run": "app-run", "marked": True, "command": "AppendData", "outputs": written}
    return json.dumps(document)


def open_write(run_id: str = "run-1", **fields: Any) -> OpenWrite:
    known: dict[str, Any] = {
        "job": JobRef("default", "daily.orders"),
        "parent": ParentRun("app-run", JobRef("default", "daily")),
        "started_at": BEGAN,
        "last_seen": BEGAN,
        "facet": facet(TABLE),
        "heartbeat_seconds": None,
        "reads": (),
    }
    return OpenWrite(run_id=run_id, **(known | fields))


def delta_log(*marks: str) -> DictFiles:
    """A table that was made long before, and then written by these."""
    texts = {}
    for number, mark in enumerate(("", *marks)):
        at = BEGAN + timedelta(seconds=number) if number else BEGAN - timedelta(days=1)
        operation = "WRITE" if mark else "CREATE TABLE"
        info: dict[str, Any] = {"timestamp": int(at.timestamp() * 1000), "operation": operation}
        text = json.dumps({"commitInfo": info | ({"userMetadata": mark} if mark else {})}, separators=(",", ":"))
        texts[f"{TABLE.name}/_delta_log/{number:020d}.json"] = text
    return DictFiles(texts)


class Clock(datetime):
    @classmethod
    def now(cls, tz: Any = None) -> datetime:  # type: ignore[override]
        assert tz is UTC
        return NOW


class Graph:
    """Open writes, and what was asked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.writes: list[OpenWrite] = []
        self.claimed: frozenset[str] = frozenset()
        self.asked: list[Any] = []

        @contextmanager
        def asking(**options: Any) -> Iterator[str]:
            self.asked.append(options)
            yield "reader"

        def claimed_versions(_reader: str, dataset: DatasetRef, since: datetime) -> frozenset[str]:
            self.asked.append((dataset, since))
            return self.claimed

        def connected_settings(flags: dict[str, str | None]) -> Any:
            return SimpleNamespace(analysis=SimpleNamespace(tenant=flags["analysis.tenant"]))

        monkeypatch.setattr(tables, "asking", asking)
        monkeypatch.setattr(tables, "open_writes", lambda _reader: tuple(self.writes))
        monkeypatch.setattr(tables, "claimed_versions", claimed_versions)
        monkeypatch.setattr(tables, "connected_settings", connected_settings)
        monkeypatch.setattr(tables, "datetime", Clock)

    def left(self, *writes: OpenWrite) -> Left:
        self.writes = list(writes)
        return Left(QueryOptions(tenant="mine"))


@pytest.fixture
def open_ones(monkeypatch: pytest.MonkeyPatch) -> Graph:
    return Graph(monkeypatch)


def test_a_write_that_has_committed_ends_with_its_version(open_ones: Graph) -> None:
    left = open_ones.left(open_write(last_seen=NOW))
    events, shown = left.of(TABLE.name, delta_log(mark_of("app-run")))
    run = {"run_id": "run-1", "job": {"namespace": "default", "name": "daily.orders"}}
    assert shown == {"table": TABLE.name, "runs": [run | {"became": "COMMITTED", "version": "1", "reason": None}]}
    [event] = events
    assert (event.tenant, event.producer, body(event).type) == ("mine", PRODUCER, RunEventType.COMPLETE)
    left.of(TABLE.name, DictFiles())
    assert open_ones.asked == [{"tenant": "mine", "silently": True}, (TABLE, BEGAN)], "once, and without a word"


def test_a_version_that_another_run_claims_is_not_a_write_s_own(open_ones: Graph) -> None:
    left = open_ones.left(open_write())
    open_ones.claimed = frozenset({"1"})
    [event], shown = left.of(TABLE.name, delta_log(mark_of("app-run")))
    [run] = shown["runs"]
    assert (run["became"], run["version"]) == ("NOTHING", None)
    assert run["reason"]
    assert (body(event).type, body(event).publication) == (RunEventType.ABORT, PublicationState.UNPUBLISHED)


def test_a_write_is_open_until_it_has_missed_three_heartbeats(subtests: pytest.Subtests, open_ones: Graph) -> None:
    cases = [
        (None, 179.9, "RUNNING"),
        (None, 180, "NOTHING"),
        (10.0, 29.9, "RUNNING"),
        (10.0, 30, "NOTHING"),
    ]
    for heartbeat, unseen, became in cases:
        with subtests.test(heartbeat=heartbeat, unseen=unseen):
            seen = NOW - timedelta(seconds=unseen)
            left = open_ones.left(open_write(last_seen=seen, heartbeat_seconds=heartbeat))
            events, shown = left.of(TABLE.name, delta_log())
            assert [run["became"] for run in shown["runs"]] == [became]
            assert len(events) == (became != "RUNNING")


def test_a_table_is_known_by_its_name_and_by_where_it_is(subtests: pytest.Subtests, open_ones: Graph) -> None:
    cases = [
        ("/lake/orders", TABLE, ()),
        ("s3a://bucket/lake/orders", naming.path("s3a://bucket/lake/orders"), ()),
        ("db.orders", DatasetRef("hive://metastore", "db.orders"), ()),
        ("sales.orders", TABLE, ("sales.orders",)),
        ("`sales`.`orders`", TABLE, ("other.name", "sales.orders")),
    ]
    for table, written, names in cases:
        with subtests.test(table=table):
            another = open_write("another", facet=facet(DatasetRef("file", "/lake/another"), names=["sales.another"]))
            left = open_ones.left(another, open_write(facet=facet(written, names=names)))
            _, shown = left.of(table, DictFiles())
            assert [run["run_id"] for run in shown["runs"]] == ["run-1"]


def test_where_tables_lie_that_are_named(open_ones: Graph) -> None:
    of_a_bucket = facet(naming.path("s3a://bucket/lake/returns"), names=["sales.returns"])
    left = open_ones.left(open_write(), open_write("run-2", facet=of_a_bucket))
    assert list(left.locations(["sales.returns", "sales.orders", "sales.none"])) == [
        "s3a://bucket/lake/returns",
        "/lake/orders",
    ]


def test_a_run_that_does_not_show_what_it_writes_is_left_out(open_ones: Graph) -> None:
    left = open_ones.left(open_write("old", facet="{}"), open_write())
    _, shown = left.of(TABLE.name, DictFiles())
    assert [run["run_id"] for run in shown["runs"]] == ["run-1"]


def test_open_writes_are_in_the_graph_alone() -> None:
    with pytest.raises(InputError, match="Only the graph knows") as refused:
        Left(QueryOptions(ask_graph=False)).of(TABLE.name, DictFiles())
    assert refused.value.fix == "Leave out --no-graph for a table."


# Files that can't be read.


class Thrown:
    """A Java exception as py4j shows it; one without a cause of its own is its own cause."""

    def __init__(self, name: str, message: str = "m", *, cause: Thrown | None = None, endless: bool = False) -> None:
        self.asked = 0
        self._name, self._message = name, message
        self._cause = self if endless else cause

    def getClass(self) -> Any:  # noqa: N802  Java's
        self.asked += 1
        return SimpleNamespace(getName=lambda: self._name)

    def getMessage(self) -> str:  # noqa: N802  Java's
        return self._message

    def getCause(self) -> Thrown | None:  # noqa: N802  Java's
        return self._cause


def of_pyspark(thrown: Thrown) -> Exception:
    error = RuntimeError("converted")
    error._origin = thrown  # type: ignore[attr-defined]
    return error


def raised(error: Exception, location: str = "s3a://lake/cp") -> HeadwaterError:
    with pytest.raises(HeadwaterError) as found, unreadable_as_errors(location):
        raise error
    return found.value


def test_a_host_that_does_not_answer(subtests: pytest.Subtests) -> None:
    cases = [
        "java.net.ConnectException",
        "org.apache.hadoop.net.ConnectTimeoutException",
        "java.net.NoRouteToHostException",
        "java.net.SocketTimeoutException",
        "java.net.UnknownHostException",
    ]
    for name in cases:
        with subtests.test(name=name):
            found = raised(of_pyspark(Thrown(name, "nohost", cause=Thrown("java.io.IOException", "timed out"))))
            assert isinstance(found, UnreachableError)
            assert found.message == "s3a://lake/cp can't be reached: timed out."
            assert found.fix == "Check its host and port, and the network from here."


def test_a_store_that_spark_has_no_package_for(subtests: pytest.Subtests) -> None:
    cases = [
        ("java.lang.ClassNotFoundException", "s3a://lake/cp", "org.apache.hadoop:hadoop-aws:VERSION"),
        ("java.lang.NoClassDefFoundError", "gs://lake/cp", "GROUP:ARTIFACT:VERSION"),
        ("org.apache.hadoop.fs.UnsupportedFileSystemException", "abfss://lake/cp", "GROUP:ARTIFACT:VERSION"),
    ]
    for name, location, package in cases:
        with subtests.test(name=name):
            found = raised(of_pyspark(Thrown(name)), location)
            assert isinstance(found, InputError)
            assert found.message == f"Spark here has no package for {location.partition(':')[0]}: m."
            assert found.fix == f'Add the package: PYSPARK_SUBMIT_ARGS="--packages {package} pyspark-shell".'


def test_a_chain_of_causes_without_an_end() -> None:
    thrown = Thrown("java.io.IOException", endless=True)
    assert raised(of_pyspark(thrown)).message == "s3a://lake/cp can't be read: IOException: m."
    assert thrown.asked == 20


def test_a_folder_that_cannot_be_read(subtests: pytest.Subtests) -> None:
    cases = [
        (NotADirectoryError(20, "Not a directory"), "/cp is a file, not a folder."),
        (PermissionError(13, "Permission denied"), "/cp can't be read: Permission denied."),
        (OSError("gone"), "/cp can't be read: gone."),
    ]
    for error, message in cases:
        with subtests.test(error=error):
            found = raised(error, "/cp")
            assert (type(found), found.message, found.fix) == (InputError, message, NAME_THE_FOLDER)


class Builder:
    """A SparkSession's, and the session."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, ...]] = []
        self.sparkContext = SimpleNamespace()

    def __getattr__(self, name: str) -> Any:
        def called(*values: str) -> Builder:
            self.asked.append((name, *values))
            return self

        return called


def test_a_session_is_started_for_what_is_not_local_and_ends_with_the_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    spark = Builder()
    monkeypatch.setattr("pyspark.sql.SparkSession", SimpleNamespace(builder=spark))
    monkeypatch.setattr("headwater_producers.spark.jvm.files.JvmFiles", lambda context: context)
    with reading(["file:/cp", "/cp"]) as files:
        assert isinstance(files, LocalTextFiles)
    assert spark.asked == []
    given = []

    def fails() -> None:
        with reading(["file:/cp", "s3a://lake/cp"]) as context:
            given.append(context)
            raise LookupError

    with pytest.raises(LookupError):
        fails()
    assert given == [spark.sparkContext]
    assert spark.asked == [
        ("master", "local[1]"),
        ("appName", "headwater-reconcile"),
        ("config", "spark.ui.enabled", "false"),
        ("getOrCreate",),
        ("stop",),
    ]
