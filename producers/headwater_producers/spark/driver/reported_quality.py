"""Reported quality: results of another tool's checks, as a run of that suite (`Capture.report_quality`)."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import msgspec

from headwater_producers.spark.common.errors import CaptureError
from headwater_producers.spark.events.batch import job_events
from headwater_producers.spark.events.context import EventContext
from headwater_producers.spark.events.dedup_cache import DedupCache
from headwater_producers.spark.execution.describe import describe_plan
from headwater_schemas import naming
from headwater_schemas.events import (
    DatasetRef,
    DatasetUse,
    LineageEvent,
    ProcessingType,
    QualityResult,
    RunEvent,
    RunEventType,
)
from headwater_schemas.quality import rule_of

_FIELDS: Final = frozenset(QualityResult.__struct_fields__) - {"dataset", "suite", "suite_version"}


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityReported:
    """Signal: a suite's checks of a dataset are over."""

    run_id: str
    dataset: DatasetRef
    results: tuple[QualityResult, ...]
    suite: str
    started_at: datetime
    ended_at: datetime


def quality_reported(
    results: Iterable[QualityResult | Mapping[str, Any]],
    *,
    dataset: Any,
    suite: str,
    suite_version: str | None,
    started_at: datetime | None,
    at: datetime,
) -> QualityReported:
    """Build the signal of a report; see `Capture.report_quality`.

    Raises:
        CaptureError: an argument is malformed; the text names the field.
    """
    if not suite:
        raise CaptureError("report_quality needs the name of the suite: suite='orders'")
    about = checked_dataset(dataset)
    found = [_result(each, number) for number, each in enumerate(results)]
    return QualityReported(
        run_id=str(uuid.uuid4()),
        dataset=about,
        results=tuple(
            msgspec.structs.replace(
                each,
                dataset=about,
                rule=each.rule or rule_of(each.assertion),
                suite=suite,
                suite_version=suite_version,
            )
            for each in found
        ),
        suite=suite,
        started_at=started_at or at,
        ended_at=at,
    )


def checked_dataset(dataset: Any) -> DatasetRef:
    """Resolve a dataset from its reference, its path, or a frame that reads only this dataset.

    Raises:
        CaptureError: the argument is none of these, or the frame reads no dataset or several.
    """
    if isinstance(dataset, DatasetRef):
        return dataset
    if isinstance(dataset, str) and "/" in dataset:
        return naming.path(dataset)
    execution = getattr(getattr(dataset, "_jdf", None), "queryExecution", None)
    if execution is None:
        raise CaptureError(
            "report_quality's dataset is a path, a DatasetRef, or a DataFrame that reads it, such as "
            f"spark.table('orders'), not {dataset!r}"[:400]
        )
    inputs = {source.dataset for source in describe_plan(execution().analyzed(), session=dataset.sparkSession).inputs}
    if len(inputs) != 1:
        names = ", ".join(sorted(each.name for each in inputs)) or "none that is known"
        raise CaptureError(f"report_quality's dataset is a DataFrame of one dataset; this one reads {names}")
    return inputs.pop()


def _result(given: QualityResult | Mapping[str, Any], number: int) -> QualityResult:
    if isinstance(given, QualityResult):
        return given
    at = f"report_quality's results[{number}]"
    if not isinstance(given, Mapping):
        raise CaptureError(f"{at} is a mapping such as {{'assertion': 'not_null', 'passed': True}}")
    if unknown := sorted(set(given) - _FIELDS):
        raise CaptureError(f"{at} has a field {unknown[0]!r}; known are {', '.join(sorted(_FIELDS))}")
    try:
        return msgspec.convert(dict(given), QualityResult)
    except msgspec.ValidationError as error:
        raise CaptureError(f"{at}: {error}") from None


def quality_events(context: EventContext, reported: QualityReported, dedup: DedupCache) -> Iterator[LineageEvent]:
    """Build the events of a suite's run: its job if new, START, and COMPLETE with its input and results.

    The run is COMPLETE with any results: a failed check is no failure of the suite's run.
    """
    job = context.job(f"{context.app_name}.{reported.suite}")
    yield from job_events(context, job, ProcessingType.BATCH, "QUALITY", reported.started_at, dedup)
    start = RunEvent(
        type=RunEventType.START,
        processing_type=ProcessingType.BATCH,
        started_at=reported.started_at,
        versions=context.versions,
        parent=context.parent,
        root=context.root,
    )
    yield context.run(start, job=job, run_id=reported.run_id, at=reported.started_at)
    end = msgspec.structs.replace(
        start,
        type=RunEventType.COMPLETE,
        ended_at=reported.ended_at,
        inputs=(DatasetUse(dataset=reported.dataset),),
        quality=reported.results,
    )
    yield context.run(end, job=job, run_id=reported.run_id, at=reported.ended_at)
