from __future__ import annotations

import threading
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

from headwater_producers.spark.common.settings import CaptureSettings
from headwater_producers.spark.driver.engine import DrainRequest, Engine
from headwater_producers.spark.driver.listeners import (
    BatchFunctionCalled,
    CommandEnded,
    Inbox,
    QueryProgressed,
    QueryStarted,
    QueryTerminated,
    Signal,
    TopicWriteBegins,
)

if TYPE_CHECKING:
    import pytest

AT = datetime(2013, 1, 1, tzinfo=UTC)


def engine_with(inbox: Inbox[Signal | DrainRequest]) -> Engine:
    unused = cast("Any", None)
    return Engine(
        context=unused,
        settings=CaptureSettings(kafka_bootstrap_servers="localhost:1"),
        inbox=inbox,
        worker=unused,
        publisher=unused,
        streams=unused,
        topic_states=unused,
    )


SIGNALS: list[tuple[Signal, bool]] = [
    (QueryStarted(event=None, query=None, session=None, at=AT), True),
    (QueryTerminated(event=None, at=AT), True),
    # Without it the writes of micro-batch 8 would be emitted as those of 7.
    (BatchFunctionCalled(frame=None, query_id="q", batch_id=8), True),
    (QueryProgressed(event=None, session=None, at=AT), False),
    (CommandEnded("save", None, None, None, None, AT), False),
]


def test_where_too_many_wait_only_what_nothing_else_reports_is_taken(subtests: pytest.Subtests) -> None:
    for signal, kept in SIGNALS:
        with subtests.test(signal=signal):
            inbox: Inbox[Signal | DrainRequest] = Inbox(limit=0)
            engine_with(inbox).offer(signal)
            assert (list(inbox.take_waiting()) == [signal]) is kept
            assert inbox.dropped == (not kept)


def test_a_write_to_a_topic_does_not_wait_for_what_is_not_taken() -> None:
    asked = threading.Event()
    engine_with(Inbox(limit=0)).offer(TopicWriteBegins(writer=None, session=None, asked=asked))
    assert asked.is_set()
    asked = threading.Event()
    engine_with(Inbox(limit=1)).offer(TopicWriteBegins(writer=None, session=None, asked=asked))
    assert not asked.is_set()
