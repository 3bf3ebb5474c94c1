"""Running streaming query, through py4j. A reference keeps the JVM's query alive."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from typing import Any, Final

from py4j.protocol import Py4JJavaError

from headwater_producers.spark.connectors.connector_answers import StreamLog
from headwater_producers.spark.connectors.connector_questions import StreamSink
from headwater_producers.spark.connectors.registry import REGISTRY, first_answer
from headwater_producers.spark.execution.describe import describe_streaming
from headwater_producers.spark.jvm.event_time import event_time
from headwater_producers.spark.jvm.files import LocalTextFiles
from headwater_producers.spark.jvm.scala import class_name
from headwater_producers.spark.plan import PlanDescription, PlanSettings
from headwater_producers.spark.streaming.stream_run import WATERMARK_POLICY

logger = logging.getLogger(__name__)

# Status messages of `StreamExecution` in Spark 3.5 to 4.1 until its plan is built, and for a moment afterwards.
_BEFORE_PLANNING: Final = frozenset({"Initializing StreamExecution", "Initializing sources"})


class JvmQuery:
    """Run (one start) of a streaming query."""

    def __init__(self, query: Any, session: Any, settings: PlanSettings) -> None:
        self._query = query
        self._session = session
        self._settings = settings

    def is_planned(self) -> bool:
        """Return True if the plan can be read: Spark builds it on the query's thread, soon after `start()` returns."""
        # Without a plan, `logicalPlan` raises an exception, which PySpark converts with a dozen calls.
        if self._query.status().message() in _BEFORE_PLANNING:
            return False
        try:
            self._query.streamingQuery().logicalPlan()
        except Py4JJavaError:
            return False
        return True

    def describe(self, topics: Mapping[int, Collection[str]] | None = None) -> PlanDescription:
        """Describe the query's plan: sources, sink, columns.

        Args:
            topics: topics of the sources that subscribe to a pattern, by index; default: those of the last progress.
        """
        from pyspark.sql.streaming.query import StreamingQuery

        return describe_streaming(
            StreamingQuery(self._query), session=self._session, settings=self._settings, topics=topics
        )

    def checkpoint_location(self) -> str | None:
        """Return the root of the query's checkpoint."""
        location = self._query.streamingQuery().resolvedCheckpointRoot()
        return None if location is None else str(location)

    def event_time(self) -> dict[str, Any]:
        """Return watermarks, stateful operators and retention of state; see `jvm.event_time`. Never raises."""
        try:
            found = event_time(self._query.streamingQuery().logicalPlan(), self._session._jvm)
            if len(found.get("watermarks", ())) > 1:
                found["policy"] = str(self._session.conf.get(WATERMARK_POLICY, "min"))
        except Exception as error:
            logger.info("lineage capture: event-time column of the plan unreadable (%s)", type(error).__name__)
            return {}
        return found

    def is_continuous(self) -> bool:
        """Return True if the trigger is continuous: it reports no progress, and the checkpoint is the only record."""
        return class_name(self._query.streamingQuery()) == "ContinuousExecution"

    def sink_description(self) -> str:
        """Return the sink's description, as in a progress: `FileSink[file:/out]`."""
        return str(self._query.streamingQuery().sink().toString())

    def sink_snapshots(self) -> StreamLog | None:
        """Return the log of the sink's snapshots, if the sink is a table with its log in the JVM."""
        sink = self._query.streamingQuery().sink()
        asked = StreamSink(description="", files=LocalTextFiles(), sink=sink)
        return first_answer(each.stream_log(asked) for each in REGISTRY.of(sink))

    def sink_name(self) -> str:
        """Return the sink's short name, for a sink that writes no dataset: `foreachBatch`, `console`, `noop`."""
        name = class_name(self._query.streamingQuery().sink())
        short = name.removesuffix("Sink").removesuffix("TableProvider").removesuffix("Table") or name
        return short[0].lower() + short[1:]
