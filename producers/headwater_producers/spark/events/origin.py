"""Run context: trigger, user, purpose and period of an application, by its settings, else by its environment."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from headwater_producers.spark.common.account import service_account
from headwater_producers.spark.common.settings import CaptureSettings
from headwater_producers.spark.common.versions import Code, container_image
from headwater_producers.spark.events.data_interval import DataInterval, data_interval
from headwater_schemas.events import RunContext
from headwater_schemas.redaction import without_user_info


def run_context(
    settings: CaptureSettings,
    code: Code,
    *,
    properties: Mapping[str, str],
    environment: Mapping[str, str],
    user: str | None,
) -> RunContext:
    """Return the context that all runs of an application share, without credentials.

    Args:
        settings: settings of the capture.
        code: code of the running script.
        properties: Spark's properties.
        environment: environment of the driver.
        user: Spark's.
    """
    repository = settings.job_repository or code.repository
    return RunContext(
        script=settings.job_script or code.script,
        repository=without_user_info(repository) if repository is not None else None,
        branch=settings.job_branch or code.branch,
        package=code.package,
        image=settings.job_image or container_image(properties),
        user=user,
        service=settings.job_service or service_account(properties, environment),
        campaign=settings.job_campaign or data_interval(environment).campaign,
    )


def period(settings: CaptureSettings, environment: Mapping[str, str]) -> DataInterval:
    """Return the period that the application runs for: the settings', else the orchestrator's; never a mix of both."""
    if settings.job_nominal_start is None and settings.job_nominal_end is None:
        return data_interval(environment)
    return DataInterval(_utc(settings.job_nominal_start), _utc(settings.job_nominal_end))


def _utc(time: datetime | None) -> datetime | None:
    if time is None:
        return None
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
