"""Context of a run: its starter, owner and purpose; by settings, else by the environment; without credentials."""

from __future__ import annotations

import base64
import json
import zlib
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headwater_producers.spark import CaptureSettings
from headwater_producers.spark.common.account import configuration_digest, service_account
from headwater_producers.spark.driver.attach import event_context
from headwater_producers.spark.events.application import UncheckedWrites, application_running, application_started
from headwater_producers.spark.events.data_interval import ALWAYS, DataInterval, data_interval
from headwater_producers.spark.events.dedup_cache import DedupCache
from headwater_producers.spark.execution.executions import rows_rejected, without_literals
from headwater_schemas.events import RunEvent
from support.capture import body

if TYPE_CHECKING:
    import pytest

MONDAY, TUESDAY = datetime(2026, 11, 23, tzinfo=UTC), datetime(2026, 11, 24, tzinfo=UTC)


def started(environment: dict[str, str] | None = None, /, **given: Any) -> RunEvent:
    settings = CaptureSettings.load(job_code_version="v7", **given)
    context = event_context(
        settings,
        app_name="nightly",
        spark_version="4.0.0",
        properties={"spark.kubernetes.container.image": "registry/flights@sha256:ab"},
        environment=environment or {},
        user="etl",
    )
    _, start = application_started(context, MONDAY, DedupCache())
    beat = application_running(context, MONDAY, 60, UncheckedWrites()).run_event
    assert beat is not None
    assert (beat.context, beat.nominal_start) == (None, None), "a heartbeat repeats nothing"
    return body(start)


def pipes(content: dict[str, Any]) -> dict[str, str]:
    packed = base64.b64encode(zlib.compress(json.dumps(content).encode())).decode()
    return {"DAGSTER_PIPES_CONTEXT": packed}


WINDOW = {"partition_time_window": {"start": "2026-11-23T00:00:00+00:00", "end": "2026-11-24T00:00:00+00:00"}}


def test_settings_win_over_what_is_found() -> None:
    environment = {"AWS_ROLE_ARN": "arn:aws:iam::1:role/etl", "AIRFLOW_CTX_LOGICAL_DATE": "2020-01-01T00:00:00+00:00"}
    found = started(environment)
    assert found.context is not None
    assert (found.context.image, found.context.service) == (
        "registry/flights@sha256:ab",
        "arn:aws:iam::1:role/etl",
    )
    assert (found.context.user, found.nominal_start) == ("etl", datetime(2020, 1, 1, tzinfo=UTC))
    given = started(
        environment,
        job_script="daily.py",
        job_repository="https://ada:hunter2@git.example/flights",
        job_branch="main",
        job_image="flights:7",
        job_service="principal/etl",
        job_campaign="token=hunter2",
        job_nominal_start="2026-11-23T01:00:00+01:00",
        job_nominal_end="2026-11-24T00:00:00",
    )
    about = given.context
    assert about is not None
    assert (about.script, about.branch, about.image, about.service) == (
        "daily.py",
        "main",
        "flights:7",
        "principal/etl",
    )
    assert (given.nominal_start, given.nominal_end) == (MONDAY, TUESDAY)
    assert "hunter2" not in repr(about)


ORCHESTRATED: list[tuple[dict[str, str], DataInterval]] = [
    ({}, ALWAYS),
    ({"AIRFLOW_CTX_EXECUTION_DATE": "2026-11-23T00:00:00+00:00"}, DataInterval(MONDAY)),
    (
        {
            "AIRFLOW_CTX_LOGICAL_DATE": "2026-11-23T02:00:00+02:00",
            "AIRFLOW_CTX_DAG_ID": "flights",
            "AIRFLOW_CTX_DAG_RUN_ID": "backfill__2026-11-23T00:00:00+00:00",
        },
        DataInterval(MONDAY, campaign="backfill of flights"),
    ),
    (pipes({"data": WINDOW}), DataInterval(MONDAY, TUESDAY)),
    (pipes({"data": {"partition_time_window": None}}), ALWAYS),
    (pipes({}), ALWAYS),
]


def test_what_an_orchestrator_sets(subtests: pytest.Subtests) -> None:
    for environment, expected in ORCHESTRATED:
        with subtests.test(environment=environment):
            assert data_interval(environment) == expected


def test_dagster_may_write_a_file(tmp_path: Path) -> None:
    file = tmp_path / "context"
    file.write_text(json.dumps(WINDOW))
    assert data_interval(pipes({"path": str(file)})) == DataInterval(MONDAY, TUESDAY)


ILL_FORMED: list[dict[str, str]] = [
    {"AIRFLOW_CTX_LOGICAL_DATE": "soon"},
    {"DAGSTER_PIPES_CONTEXT": "no base64!"},
    {"DAGSTER_PIPES_CONTEXT": base64.b64encode(b"no zlib").decode()},
    pipes({"data": ["?"]}),
    pipes({"path": "/nowhere"}),
    pipes({"data": {"partition_time_window": {"start": "soon"}}}),
]


def test_what_is_ill_formed_is_left_out_with_a_warning(
    subtests: pytest.Subtests, caplog: pytest.LogCaptureFixture
) -> None:
    for environment in ILL_FORMED:
        with subtests.test(environment=environment):
            caplog.clear()
            assert data_interval(environment) == ALWAYS
            [warning] = caplog.records
            assert next(iter(environment)) in warning.getMessage()


def test_the_account_by_kubernetes_kerberos_or_the_cloud() -> None:
    assert service_account({}, {}) is None
    assert service_account({"spark.kerberos.principal": "etl@EXAMPLE"}, {"AZURE_CLIENT_ID": "a"}) == "etl@EXAMPLE"
    assert service_account({}, {"AZURE_CLIENT_ID": "a"}) == "a"


def test_a_configuration_is_the_same_on_any_machine_and_has_no_secret() -> None:
    configured = {"spark.sql.shuffle.partitions": "8"}
    of_this_start = {
        "spark.app.id": "local-1",
        "spark.driver.host": "a",
        "spark.ui.port": "1",
        "spark.openlineage.parentRunId": "x",
        "spark.hadoop.fs.s3a.secret.key": "hunter2",
        "spark.driver.extraJavaOptions": "-Da=/tmp/1",
    }
    digest = configuration_digest(configured)
    assert digest == configuration_digest(configured | of_this_start)
    assert digest != configuration_digest({"spark.sql.shuffle.partitions": "9"})
    assert digest != configuration_digest(configured | {"spark.jars.packages": "a:b:1"})
    assert len(digest) == 16


STATEMENTS: list[tuple[str, str]] = [
    ("SELECT a1 FROM t2 WHERE x = 'it''s' AND y > 1.5e3", "SELECT a1 FROM t2 WHERE x = ? AND y > ?"),
    ("SELECT `a 'b' 1` -- Ada's\nFROM t /* 7 'x */", "SELECT `a 'b' 1` \nFROM t "),
    (r"SELECT 'a\'b', r'\d', \"c\", 7L".replace('\\"', '"'), "SELECT ?, ?, ?, ?"),
    ("SELECT date'2020-01-01', X'1F', .5", "SELECT date?, X?, ?"),
]


def test_a_statement_without_literals(subtests: pytest.Subtests) -> None:
    for sql, expected in STATEMENTS:
        with subtests.test(sql):
            assert without_literals(sql) == expected


def test_rejected_rows_are_those_that_observations_count() -> None:
    assert rows_rejected({}) is None
    assert rows_rejected({"a": {"rows_rejected": 2}, "b": {"rows_rejected": 3, "rows": 9}}) == 5
    assert rows_rejected({"a": {"rows_rejected": None}, "b": {"rows_rejected": True}}) is None
