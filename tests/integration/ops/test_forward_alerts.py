"""Alerts on `headwater forward`: a collector that is away, refuses, and takes what waits."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from integration.openlineage.test_forward import ForwardProcess
from support.collector import collecting
from support.materializer import events
from support.materializer.worlds import RealWorld
from support.prometheus_server import free_port, prometheus

pytestmark = [pytest.mark.nightly, pytest.mark.stack, pytest.mark.timeout(600)]


def test_the_collector_is_away_and_refuses(settings: dict[str, str], world: RealWorld, tmp_path: Path) -> None:
    port, numbers = free_port(), itertools.count()
    given = {**settings, "HEADWATER_FORWARD_RETRY_MAX_SECONDS": "1"}

    def arrive() -> None:
        world.put_many(events.good(next(numbers)) for _ in range(5))

    with collecting() as collector, prometheus(tmp_path, {"headwater-forwarders": [port]}) as watching:
        process = ForwardProcess(given, tmp_path / "forward", "--to", collector.url, "--port", str(port))
        try:
            arrive()
            process.until(lambda: len(collector.bodies) == 5, "the first documents")
            away = watching.watch("HeadwaterCollectorAway", "HeadwaterForwardLagGrowing")
            refuses = watching.watch("HeadwaterDocumentsRefused")
            collector.answers.extend([(503, {})] * 1_000)
            away.fire(arrive)
            collector.answers.clear()
            collector.answers.append((422, {}))
            refuses.fire()
            away.clear()
            refuses.clear()
        finally:
            process.end()
        assert "503" in process.stderr
