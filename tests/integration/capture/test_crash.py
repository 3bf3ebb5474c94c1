"""A driver is killed while it runs, while it catches up and while it starts; the chain equals the checkpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from support.crash.broker import LineageBroker
from support.crash.sweep import Sweep

if TYPE_CHECKING:
    from pathlib import Path

    from support.stack import StackUnderTest

pytestmark = [pytest.mark.spark, pytest.mark.stack]


@pytest.mark.timeout(900)
def test_three_kills(stack: StackUnderTest, topic_prefix: str, tmp_path: Path) -> None:
    admin = AdminClient({"bootstrap.servers": stack.bootstrap_servers, "log_level": 2})
    topics = [NewTopic(f"{topic_prefix}-in", 2, 1), NewTopic(f"{topic_prefix}-out", 1, 1)]
    for made in admin.create_topics(topics).values():
        made.result(30)
    lineage = LineageBroker(stack.bootstrap_servers)
    history = Sweep(tmp_path, stack.bootstrap_servers, lineage, seed=1, topics=f"{topic_prefix}-")
    outbox = {"queries": ("copy",), "sink": "outbox"}
    history.kill_once(phase="running", broker="dead", coalesce=3, **outbox)
    assert history.lives[-1]["waiting"] > 0, "Kafka has nothing, its outbox has"
    history.kill_once(phase="catching up", broker="there", coalesce=1, **outbox)
    history.kill_once(phase="at a start", queries=("copy",), sink="file", broker="there")
    history.end_well(("copy",))
    document = history.document()
    assert document["kills"] == 3
    assert document["micro_batches"]["copy"] > 0
