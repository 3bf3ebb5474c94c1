"""The output of a micro-batch by the sink's own log: EXACT, also where the query was started anew in between.

| sink | its log | a micro-batch's entry |
|---|---|---|
| `FileSink[file:/out]` | `_spark_metadata/` | the file of its number |
| `DeltaSink[file:/t]` | `_delta_log/` | the commit with the transaction (query id, batch id) |
| an Iceberg table | its snapshots | the one whose summary has query id and epoch |

All of them are there before the micro-batch is committed in the checkpoint, and so before its progress is reported.
"""

from __future__ import annotations

import logging

from headwater_producers.spark.connectors.answer import SinkCommit, StreamLog
from headwater_producers.spark.connectors.question import StreamSink
from headwater_producers.spark.connectors.registry import REGISTRY
from headwater_producers.spark.jvm.files import TextFiles
from headwater_producers.spark.plan import PlanOutput
from headwater_schemas.events import Certainty, DatasetUse

logger = logging.getLogger(__name__)


class SinkCommits:
    """The log of one query's sink.

    Args:
        sink: its description, as in a progress.
        query_id: the query's.
        files: to read the log with.
        log: of the sink, where the query's own could be asked.
    """

    def __init__(self, sink: str, query_id: str, files: TextFiles, log: StreamLog | None = None) -> None:
        self._query_id = query_id
        self._log = REGISTRY.stream_log(StreamSink(description=sink, files=files)) or log

    def use(self, output: PlanOutput, batch_id: int, rows: int | None) -> DatasetUse:
        """A micro-batch's use of the one dataset that the sink writes; without a position where its log can't be read.

        Args:
            output: the dataset.
            batch_id: of a micro-batch that is committed.
            rows: as the progress has them; of sinks of the first API it has none.
        """
        commit = self._commit(batch_id)
        if commit is None:
            return DatasetUse(dataset=output.dataset, rows=rows)
        return DatasetUse(
            dataset=output.dataset,
            position=commit.position,
            certainty=Certainty.EXACT,
            rows=commit.counts.rows if rows is None else rows,
            bytes=commit.counts.bytes,
            files=commit.counts.files,
        )

    def _commit(self, batch_id: int) -> SinkCommit | None:
        if self._log is None:
            return None
        try:
            return self._log.written(self._query_id, batch_id)
        except Exception as error:
            # A log that is being cleaned up, a file cut short, a catalog that doesn't answer.
            logger.info(
                "lineage capture: query %s: outputs of micro-batch %d unknown (%s)",
                self._query_id,
                batch_id,
                type(error).__name__,
            )
            return None


def sink_at(files: TextFiles, path: str) -> str:
    """The description of a sink that writes to `path`, by the log there; empty where that can't be read."""
    try:
        return REGISTRY.sink_at(path, files) or ""
    except Exception:
        # A topic, a table of another machine: nothing that these files can read.
        logger.debug("no sink's log at %s", path, exc_info=True)
        return ""
