"""A driver is killed while it starts, while it catches up and while it runs; the chain equals the checkpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

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
    history = Sweep(tmp_path, stack.bootstrap_servers, seed=1, topics=f"{topic_prefix}-")
    history.kill_once("running", ("copy",))
    history.kill_once("catching up", ("copy",))
    history.kill_once("at a start", ("copy",))
    history.end_well(("copy",))
    document = history.document()
    assert document["kills"] == 3
    assert document["micro_batches"]["copy"] > 0
