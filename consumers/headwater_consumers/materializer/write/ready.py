"""What of a transaction can be worked out without the database: rows of everything as if it were new.

Made on the thread that decodes and folds, so that while one batch is written the next one only has to be sent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from headwater_consumers.facts.delta import GraphDelta
from headwater_consumers.materializer.write.intervals import IntervalRows, interval_rows
from headwater_consumers.materializer.write.links import LinkRows
from headwater_consumers.materializer.write.nodes import NodeRows, QueryRows, VersionRows, dataset_rows, job_rows
from headwater_consumers.materializer.write.plans import plan_rows
from headwater_consumers.materializer.write.runs import RunRows, run_rows


@dataclass(frozen=True, slots=True)
class Ready:
    """A delta with its rows. Writing it changes nothing in it, so that it can be written again."""

    delta: GraphDelta
    jobs: NodeRows
    datasets: NodeRows
    queries: QueryRows
    versions: VersionRows
    runs: RunRows
    plans: list[dict[str, Any]]
    intervals: IntervalRows
    links: LinkRows


def ready(delta: GraphDelta) -> Ready:
    """The rows of a delta."""
    return Ready(
        delta,
        job_rows(delta),
        dataset_rows(delta),
        QueryRows(delta),
        VersionRows(delta),
        run_rows(delta),
        plan_rows(delta),
        interval_rows(delta),
        LinkRows(delta),
    )
