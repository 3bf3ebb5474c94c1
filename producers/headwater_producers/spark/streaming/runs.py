"""The runs of an application's queries that haven't ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater_producers.spark.streaming.run import StreamRun

if TYPE_CHECKING:
    from headwater_producers.spark.streaming.links import MicroBatch


class Runs(dict[str, StreamRun]):
    """By run id, in the order of their starts."""

    def latest_of(self, query_id: str) -> StreamRun | None:
        """The latest run of a query, which is the only one that may be active."""
        return next((run for run in reversed(self.values()) if run.query_id == query_id), None)

    def executing(self, batch: MicroBatch) -> StreamRun | None:
        """The run that executes, or has executed, a micro-batch."""
        return self.latest_of(batch.query_id) if batch.run_id is None else self.get(batch.run_id)
