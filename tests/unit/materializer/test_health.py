"""Health and metrics over HTTP, on a free port."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest

from headwater_consumers.materializer.health import Health, HealthServer
from headwater_consumers.materializer.metrics import Dependency, Metrics
from support.materializer.clock import FakeClock
from support.waiting import patience


class Served:
    def __init__(self) -> None:
        self.clock = FakeClock()
        self.metrics = Metrics()
        self.health = Health(self.metrics, self.clock)
        self.server = HealthServer(self.health, self.metrics.registry, port=0, host="127.0.0.1")

    def get(self, path: str) -> tuple[int, str]:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.server.port}{path}", timeout=patience(5)) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()


@pytest.fixture
def served() -> Iterator[Served]:
    served = Served()
    yield served
    served.server.close()


def test_ready_needs_partitions_and_both_ends(served: Served) -> None:
    assert served.get("/readyz")[0] == 503
    served.health.up(Dependency.KAFKA, up=True)
    served.health.up(Dependency.NEO4J, up=True)
    assert served.get("/readyz")[0] == 503
    served.health.assigned(3)
    assert served.get("/readyz")[0] == 200
    served.health.up(Dependency.NEO4J, up=False)
    status, body = served.get("/readyz")
    assert status == 503
    assert json.loads(body)["neo4j_reachable"] is False


def test_alive_is_moving_whatever_the_ends_do(served: Served) -> None:
    served.clock.advance(59)
    assert served.get("/livez")[0] == 200
    served.clock.advance(2)
    assert served.get("/livez")[0] == 503
    served.health.moved()
    assert served.get("/livez")[0] == 200


def test_every_series_of_a_closed_label_is_there_from_the_start(served: Served) -> None:
    status, text = served.get("/metrics")
    assert status == 200
    assert 'headwater_materializer_dead_letters_total{reason="WRITE_REFUSED"} 0.0' in text
    assert 'headwater_materializer_step_duration_seconds_count{step="commit"} 0.0' in text
    assert 'headwater_materializer_rebalances_total{kind="lost"} 0.0' in text


def test_other_paths_are_not_found(served: Served) -> None:
    assert served.get("/")[0] == 404


def test_a_port_that_is_taken_says_so(served: Served) -> None:
    with pytest.raises(OSError, match="in use"):
        HealthServer(served.health, Metrics().registry, port=served.server.port, host="127.0.0.1")
