from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, cast

import pytest

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
)

AT = datetime(2013, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("signal", "kept"),
    [
        (QueryStarted(event=None, query=None, session=None, at=AT), True),
        (QueryTerminated(event=None, at=AT), True),
        # Without it the writes of micro-batch 8 would be emitted as those of 7.
        (BatchFunctionCalled(frame=None, query_id="q", batch_id=8), True),
        (QueryProgressed(event=None, session=None, at=AT), False),
        (CommandEnded("save", None, None, None, None, AT), False),
    ],
)
def test_where_too_many_wait_only_what_nothing_else_reports_is_taken(signal: Signal, kept: bool) -> None:
    inbox: Inbox[Signal | DrainRequest] = Inbox(limit=0)
    settings = CaptureSettings(kafka_bootstrap_servers="localhost:1")
    unused = cast("Any", None)
    engine = Engine(
        context=unused,
        settings=settings,
        inbox=inbox,
        worker=unused,
        publisher=unused,
        streams=unused,
        end_offsets=unused,
    )
    engine.offer(signal)
    assert (list(inbox.take_waiting()) == [signal]) is kept
    assert inbox.dropped == (not kept)
