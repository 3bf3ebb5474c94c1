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
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from headwater_producers.spark.connectors.delta.log import DeltaLog, delta_counts, delta_snapshot
from headwater_producers.spark.connectors.files.log import sink_files
from headwater_producers.spark.events.writes import Counts
from headwater_schemas.events import Certainty, DatasetUse, Position

if TYPE_CHECKING:
    from headwater_producers.spark.jvm.files import TextFiles
    from headwater_producers.spark.plan import PlanOutput

logger = logging.getLogger(__name__)

# How sinks describe themselves in the progress; the one place where their path is written out in full.
_SINK: Final = re.compile(r"^(FileSink|DeltaSink)\[(.*)\]$")


@dataclass(frozen=True, slots=True)
class SinkCommit:
    """What a micro-batch has written, and what the sink counted of it."""

    position: Position
    counts: Counts


class Snapshots(Protocol):
    """The snapshots of an Iceberg table that a query writes."""

    def written(self, query_id: str, batch_id: int) -> SinkCommit | None:
        """The one that a micro-batch has made; None where it isn't there (any more)."""


class SinkCommits:
    """The log of one query's sink.

    Args:
        sink: its description, as in a progress.
        query_id: the query's.
        files: to read the log with.
        snapshots: of an Iceberg table, where that can be asked.
    """

    def __init__(self, sink: str, query_id: str, files: TextFiles, snapshots: Snapshots | None = None) -> None:
        self._query_id = query_id
        self._files = files
        self._snapshots = snapshots
        described = _SINK.match(sink)
        kind, self._path = described.groups() if described is not None else ("", "")
        self._is_of_files = kind == "FileSink"
        self._delta = DeltaLog(self._path, files) if kind == "DeltaSink" else None

    def use(self, output: PlanOutput, batch_id: int, rows: int | None) -> DatasetUse:
        """A micro-batch's use of the one dataset that the sink writes; without a position where its log can't be read.

        Args:
            output: the dataset.
            batch_id: of a micro-batch that is committed.
            rows: as the progress has them; of sinks of the first API it has none.
        """
        try:
            commit = self._commit(batch_id)
        except Exception as error:
            # A log that is being cleaned up, a file cut short, a catalog that doesn't answer.
            logger.info(
                "lineage capture: query %s: outputs of micro-batch %d unknown (%s)",
                self._query_id,
                batch_id,
                type(error).__name__,
            )
            commit = None
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
        if self._is_of_files:
            added = sink_files(self._files, self._path, batch_id)
            if added is None:
                return None
            return SinkCommit(Position(files=added), Counts(bytes=added.bytes, files=added.count))
        if self._delta is not None:
            found = self._delta.streamed(self._query_id, batch_id)
            return _of_delta(*found) if found is not None else None
        return self._snapshots.written(self._query_id, batch_id) if self._snapshots is not None else None


def _of_delta(version: int, actions: dict[str, dict[str, object]]) -> SinkCommit:
    info = actions.get("commitInfo", {})
    metrics = info.get("operationMetrics")
    counts = delta_counts(metrics) if isinstance(metrics, dict) else Counts()
    return SinkCommit(delta_snapshot(version, info), counts)


def sink_at(files: TextFiles, path: str) -> str:
    """The description of a sink that writes to `path`, by the log there; empty where that can't be read."""
    try:
        is_delta = bool(files.names(f"{path.rstrip('/')}/_delta_log"))
    except Exception:
        # A topic, a table of another machine: nothing that these files can read.
        logger.debug("no sink's log at %s", path, exc_info=True)
        return ""
    return f"{'DeltaSink' if is_delta else 'FileSink'}[{path}]"
