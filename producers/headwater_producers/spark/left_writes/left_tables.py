"""Outcomes of batch writes whose driver is gone, by the logs of their target tables."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from py4j.protocol import Py4JError

from headwater_producers.spark.connectors.delta.witness import left_in_delta
from headwater_producers.spark.connectors.iceberg.witness import CurrentMetadata, left_in_iceberg
from headwater_producers.spark.events.left_writes import (
    LeftWrite,
    WriteFate,
    WriteOutcome,
    application_lost,
    recovered_end,
    unknown,
)
from headwater_producers.spark.events.run_error import first_line
from headwater_producers.spark.jvm.files import TextFiles, TextFolder
from headwater_schemas.events import DatasetRef, LineageEvent

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class KeptWrite:
    """Open write of a dead driver, with the event of its plan, if known."""

    write: LeftWrite
    plan: LineageEvent | None


class KeptWrites:
    """Store of an application's open writes, for the next process of the same job; without an outbox it keeps none."""

    def add(self, start: LineageEvent, plan: LineageEvent | None) -> None:
        """Add an announced write."""

    def seen(self, at: datetime) -> None:
        """Record that all open writes were observed running."""

    def claim(self, run_id: str, version: str) -> None:
        """Record that a version of an open write's target belongs to another run."""

    def remove(self, run_id: str) -> None:
        """Remove a write that has ended, once its end is durable."""

    def close(self) -> None:
        """Close the store at the end of capture. Open writes stay for the next process."""

    def left(self) -> Iterator[list[KeptWrite]]:
        """Yield the writes that each dead driver of the same job has left."""
        return iter(())


def location(dataset: DatasetRef) -> str:
    """Return the Hadoop path of a dataset that is named by its path."""
    if dataset.namespace == "file":
        return dataset.name
    # Hadoop's connector for S3 has a scheme of its own.
    return f"{dataset.namespace.replace('s3://', 's3a://')}/{dataset.name.lstrip('/')}"


def became_of(write: LeftWrite, files: TextFiles, current: CurrentMetadata | None = None) -> WriteOutcome:
    """Determine the outcome of a write. Never raises: a log that can't be read gives no verdict.

    Args:
        write: the write whose driver is gone.
        current: current metadata of Iceberg tables in the catalogs of a session; None without a session.
    """
    if len(write.targets) != 1:
        return unknown("the write has several targets" if write.targets else "the write's target isn't known")
    [target] = write.targets
    table = TextFolder(location(target.dataset), files)
    try:
        match target.format:
            case "delta":
                return left_in_delta(table, write)
            case "iceberg":
                return left_in_iceberg(table, write, current)
            case _:
                return unknown("the target's format doesn't record which write added a file")
    except (OSError, ValueError, KeyError, Py4JError) as error:
        logger.debug("lineage capture: the log of a table can't be read", exc_info=True)
        return unknown(f"the target's log can't be read: {first_line(error)}")


def ends_of(
    left: list[KeptWrite], files: TextFiles, current: CurrentMetadata | None = None, *, producer: str
) -> Iterator[LineageEvent]:
    """Build the events that end the runs of one dead driver, its application's run last.

    Args:
        current: see `became_of`.
    """
    for kept in left:
        outcome = became_of(kept.write, files, current)
        digest = None
        if outcome.verdict is WriteFate.COMMITTED and kept.plan is not None and kept.plan.plan_event is not None:
            digest = kept.plan.plan_event.digest
            yield kept.plan
        logger.info(
            "lineage capture: run %s of a dead driver: %s %s", kept.write.run_id, outcome.verdict, outcome.reason
        )
        yield recovered_end(kept.write, outcome, producer=producer, plan_digest=digest)
    if left:
        latest = max(left, key=lambda kept: kept.write.seen_at).write
        if (lost := application_lost(latest, latest.seen_at, producer=producer)) is not None:
            yield lost
