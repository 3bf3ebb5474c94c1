"""Status of the graph and its consumers, for a page: its contents, and whether they grow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from headwater_analysis.errors import GraphUnreachableError, TimeLimitError
from headwater_analysis.reader import Reader, Transaction

TIMEOUT_SECONDS = 10.0
"""Maximum time until the graph counts as unreachable."""


class ConsumerState(StrEnum):
    """State of the consumers that write the graph."""

    REPORTING = "REPORTING"
    """All consumers have reported their progress lately."""
    SILENT = "SILENT"
    """A consumer hasn't reported for the time after which a graph may be stale."""
    NEVER = "NEVER"
    """No consumer has ever reported."""


@dataclass(frozen=True, slots=True)
class GraphStatus:
    """Status of the graph and its consumers. Only the first two fields are set if Neo4j doesn't answer.

    Attributes:
        graph_reachable: whether Neo4j answers.
        kafka_reachable: whether Kafka takes events; None if the server accepts no events.
        prepared: whether a consumer has made the graph's indexes.
        consumer: state of the consumers.
        events: number of records of the events topic that the consumers have read, by their offsets; None: unknown, or
            the asker may not see everything.
        behind: number of records on the topic that aren't in the graph yet; None: unknown, or the asker may not see
            everything.
        last_event: time of the latest record in the graph; None: unknown, or the asker may not see everything.
        datasets: number of datasets; each name of a dataset counts.
        jobs: number of jobs.
    """

    graph_reachable: bool
    kafka_reachable: bool | None
    prepared: bool | None = None
    consumer: ConsumerState | None = None
    events: int | None = None
    behind: int | None = None
    last_event: datetime | None = None
    datasets: int | None = None
    jobs: int | None = None


def graph_status(reader: Reader, *, kafka_reachable: bool | None) -> GraphStatus:
    """Return the status of the graph. If Neo4j doesn't answer, this is a status, not an error.

    Args:
        kafka_reachable: whether Kafka takes events, as far as the caller knows.

    Raises:
        GraphRefusedError: Neo4j refuses the account, or the graph has another version.
    """
    seconds = min(TIMEOUT_SECONDS, reader.timeout_seconds)

    def question(tx: Transaction) -> GraphStatus:
        row = tx.one("service/graph")
        counts = tx.one("service/counts")
        progress: Sequence[dict[str, Any]] = row["progress"]
        whole = tx.visible is None
        return GraphStatus(
            graph_reachable=True,
            kafka_reachable=kafka_reachable,
            prepared=row["version"] is not None,
            consumer=_consumer(progress, reader.stale_seconds),
            events=sum(each["next_offset"] for each in progress) if progress and whole else None,
            behind=tx.freshness.behind if whole else None,
            last_event=tx.freshness.last_event if whole else None,
            datasets=counts["datasets"],
            jobs=counts["jobs"],
        )

    try:
        return reader.read(question, timeout_seconds=seconds)
    except (GraphUnreachableError, TimeLimitError):
        return GraphStatus(graph_reachable=False, kafka_reachable=kafka_reachable)


def _consumer(progress: Sequence[dict[str, Any]], stale_seconds: float) -> ConsumerState:
    if not progress:
        return ConsumerState.NEVER
    silent = max(each["now"] - each["at"] for each in progress)
    return ConsumerState.SILENT if silent > stale_seconds * 1_000 else ConsumerState.REPORTING
