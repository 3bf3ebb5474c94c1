"""`headwater run`: whatever sessions an unmodified script makes, and however deep inside, they are captured."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from headwater_schemas.events import RunEventType
from support.running import SECONDS, environment, lineage, runs
from support.stack import StackUnderTest
from support.waiting import patience

pytestmark = [pytest.mark.spark, pytest.mark.stack]

LIBRARY = """
from pyspark.sql import SparkSession

def session():
    made = SparkSession.builder.appName("library").getOrCreate()
    made.sparkContext.setLogLevel("ERROR")
    return made

def write(name):
    session().range(3).write.parquet(name)
"""

JOB = """
import sys
import library

library.write("one")
library.session().newSession().range(3).write.parquet("two")
library.session().stop()

library.write("three")
sys.exit(3)
"""

TASK = "airflow/flights.enrich/01931885-2800-7be7-aa8d-aaa15c337267"
DAG = "airflow/flights/01931885-2800-799d-8041-88a263ffa0d8"
WHOLE = [RunEventType.START, RunEventType.COMPLETE]


@pytest.mark.timeout(SECONDS)
@pytest.mark.nightly
def test_every_session_of_an_unmodified_script(stack: StackUnderTest, topic_prefix: str, tmp_path: Path) -> None:
    (tmp_path / "library.py").write_text(LIBRARY)
    (tmp_path / "job.py").write_text(JOB)
    headwater = str(Path(sys.executable).with_name("headwater"))
    orchestrator = {"OPENLINEAGE_PARENT_ID": TASK, "OPENLINEAGE_ROOT_PARENT_ID": DAG}
    done = subprocess.run(
        [headwater, "run", "--job-name", "app", "--job-criticality", "tier-1", "job.py"],
        cwd=tmp_path,
        env=environment(stack, topic_prefix) | orchestrator,
        capture_output=True,
        text=True,
        timeout=patience(SECONDS),
        check=False,
    )
    assert done.returncode == 3, done.stderr[-4_000:]
    assert "lineage" not in done.stderr, "nothing to complain of"

    events = lineage(stack, f"{topic_prefix}.events")
    # Two SparkContexts, one after the other, are two runs of the application.
    application = runs(events, "app")
    assert sorted(run.type for run in application) == ["COMPLETE", "FAIL", "START", "START"]
    assert len({event.run.run_id for event in events if event.run and event.job and event.job.name == "app"}) == 2
    for run in application:
        assert run.parent is not None
        assert f"{run.parent.job.namespace}/{run.parent.job.name}/{run.parent.run_id}" == TASK
    for name in ("one", "two", "three"):
        emitted = runs(events, f"app.{name}")
        assert [run.type for run in emitted] == WHOLE
        assert all(run.root is not None and run.root.run_id == DAG.rsplit("/", 1)[1] for run in emitted)
    assert {event.job_event.criticality for event in events if event.job_event} == {"tier-1"}
