"""A pipeline's events on a topic, a consumer that follows it, and the commands of this process on both."""

from __future__ import annotations

import itertools
import signal
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from headwater_analysis.declaring.files import read_file
from headwater_schemas.codec import encode
from headwater_schemas.events import Certainty, DatasetRef
from support.analysis.chains import BEGIN, Entry, Stream, files_use, kafka_use, ran
from support.following import followed, followed_demo, headwater, settings
from support.materializer.process import consuming, run_until_caught_up
from support.materializer.worlds import RealWorld
from support.stack import StackUnderTest

__all__ = ["followed", "followed_demo", "followed_pipeline", "headwater", "pipeline_graph", "settings"]

DECLARED = """\
set: s
namespace: file
datasets: [{name: /lake/clean, owners: [team:lake]}]
consumers: [{name: board, reads: [/lake/clean], on_call: "#board"}]
"""


def pipeline() -> Stream:
    """The query `enrich`: batch 3 reads raw 0:30..40, and writes a file of the partition day=3 of /lake/clean."""
    stream = Stream("enrich")
    for batch in range(10):
        read = kafka_use("raw", {0: (batch * 10, batch * 10 + 10)}, Certainty.EXACT)
        stream.entries.append(Entry(batch, (read,), (files_use("/lake/clean", [f"day={batch}/part"]),)))
    return stream


@pytest.fixture
def pipeline_graph(stack: StackUnderTest, topic_prefix: str, settings: dict[str, str]) -> dict[str, str]:
    """The pipeline and a declared consumer of its table are in the graph; nothing consumes further events."""
    declared = read_file("s.yaml", DECLARED).events(1, tenant="default", event_time=BEGIN)
    other = ran("other", [DatasetRef("file", "/lake/a")], [DatasetRef("file", "/lake/b")], at=0)
    world = RealWorld(stack, topic_prefix)
    world.put_many([encode(event) for event in (*pipeline().events(), other, *declared)])
    world.close()
    run_until_caught_up(settings)
    return settings


@pytest.fixture
def followed_pipeline(pipeline_graph: dict[str, str]) -> Iterator[dict[str, str]]:
    """The pipeline is in the graph, and a consumer runs."""
    with consuming(pipeline_graph):
        yield pipeline_graph


@pytest.fixture
def stop_after(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any, str, int], None]:
    """Sends SIGINT at the end of a round of a command that repeats its work."""

    def stopped_after(module: Any, name: str, last: int) -> None:
        one_round, numbers = getattr(module, name), itertools.count(1)

        def counted(*arguments: Any, **options: Any) -> Any:
            found = one_round(*arguments, **options)
            if next(numbers) == last:
                signal.raise_signal(signal.SIGINT)
            return found

        monkeypatch.setattr(module, name, counted)

    return stopped_after
