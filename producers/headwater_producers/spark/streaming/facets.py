"""Facets of a streaming run's events, each as JSON.

If a foreachBatch function fails, the run ends within a micro-batch. The writes that the function made before are
durable, and Spark runs the whole micro-batch again at the next start. There is no interval for them, since the
micro-batch isn't committed. So the run's terminal event reports them, in the facet `headwater_uncommitted`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from headwater_producers.spark.events.writes import Write, outputs_inside
from headwater_producers.spark.plan import PlanDescription, SourceKind
from headwater_producers.spark.streaming.gaps import GAPS_FACET, gaps_facet
from headwater_producers.spark.streaming.run import STATE_FACET, StreamRun
from headwater_schemas.events import DatasetUse
from headwater_schemas.facets import EVENT_TIME_FACET, SINK_FACET

_MAX_GAPS: Final = 100


def run_facets(run: StreamRun, producer: str) -> dict[str, str]:
    """Return the facets of every event of a run: event time, state, and the last gaps."""
    facets = {}
    if run.event_time:
        facets[EVENT_TIME_FACET] = json.dumps(run.event_time, sort_keys=True)
    if run.batches.state:
        facets[STATE_FACET] = run.batches.state.facet(producer)
    if run.gaps:
        facets[GAPS_FACET] = gaps_facet(run.gaps[-_MAX_GAPS:], producer)
    return facets


def sink_facet(description: PlanDescription | None, sink: str | None, producer: str) -> dict[str, str]:
    """Return the facet with the query's sink, and its callback flag (foreachBatch), for one that may write nothing."""
    link = description.streaming if description is not None else None
    if link is None or sink is None:
        return {}
    about = {"_producer": producer, "name": sink, "callback": link.sink_kind is SourceKind.CALLBACK}
    return {SINK_FACET: json.dumps(about, sort_keys=True)}


UNCOMMITTED_FACET: Final = "headwater_uncommitted"
"""The run facet of a streaming run that ended within a micro-batch: `{"batches": [{"batchId": 7, "outputs": [{…}]}]}`.
Each output has `namespace` and `name`, and if known `rows` and a table's `version`."""


def uncommitted_facet(batches: Mapping[int, Sequence[Write]], producer: str) -> str:
    """Return the facet of uncommitted writes, as JSON."""
    rows = [
        {
            "batchId": batch,
            "outputs": [_output(use) for use in outputs_inside(writes)],
        }
        for batch, writes in batches.items()
    ]
    return json.dumps({"_producer": producer, "batches": rows}, sort_keys=True)


def _output(use: DatasetUse) -> dict[str, Any]:
    snapshot = use.position.table_snapshot if use.position is not None else None
    facts = {
        "namespace": use.dataset.namespace,
        "name": use.dataset.name,
        "rows": use.rows,
        "version": snapshot.snapshot_id if snapshot is not None else None,
    }
    return {key: value for key, value in facts.items() if value is not None}
