"""Left writes: batch writes whose driver ended without reporting the write's end; and the recovered end.

The facet `headwater_write` of START has all facts for finding the write's commit later: by the next process that
attaches, and by `headwater reconcile TABLE`, which reads the facet from the graph.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from headwater_producers.spark.events.batch import NOTHING_WRITTEN, UNKNOWN_OUTPUTS
from headwater_producers.spark.events.writes import Counts
from headwater_producers.spark.plan import PlanDescription
from headwater_schemas.events import (
    Certainty,
    DatasetRef,
    DatasetUse,
    JobRef,
    LineageEvent,
    ParentRun,
    Position,
    ProcessingType,
    Provenance,
    PublicationState,
    RunError,
    RunEvent,
    RunEventType,
    RunRef,
    build,
)
from headwater_schemas.facets import WRITE_FACET

_MARK: Final = "headwater"


def mark_of(run_id: str) -> str:
    """Return the mark of an application's commits: its run's id, as JSON."""
    return json.dumps({_MARK: {"run": run_id}})


def marked_run(text: object) -> str | None:
    """Return the id of the application's run in a mark; None for any other text."""
    try:
        found = json.loads(str(text))[_MARK]["run"]
    except (ValueError, KeyError, TypeError):
        return None
    return str(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteTarget:
    """Target dataset of a write.

    Attributes:
        format: `delta`, `iceberg`, `parquet`, …; None if unknown.
        names: the dataset's other names, in catalogs.
    """

    dataset: DatasetRef
    format: str | None = None
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftWrite:
    """Announced write without a reported end.

    Attributes:
        started_at: start by its driver's clock.
        seen_at: time of the last observation of the running write, by the same clock.
        application: Spark's id of its application.
        app_run: id of the application's run.
        marked: True if the application's commits name its run.
        command: the plan's command.
        transaction: Delta's application and version of an idempotent write.
        claimed: versions of its target that are known to belong to other runs.
    """

    tenant: str
    job: JobRef
    run_id: str
    started_at: datetime
    seen_at: datetime
    application: str
    app_run: str
    marked: bool = False
    command: str | None = None
    transaction: tuple[str, int] | None = None
    targets: tuple[WriteTarget, ...] = ()
    inputs: tuple[DatasetRef, ...] = ()
    parent: ParentRun | None = None
    root: ParentRun | None = None
    claimed: frozenset[str] = frozenset()


def write_facet(
    description: PlanDescription,
    *,
    application: str,
    app_run: str,
    marked: bool,
    producer: str,
    transaction: tuple[str, int] | None = None,
) -> str:
    """Build the facet of a write's START.

    Args:
        marked: True if the application's commits name its run.
    """
    outputs = [
        {
            "namespace": output.dataset.namespace,
            "name": output.dataset.name,
            "format": output.format,
            "names": [link.name for link in output.symlinks],
        }
        for output in description.outputs
    ]
    facet = {
        "application": application,
        "run": app_run,
        "marked": marked,
        "command": description.command,
        "transaction": transaction,
    }
    return json.dumps({"_producer": producer, **facet, "outputs": outputs}, sort_keys=True)


def left_write(start: LineageEvent, *, seen_at: datetime, claimed: Iterable[str] = ()) -> LeftWrite | None:
    """Return the write that a START announced; None for any other event.

    Args:
        seen_at: time of the last observation of the running write.
        claimed: versions of its target that belong to other runs.
    """
    body = start.run_event
    if body is None or start.job is None or start.run is None or WRITE_FACET not in body.run_facets:
        return None
    return with_facet(
        body.run_facets[WRITE_FACET],
        tenant=start.tenant,
        job=start.job,
        run_id=start.run.run_id,
        started_at=body.started_at or start.event_time,
        seen_at=seen_at,
        inputs=tuple(use.dataset for use in body.inputs),
        parent=body.parent,
        root=body.root,
        claimed=frozenset(claimed),
    )


def with_facet(facet: str, **known: Any) -> LeftWrite | None:
    """Build a write from its START's facet and other facts; None if the facet has another form."""
    try:
        found = json.loads(facet)
        return LeftWrite(
            application=str(found["application"]),
            app_run=str(found["run"]),
            marked=bool(found["marked"]),
            command=found["command"],
            transaction=None if (made := found.get("transaction")) is None else (str(made[0]), int(made[1])),
            targets=tuple(
                WriteTarget(
                    dataset=DatasetRef(each["namespace"], each["name"]),
                    format=each["format"],
                    names=tuple(map(str, each["names"])),
                )
                for each in found["outputs"]
            ),
            **known,
        )
    except (ValueError, KeyError, TypeError, IndexError):
        return None


class WriteFate(StrEnum):
    """Verdict about a write whose driver is gone.

    Attributes:
        COMMITTED: the log has this write's commit.
        NOTHING: the log has no commit of this write, and goes back to the write's start.
        UNKNOWN: the log shows neither.
    """

    COMMITTED = "COMMITTED"
    NOTHING = "NOTHING"
    UNKNOWN = "UNKNOWN"


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteOutcome:
    """Outcome of a write, by a table's log.

    Attributes:
        verdict: committed, nothing or unknown.
        reason: explanation of a verdict other than COMMITTED.
        position, certainty: version that the write made, and the certainty of this version.
        counts: rows, bytes and files written.
    """

    verdict: WriteFate
    reason: str = ""
    at: datetime | None = None
    position: Position | None = None
    certainty: Certainty = Certainty.UNKNOWN
    counts: Counts = field(default_factory=Counts)


def unknown(reason: str) -> WriteOutcome:
    """Return an outcome without evidence."""
    return WriteOutcome(verdict=WriteFate.UNKNOWN, reason=reason)


def nothing(reason: str) -> WriteOutcome:
    """Return the outcome that nothing was committed."""
    return WriteOutcome(verdict=WriteFate.NOTHING, reason=reason)


def recovered_end(
    write: LeftWrite, outcome: WriteOutcome, *, producer: str, plan_digest: str | None = None
) -> LineageEvent:
    """Build the recovered end of a run, RECONCILED: COMPLETE with its committed version, else ABORT.

    The end's time is that of the commit, or of the last observation of the run, so repeated events are equal.
    """
    common: dict[str, Any] = {
        "processing_type": ProcessingType.BATCH,
        "inputs": tuple(DatasetUse(dataset=each) for each in write.inputs),
        "started_at": write.started_at,
        "parent": write.parent,
        "root": write.root,
        "provenance": Provenance.RECONCILED,
    }
    at = outcome.at or write.seen_at
    if outcome.verdict is WriteFate.COMMITTED:
        use = DatasetUse(
            dataset=write.targets[0].dataset,
            position=outcome.position,
            certainty=outcome.certainty,
            rows=outcome.counts.rows,
            bytes=outcome.counts.bytes,
            files=outcome.counts.files,
        )
        body = RunEvent(
            type=RunEventType.COMPLETE,
            outputs=(use,),
            ended_at=at,
            publication=PublicationState.PUBLISHED,
            plan_digest=plan_digest,
            **common,
        )
    else:
        is_nothing = outcome.verdict is WriteFate.NOTHING
        facet: dict[str, Any] = {"_producer": producer, "reason": outcome.reason}
        if not is_nothing:
            facet |= {"kind": "UNKNOWN", "command": write.command}
        body = RunEvent(
            type=RunEventType.ABORT,
            ended_at=at,
            error=RunError(message=f"The driver ended without reporting the write's outcome: {outcome.reason}"),
            publication=PublicationState.UNPUBLISHED if is_nothing else PublicationState.UNKNOWN,
            run_facets={NOTHING_WRITTEN if is_nothing else UNKNOWN_OUTPUTS: json.dumps(facet, sort_keys=True)},
            **common,
        )
    return _event(write, body, write.job, write.run_id, at, producer)


def application_lost(write: LeftWrite, at: datetime, *, producer: str) -> LineageEvent | None:
    """Build the end of a write's application, whose driver is known to be gone; None if it has no run."""
    if write.parent is None:
        return None
    body = RunEvent(
        type=RunEventType.ABORT,
        ended_at=at,
        error=RunError(message="The driver ended without reporting the application's end."),
        provenance=Provenance.RECONCILED,
    )
    return _event(write, body, write.parent.job, write.parent.run_id, at, producer)


def _event(write: LeftWrite, body: RunEvent, job: JobRef, run_id: str, at: datetime, producer: str) -> LineageEvent:
    return build.lineage_event(body, job=job, run=RunRef(run_id), producer=producer, event_time=at, tenant=write.tenant)
