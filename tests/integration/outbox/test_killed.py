"""kill -9 at 61 moments: whatever was reported as durable reaches Kafka, and nothing that was never put."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from headwater_producers.outbox import Outbox
from support.fake_producer import FakeCluster
from support.outbox import delivered, metrics, publisher
from support.waiting import eventually

ROUNDS = 61


@pytest.mark.timeout(300)
@pytest.mark.parametrize("seed", [20_261_121])
def test_whatever_was_durable_is_relayed_by_the_next(tmp_path: Path, seed: int) -> None:
    path = os.pathsep.join([str(Path(__file__).parents[2]), *sys.path])
    killed = subprocess.run(
        [sys.executable, "-m", "support.outbox_killing", str(tmp_path), str(ROUNDS), str(seed)],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert killed.returncode == 0, killed.stderr
    put, durable = _logged(tmp_path / "log")
    before = set((tmp_path / "kafka").read_text().split())
    assert len(durable) > 500, "the rounds got somewhere"

    cluster = FakeCluster()
    with Outbox(tmp_path / "outbox", publisher(cluster), metrics=metrics()) as outbox:
        eventually(lambda: delivered(cluster) != [] and outbox.figures().events == 0, 120, expecting="all is relayed")
    after = delivered(cluster)

    assert durable - before, "some were left for the next start"
    assert durable <= before | set(after)
    assert before | set(after) <= put
    assert len(after) == len(set(after)), "each once: the files are relayed once"
    assert not (tmp_path / "outbox").exists()


def _logged(path: Path) -> tuple[set[str], set[str]]:
    put: set[str] = set()
    durable: set[str] = set()
    waiting: list[str] = []
    for line in path.read_text().splitlines():
        what, name = line.split()
        if waiting and name.split("-")[0] != waiting[0].split("-")[0]:
            waiting = []  # the next round
        if what == "put":
            put.add(name)
            waiting.append(name)
        else:
            durable.update(waiting)
            waiting = []
    return put, durable
