"""Bounds of the Kafka offsets that batch runs read or wrote, from the topics' states: Spark doesn't report them."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from headwater_producers.spark.connectors.context import SessionContext
from headwater_producers.spark.connectors.kafka.observed_topics import ObservedTopics, writing_ended
from headwater_producers.spark.connectors.kafka.topics import topics_written
from headwater_producers.spark.driver.signals import TopicWriteBegins
from headwater_producers.spark.events.batch import BatchRun
from headwater_producers.spark.jvm.scala import private, setting
from headwater_producers.spark.plan import PlanSettings, SourceKind
from headwater_schemas.events import DatasetUse

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Times:
    """Times of a batch run, for bounds of its offsets."""

    started_at: datetime
    ended_at: datetime

    @property
    def duration_ms(self) -> int:
        return -(-(self.ended_at - self.started_at) // timedelta(milliseconds=1))

    @property
    def before_write_ms(self) -> int:
        return 0


class BatchTopics:
    """Kafka offsets of batch runs. Only for the worker's thread.

    Args:
        topics: observed states of the topics.
    """

    def __init__(self, topics: ObservedTopics, settings: PlanSettings) -> None:
        self._topics = topics
        self._settings = settings

    def begins(self, signal: TopicWriteBegins) -> None:
        """Request the state of a topic before it is written; the writing thread waits briefly for the state."""
        try:
            options = private(signal.writer, "extraOptions")
            if (topic := setting(options, "topic")) is not None:
                context = SessionContext(signal.session, self._settings)
                self._topics.observe(topics_written(options, context, [topic]))
        except Exception:
            # The writer has an unknown form: its write is emitted without offsets.
            logger.debug("lineage capture: a topic that is about to be written can't be asked for", exc_info=True)
        finally:
            signal.asked.set()

    def bounded(self, run: BatchRun) -> BatchRun:
        """Add the known offsets and ids of topics to a successful run."""
        description, times = run.write.description, _Times(run.started_at, run.ended_at)
        read = {each.dataset: each for each in description.inputs if each.kind is SourceKind.KAFKA}
        written = [each for each in description.outputs if each.kind is SourceKind.KAFKA]
        if written:
            self._topics.observe(written, since=writing_ended(times))
        topics = {each.dataset for each in written}
        inputs: Iterable[DatasetUse] = run.write.inputs()
        if read:
            inputs = [
                self._topics.after_read(use, read[use.dataset], run.ended_at, scanned_once=count == 1)
                # A topic without a scan was read earlier, into a cached frame: it may have been recreated since.
                if use.dataset in read and (count := _scans(run, use))
                else use
                for use in inputs
            ]
        outputs = (self._topics.bounded(use, times) if use.dataset in topics else use for use in run.write.outputs())
        return replace(run, inputs=tuple(inputs), outputs=tuple(outputs)) if read or written else run


def _scans(run: BatchRun, use: DatasetUse) -> int:
    return sum(use.dataset.name in scan.names for scan in run.write.scans)
