"""Jobs and consumer as processes: real ones, that only pretend to be Spark."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from headwater.demo import jobs, processes
from headwater.demo.folder import DemoFolder
from headwater.demo.jobs import DemoJob
from headwater.demo.processes import DemoConsumer, Pipeline
from headwater.demo.view import JobState
from headwater.errors import HeadwaterError
from support.waiting import eventually

JOBS = (
    DemoJob("load", "first"),
    DemoJob("enrich", "second", after=("load",), streaming=True),
    DemoJob("report", "third", after=("enrich",)),
)

# A pretended job ends when the test says so, with the status that it says.
PROGRAM = """
import pathlib, sys, time
status = pathlib.Path(sys.argv[1])
while not status.exists():
    time.sleep(0.01)
print("what went wrong")
sys.exit(int(status.read_text()))
"""


class Stage:
    """A pipeline of pretended jobs."""

    def __init__(self, root: Path) -> None:
        self.folder = DemoFolder(root)
        self.folder.empty()
        self.pipeline = Pipeline(JOBS, self.folder, dict(os.environ))

    def end(self, job: str, status: int = 0) -> None:
        reported = self.folder.work / f"{job}.status"
        reported.with_suffix(".draft").write_text(str(status))
        reported.with_suffix(".draft").rename(reported)

    def states(self) -> list[str]:
        return [view.state for view in self.pipeline.views()]


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    stage = Stage(tmp_path)

    def command(job: DemoJob) -> list[str]:
        return [sys.executable, "-c", PROGRAM, str(stage.folder.work / f"{job.name}.status")]

    monkeypatch.setattr(processes, "job_command", command)
    yield stage
    stage.pipeline.stop()


def test_queries_start_at_once_and_batch_jobs_when_their_input_is_there(stage: Stage) -> None:
    pipeline, marker = stage.pipeline, stage.folder.marker("enrich")
    assert not pipeline.step()
    assert stage.states() == [JobState.RUNNING, JobState.RUNNING, JobState.WAITING]
    assert not pipeline.step()
    assert not marker.exists()

    stage.end("load")
    eventually(lambda: pipeline.step() or marker.exists())
    assert stage.states() == [JobState.DONE, JobState.FINISHING, JobState.WAITING]

    stage.end("enrich")
    eventually(lambda: pipeline.step() or JobState.WAITING not in stage.states())
    assert stage.states() == [JobState.DONE, JobState.DONE, JobState.RUNNING]

    stage.end("report")
    eventually(pipeline.step)
    assert stage.states() == [JobState.DONE] * 3


def test_a_query_that_fails_ends_the_demo_with_the_end_of_its_log(stage: Stage) -> None:
    stage.pipeline.step()
    stage.end("enrich", status=3)
    with pytest.raises(HeadwaterError) as error:
        eventually(stage.pipeline.step)
    assert "Job enrich failed with status 3" in error.value.message
    assert "what went wrong" in error.value.message
    assert str(stage.folder.logs / "enrich.log") in error.value.fix


def test_stopping_ends_what_still_runs(stage: Stage) -> None:
    stage.pipeline.step()
    running = [running.process.pid for running in stage.pipeline._running.values()]
    assert len(running) == 2
    stage.pipeline.stop()
    for pid in running:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_batches_are_counted_by_the_checkpoint(stage: Stage) -> None:
    stage.pipeline.step()
    assert stage.pipeline.views()[1].batches == 0
    commits = stage.folder.home / "checkpoints" / "enrich" / "commits"
    commits.mkdir(parents=True)
    # Spark keeps the newest ones only, beside checksums and drafts.
    for name in ("4", "5", "6", ".6.crc", ".7.1234.tmp"):
        (commits / name).touch()
    assert stage.pipeline.views()[1].batches == 7
    assert stage.pipeline.views()[0].batches is None


@pytest.fixture
def consumer_program(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    def use(program: str) -> None:
        monkeypatch.setattr(processes, "consumer_command", lambda: [sys.executable, "-c", program])

    return use


def watched(consumer: DemoConsumer) -> Callable[[], bool]:
    def changed() -> bool:
        before = consumer.restarts
        consumer.watch()
        return consumer.restarts != before

    return changed


def test_a_killed_consumer_is_started_again_but_not_for_ever(
    tmp_path: Path, consumer_program: Callable[[str], None]
) -> None:
    consumer_program("import time; time.sleep(60)")
    consumer = DemoConsumer(DemoFolder(tmp_path), dict(os.environ))
    try:
        for _ in range(3):
            os.kill(consumer.pid, signal.SIGKILL)
            eventually(watched(consumer))
        os.kill(consumer.pid, signal.SIGKILL)
        with pytest.raises(HeadwaterError, match="was killed by signal 9"):
            eventually(watched(consumer))
    finally:
        consumer.abandon()


def test_a_consumer_that_gives_up_is_not_started_again(tmp_path: Path, consumer_program: Callable[[str], None]) -> None:
    consumer_program("import sys; print('wrong password'); sys.exit(6)")
    consumer = DemoConsumer(DemoFolder(tmp_path), dict(os.environ))
    with pytest.raises(HeadwaterError, match=r"failed with status 6\.\nwrong password"):
        eventually(watched(consumer))


def test_a_consumer_that_ends_badly_when_reported_to_is_an_error(
    tmp_path: Path, consumer_program: Callable[[str], None]
) -> None:
    consumer_program("import time; time.sleep(60)")  # SIGTERM kills it: it has not drained
    with pytest.raises(HeadwaterError, match="killed by signal 15"):
        DemoConsumer(DemoFolder(tmp_path), dict(os.environ)).stop()


def test_what_the_user_set_for_other_sparks_does_not_leak_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stack_info: object
) -> None:
    for name in ("SPARK_HOME", "PYSPARK_DRIVER_PYTHON", "HADOOP_CONF_DIR", "HEADWATER_TOPIC_PREFIX", "FLIGHTS_HOME"):
        monkeypatch.setenv(name, "theirs")
    monkeypatch.setattr(processes, "ensure_jars", lambda name: [Path("/a b/x.jar"), Path("/y.jar")])
    variables = processes.environment(DemoFolder(tmp_path), stack_info)  # type: ignore[arg-type]
    assert "theirs" not in variables.values()
    assert variables["PYSPARK_SUBMIT_ARGS"].endswith(" pyspark-shell")
    assert "'/a b/x.jar,/y.jar'" in variables["PYSPARK_SUBMIT_ARGS"]
    assert variables["HEADWATER_CONFIG"] == str(tmp_path / "work" / "headwater.toml")
    assert variables["PATH"] == os.environ["PATH"]


@pytest.fixture
def stack_info(tmp_path: Path) -> object:
    from headwater.stack.info import Member, StackInfo

    password = tmp_path / "password"
    password.write_text("secret\n")
    member = Member(1, "1", tmp_path / "log")
    return StackInfo("h:1", "bolt://h:2", "neo4j", "http://h:3", password, tmp_path, "21", member, member)


def test_every_slice_of_the_year_makes_about_as_many_micro_batches(subtests: pytest.Subtests) -> None:
    for days in [1, 31, 365]:
        with subtests.test(days=days):
            flights = days * jobs.FLIGHTS_PER_DAY
            assert jobs.MICRO_BATCHES - 1 <= flights / jobs.records_per_batch(days) <= jobs.MICRO_BATCHES


def test_the_scripts_are_where_the_demo_looks(tmp_path: Path) -> None:
    folder = jobs.scripts_folder()
    for job in jobs.flights_jobs(DemoFolder(tmp_path), 31):
        assert (folder / f"{job.name}.py").is_file()
