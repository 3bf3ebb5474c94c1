"""The checks of each body."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater_consumers.materializer.fold.reject_uses import check_dataset, check_uses
from headwater_consumers.materializer.fold.rejection import need
from headwater_consumers.materializer.fold.storable import check_finite
from headwater_schemas.events import EventKind, LineageEvent
from headwater_schemas.identity import plan_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from headwater_schemas.events import ColumnLineage, DatasetRef


def _run(event: LineageEvent) -> None:
    body = event.run_event
    assert body is not None  # noqa: S101 - checked before; for the type checker
    need(event.job, "job", "missing")
    need(event.run, "run", "missing")
    for name, above in (("parent", body.parent), ("root", body.root)):
        if above is not None:
            need(above.run_id, f"run_event.{name}.run_id", "empty")
            need(above.job.name, f"run_event.{name}.job.name", "empty")
    need(body.query_id != "", "run_event.query_id", "empty")
    need(body.plan_digest != "", "run_event.plan_digest", "empty")
    check_uses(body.inputs, "run_event.inputs")
    check_uses(body.outputs, "run_event.outputs")


def _interval(event: LineageEvent) -> None:
    body = event.interval_event
    assert body is not None  # noqa: S101 - checked before; for the type checker
    need(event.job, "job", "missing")
    need(body.query_id, "interval_event.query_id", "empty")
    need(body.entries, "interval_event.entries", "empty")
    expected = body.entries[0].batch_id
    need(expected >= 0, "interval_event.entries[0].batch_id", "negative")
    for index, entry in enumerate(body.entries):
        at = f"interval_event.entries[{index}]"
        need(entry.batch_id == expected, f"{at}.batch_id", f"{entry.batch_id}, not {expected}: not consecutive")
        expected += 1
        need(entry.plan_digest != "", f"{at}.plan_digest", "empty")
        check_uses(entry.inputs, f"{at}.inputs")
        check_uses(entry.outputs, f"{at}.outputs")
        for result in entry.quality:
            check_finite(result.value, f"{at}.quality.value")


def _plan(event: LineageEvent) -> None:
    body = event.plan_event
    assert body is not None  # noqa: S101 - checked before; for the type checker
    need(event.job, "job", "missing")
    _check_lineage(body.lineage, "plan_event.lineage")
    need(body.digest == plan_digest(body.lineage), "plan_event.digest", "not the digest of this lineage")


def _dataset(event: LineageEvent) -> None:
    body = event.dataset_event
    assert body is not None  # noqa: S101 - checked before; for the type checker
    check_dataset(body.dataset, "dataset_event.dataset")
    if body.previous is not None:
        check_dataset(body.previous, "dataset_event.previous")
    if body.schema is not None:
        paths = [field.path for field in body.schema.fields]
        need(len(set(paths)) == len(paths), "dataset_event.schema.fields", "a path is there twice")


def _job(event: LineageEvent) -> None:
    body = event.job_event
    assert body is not None  # noqa: S101 - checked before; for the type checker
    need(event.job, "job", "missing")
    _check_datasets(body.inputs or (), "job_event.inputs")
    _check_datasets(body.outputs or (), "job_event.outputs")
    if body.lineage is not None:
        _check_lineage(body.lineage, "job_event.lineage")


def _check_datasets(datasets: Iterable[DatasetRef], field: str) -> None:
    for index, dataset in enumerate(datasets):
        check_dataset(dataset, f"{field}[{index}]")


def _check_lineage(lineage: ColumnLineage, field: str) -> None:
    _check_datasets(lineage.datasets, f"{field}.datasets")
    known = range(len(lineage.datasets))
    for index, edge in enumerate(lineage.edges):
        at = f"{field}.edges[{index}]"
        need(edge.output in known, f"{at}.output", f"{edge.output} is no index into the {len(known)} datasets")
        if edge.input is None:
            need(edge.input_field is None, f"{at}.input_field", "set without an input")
        else:
            need(edge.input in known, f"{at}.input", f"{edge.input} is no index into the {len(known)} datasets")


CHECKS: Mapping[str, tuple[str, Callable[[LineageEvent], None]]] = {
    EventKind.RUN.value: ("run_event", _run),
    EventKind.INTERVAL.value: ("interval_event", _interval),
    EventKind.PLAN.value: ("plan_event", _plan),
    EventKind.DATASET.value: ("dataset_event", _dataset),
    EventKind.JOB.value: ("job_event", _job),
}
"""Kind to the field of its body and the body's check."""
