"""Parts that connect to Kafka, with the least ACLs that the page documents, over each kind of connection."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from confluent_kafka import Producer

from headwater_benchmarks.processes import serving
from headwater_schemas.events import RunEventType
from headwater_schemas.record import record_of
from headwater_schemas.topics import TopicNames
from support.materializer.events import run_start
from support.materializer.process import consuming
from support.openlineage import run_event, run_id
from support.secured_broker import (
    WRONG,
    SecuredBroker,
    job_outbox,
    lineage_on,
    on_topic,
    run_of,
    spotless,
    variables,
)
from support.spark_submit import submit
from support.waiting import patience

pytestmark = [pytest.mark.stack, pytest.mark.nightly, pytest.mark.timeout(300)]

Command = Callable[..., Any]

NAMES = TopicNames()
KINDS = ("scram", "oauth", "mtls")


def connection(broker: SecuredBroker, kind: str, user: str) -> dict[str, str]:
    if kind == "mtls":
        return broker.mtls(broker.client(user))
    return broker.scram(user) if kind == "scram" else broker.oauth(user)


def caught_up(settings: dict[str, str]) -> dict[str, int]:
    """Let a consumer catch up, and its totals."""
    with consuming(settings, "--until-caught-up") as consumer:
        assert consumer.wait(patience(120)) == 0, consumer.stderr
        spotless(consumer.stderr)
        return consumer.document


@pytest.mark.parametrize("kind", KINDS)
def test_each_component_does_its_work(
    broker: SecuredBroker, graph: dict[str, str], headwater: Command, tmp_path: Path, kind: str
) -> None:
    def settings(user: str = "materializer") -> dict[str, str]:
        return {**variables(connection(broker, kind, user)), **graph}

    # Jobs, which may only write.
    with job_outbox(tmp_path / "outbox", connection(broker, kind, "spark")) as job:
        job.put(record_of(run_start(0)))
        assert job.await_relayed(patience(60)) == 0, job.problem
    assert run_of(0) in {*on_topic(broker)}

    # The door of `serve`, whose user may write, too.
    door = {**settings("serve"), "HEADWATER_SERVE_PORT": "0", "HEADWATER_SERVE_INTAKE": "true"}
    with serving(door) as server:
        with httpx.Client(base_url=server.url(), trust_env=False, timeout=patience(60)) as client:
            assert client.post("/api/v1/lineage", json=run_event(0)).status_code == 201
        assert server.stop() == 0, server.stderr
        spotless(server.stderr)
    assert run_id(0) in on_topic(broker)

    # The materializer, with a record that becomes a dead letter; other tests of the folder may have left some.
    broken = Producer(broker.admin)
    broken.produce(NAMES.events, b"not an event")
    assert broken.flush(patience(30)) == 0
    totals = caught_up(settings())
    assert totals["dead_lettered"] >= 1, totals

    assert run_of(0) in json.dumps(headwater(settings(), "events", "--last", "1000"))
    assert headwater(settings(), "dlq", "list")["letters"] >= 1
    found = headwater(settings(), "doctor")["findings"]
    severities = {(each["check"], each["subject"]): each["severity"] for each in found}
    for topic in (NAMES.events, NAMES.dead_letters, NAMES.schemas):
        assert severities["access", topic] == "OK", found
    assert severities["ACLs", NAMES.events] == "UNKNOWN"
    headwater(settings("operator"), "dlq", "replay", "--all")


@pytest.mark.parametrize("kind", KINDS)
def test_forwarders_and_operators_need_no_more_than_the_documented_acls(
    broker: SecuredBroker, graph: dict[str, str], headwater: Command, tmp_path: Path, kind: str
) -> None:
    number = 400 + KINDS.index(kind)
    with job_outbox(tmp_path / "outbox", connection(broker, "scram", "spark")) as job:
        job.put(record_of(run_start(number)))
        assert job.await_relayed(patience(60)) == 0, job.problem
    out = tmp_path / "out.jsonl"
    options = ("--to", str(out), "--group", f"headwater-forward-{kind}", "--until-caught-up")
    headwater(variables(connection(broker, kind, "forward")), "forward", "openlineage", *options)
    assert run_of(number) in out.read_text(encoding="utf-8")
    operator = {**variables(connection(broker, kind, "operator")), **graph}
    assert headwater(operator, "graph", "rebuild", "--yes")["applied"] > 0


JOB = """
import sys
from pyspark.sql import SparkSession
from headwater_producers.spark import attach

spark = SparkSession.builder.appName(sys.argv[1]).config("spark.ui.enabled", "false").getOrCreate()
with attach(spark):
    spark.range(3).write.parquet(sys.argv[2])
"""


@pytest.mark.parametrize("kind", KINDS)
def test_a_spark_job_that_was_refused_writes_its_data_and_the_next_sends_its_lineage(
    broker: SecuredBroker, kind: str, tmp_path: Path
) -> None:
    script = tmp_path / "job.py"
    script.write_text(JOB)
    # By the same name, however they connect, so that one sends what another left.
    kept = {"HEADWATER_OUTBOX_PATH": str(tmp_path / "outbox"), "HEADWATER_KAFKA_CLUSTER_NAME": "secured"}
    name = f"secured-{kind}"
    refused = {**kept, **variables(broker.scram("spark", WRONG))}
    submit(script, f"{name}-refused", str(tmp_path / "refused"), environment=refused)
    assert (tmp_path / "refused" / "_SUCCESS").exists()
    assert jobs_on_topic(broker, name) == set()
    taken = {**kept, **variables(connection(broker, kind, "spark"))}
    submit(script, name, str(tmp_path / "taken"), environment=taken)
    assert jobs_on_topic(broker, name) == {name, f"{name}-refused"}


def jobs_on_topic(broker: SecuredBroker, name: str) -> set[str]:
    """Jobs of a name, or with more behind it, whose runs have completed by the events on the topic."""
    found = set()
    for event in lineage_on(broker):
        run, job = event.run_event, event.job
        if run is not None and run.type is RunEventType.COMPLETE and job is not None and job.name.startswith(name):
            found.add(job.name.split(".")[0])
    return found
