"""`bench rivals`, tiny, on the suite's own servers: two consumers apply everything, and deadlocks are counted."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from headwater.console import console
from headwater_benchmarks.rivals.run import Options, run
from headwater_benchmarks.rivals.show import view
from support.borrowed_servers import BorrowedServers
from support.stack import StackUnderTest

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = pytest.mark.nightly


@pytest.mark.timeout(600)
def test_two_consumers_apply_everything(stack: StackUnderTest, topic_prefix: str, clean_database: Driver) -> None:
    options = Options(events=600, minutes=0.05, rate=100, prefix=topic_prefix)
    document = run(options, BorrowedServers(stack, clean_database))
    backlog, live = document["measurements"]
    assert 0 < backlog["events"] <= 600
    assert live["events"] >= 200
    assert backlog["processor_us_per_event"]["consumers"] >= 0
    (goal,) = document["goals"]
    assert goal["value"] == backlog["retries"]["DEADLOCK"] + live["retries"]["DEADLOCK"]
    json.dumps(document)
    out = console.out  # a new one each time that it is asked for
    with out.capture() as captured:
        out.print(view(document))
    assert "deadlocks" in captured.get()
