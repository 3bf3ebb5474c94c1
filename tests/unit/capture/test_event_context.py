"""What the settings say of a job is in the events of its application."""

from __future__ import annotations

from datetime import UTC, datetime

from headwater_producers.spark import CaptureSettings
from headwater_producers.spark.events.application import application_started
from headwater_producers.spark.events.once import Once
from headwater_producers.spark.events.parent import Orchestration
from headwater_producers.spark.wiring import event_context
from headwater_schemas.events import EngineRef, JobRef, Owner, ParentRun, Tag

TASK = ParentRun("01931885-2800-7be7-aa8d-aaa15c337267", JobRef("airflow", "flights.enrich"))
DAG = ParentRun("01931885-2800-799d-8041-88a263ffa0d8", JobRef("airflow", "flights"))


def test_each_setting_is_told() -> None:
    settings = CaptureSettings.load(
        tenant="acme",
        job_namespace="flights",
        job_name="enrich",
        job_owner="team:flights",
        job_criticality="tier-1",
        job_tags="pii,tier=1",
        job_code_version="v7",
        job_config_version="c3",
    )
    context = event_context(
        settings, app_name="spark's own", spark_version="4.0.0", started_by=Orchestration(parent=TASK, root=DAG)
    )
    job, start = application_started(context, datetime(2026, 11, 21, tzinfo=UTC), Once())
    for event in (job, start):
        assert (event.tenant, event.job) == ("acme", JobRef("flights", "enrich"))
    assert job.job_event is not None
    assert job.job_event.owners == (Owner("team:flights"),)
    assert job.job_event.tags == (Tag(key="pii"), Tag(key="tier", value="1"))
    assert job.job_event.criticality == "tier-1"
    assert start.run_event is not None
    assert (start.run_event.parent, start.run_event.root) == (TASK, DAG)
    versions = start.run_event.versions
    assert versions is not None
    assert (versions.code, versions.config, versions.engine) == ("v7", "c3", EngineRef("spark", "4.0.0"))


def test_without_them_it_is_the_applications_name_and_nothing_is_claimed() -> None:
    settings = CaptureSettings.load(job_code_version="v7")
    context = event_context(settings, app_name="nightly", spark_version="4.0.0", started_by=Orchestration())
    job, start = application_started(context, datetime(2026, 11, 21, tzinfo=UTC), Once())
    assert (job.tenant, job.job) == ("default", JobRef("default", "nightly"))
    assert job.job_event is not None
    assert (job.job_event.owners, job.job_event.tags, job.job_event.criticality) == (None, None, None)
    assert start.run_event is not None
    assert (start.run_event.parent, start.run_event.root) == (None, None)
