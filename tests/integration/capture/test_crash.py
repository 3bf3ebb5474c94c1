"""A driver is killed while it runs, while it catches up and while it starts; the chain equals the checkpoint."""

from __future__ import annotations

from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from support.crash.broker import LineageBroker
from support.crash.sweep import Sweep
from support.stack import StackUnderTest
from support.waiting import patience

pytestmark = [pytest.mark.nightly, pytest.mark.spark, pytest.mark.stack]


@pytest.fixture
def history(stack: StackUnderTest, topic_prefix: str, tmp_path: Path) -> Sweep:
    admin = AdminClient({"bootstrap.servers": stack.bootstrap_servers, "log_level": 2})
    topics = [NewTopic(f"{topic_prefix}-in", 2, 1), NewTopic(f"{topic_prefix}-out", 1, 1)]
    for made in admin.create_topics(topics).values():
        made.result(patience(30))
    lineage = LineageBroker(stack.bootstrap_servers)
    return Sweep(tmp_path, stack.bootstrap_servers, lineage, seed=1, topics=f"{topic_prefix}-")


@pytest.mark.timeout(900)
def test_three_kills(history: Sweep) -> None:
    outbox = {"queries": ("copy",), "sink": "outbox"}
    history.kill_once(phase="running", broker="dead", coalesce=3, **outbox)
    assert history.lives[-1]["waiting"] > 0, "Kafka has nothing, its outbox has"
    history.kill_once(phase="catching up", broker="there", coalesce=1, **outbox)
    history.kill_once(phase="at a start", queries=("copy",), sink="file", broker="there")
    history.end_well(("copy",))
    document = history.document()
    assert document["kills"] == 3
    assert document["micro_batches"]["copy"] > 0
    assert document["row_counts_compared"] > 0


@pytest.mark.timeout(900)
def test_kills_of_queries_with_state_and_with_several_outputs(history: Sweep) -> None:
    """Files without duplicates to Parquet, and a batch function that writes two folders, in one driver."""
    queries = ("files", "split")
    history.kill_once(phase="running", queries=queries, sink="outbox", broker="there", coalesce=1)
    history.kill_once(phase="catching up", queries=queries, sink="file", broker="there", coalesce=1)
    history.end_well(queries)
    document = history.document()
    assert all(document["micro_batches"][name] > 0 for name in queries)
    assert document["row_counts_compared"] > 0
