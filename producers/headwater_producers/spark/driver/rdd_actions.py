"""RDD actions: lineage of frames that become RDDs, and events of actions on RDDs."""

from __future__ import annotations

from typing import Any, Final

from headwater_producers.spark.connectors.rdd import Origins, origins
from headwater_producers.spark.driver.attribution import Attributor
from headwater_producers.spark.driver.signals import FrameKept, RddActed
from headwater_producers.spark.events.batch import BatchRun
from headwater_producers.spark.events.writes import Counts, Write
from headwater_producers.spark.jvm.paths import qualified
from headwater_producers.spark.plan import KnownFrames, PlanDescription, PlanInput, PlanOutput, SourceKind, WriteMode
from headwater_producers.spark.plan.edges import whole_lineage
from headwater_producers.spark.streaming.links import BatchLinks, MicroBatch
from headwater_schemas import naming
from headwater_schemas.events import Storage
from headwater_schemas.redaction import redact

RDD_FACET: Final = "headwater_rdd"
"""Run facet of an action on an RDD: PySpark's method, and Spark's own description of the RDD."""

MAX_DEBUG_CHARS: Final = 4_000

_FORMATS: Final = {"saveAsTextFile": "text", "saveAsPickleFile": "pickle", "saveAsSequenceFile": "sequence"}
_REASON: Final = "what code makes of an RDD's rows isn't known"


class RddDispatch:
    """Dispatch of frames and RDDs, on the worker's thread.

    Args:
        attributor: finds a plan's micro-batch.
        links: the foreachBatch calls seen.
    """

    def __init__(self, spark: Any, attributor: Attributor, links: BatchLinks, frames: KnownFrames) -> None:
        self._spark = spark
        self._attributor = attributor
        self._links = links
        self._frames = frames

    def kept(self, signal: FrameKept) -> None:
        """Remember the lineage of a frame whose rows continue in an RDD or a new plan."""
        execution = signal.source.queryExecution()
        attribution, description = self._attributor.described(execution, signal.session)
        if description.upstream is None:
            return
        number = _rdd_of(signal)
        self._frames.remember(number, description.upstream)
        if attribution.batch is not None:
            self._links.kept(number, attribution.batch)

    def read(self, rdd: Any) -> tuple[PlanInput, ...]:
        """List the known inputs of a `JavaRDD`."""
        return origins(rdd.rdd(), self._frames).inputs

    def acted(self, signal: RddActed) -> tuple[BatchRun, MicroBatch | None]:
        """Describe an action on an RDD as a run, with its micro-batch."""
        rdd = signal.rdd.rdd()
        found = origins(rdd, self._frames)
        facet: dict[str, Any] = {"action": signal.action}
        if signal.error is None:
            # To describe the RDD of a failed action, Spark might list files again.
            facet["toDebugString"] = redact(str(rdd.toDebugString()), max_chars=MAX_DEBUG_CHARS)
        run = BatchRun(
            write=Write(description=self._description(signal, found), written=Counts()),
            started_at=signal.started_at,
            ended_at=signal.ended_at,
            error=signal.error,
            facets={RDD_FACET: facet},
        )
        return run, self._links.made_of(found.ids) or (self._links.call(*signal.inside) if signal.inside else None)

    def _description(self, signal: RddActed, found: Origins) -> PlanDescription:
        outputs = () if signal.path is None else (self._files(signal.path, _FORMATS.get(signal.action)),)
        problems = [_REASON, *found.problems]
        return PlanDescription(
            inputs=found.inputs,
            outputs=outputs,
            lineage=whole_lineage((o.dataset for o in outputs), (i.dataset for i in found.inputs), problems),
            command=signal.action,
            writes_unknown=not outputs,
        )

    def _files(self, path: str, file_format: str | None) -> PlanOutput:
        return PlanOutput(
            dataset=naming.path(qualified(self._spark.sparkContext, path)),
            kind=SourceKind.FILE,
            type="FILE",
            mode=WriteMode.ERROR_IF_EXISTS,
            format=file_format,
            storage=Storage("file", file_format) if file_format else None,
        )


def _rdd_of(signal: FrameKept) -> int:
    if signal.rdd is not None:
        return int(signal.rdd.rdd().id())
    return int(signal.frame.queryExecution().analyzed().rdd().id())
