"""What a run has written in micro-batches that were never committed: its foreachBatch function failed half-way.

Each of those writes is durable, and Spark will run the whole micro-batch again at the next start. They are no interval,
since there is none before the commit; so the terminal event of the run reports them.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from headwater_producers.spark.events.writes import outputs_inside

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headwater_producers.spark.events.writes import Write
    from headwater_producers.spark.streaming.run import StreamRun
    from headwater_schemas.events import DatasetUse

UNCOMMITTED_FACET: Final = "headwater_uncommitted"
"""The run facet of a streaming run that ended within a micro-batch: `{"batches": [{"batchId": 7, "outputs": [{…}]}]}`.
Of each output `namespace` and `name`, and as far as known `rows` and a table's `version`."""


def uncommitted_writes(run: StreamRun) -> dict[int, Sequence[Write]]:
    """The writes inside foreachBatch of micro-batches that weren't committed, by batch id in order."""
    return {
        batch: writes
        for batch, writes in sorted(run.writes.items())
        if batch not in run.emitted and not run.chain.has(batch)
    }


def facet_of(batches: Mapping[int, Sequence[Write]], producer: str) -> str:
    """The facet's JSON."""
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
