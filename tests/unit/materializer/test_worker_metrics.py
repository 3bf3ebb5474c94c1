"""Metrics and health of several workers as one."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from headwater_consumers.materializer.health import Health, HealthServer
from headwater_consumers.materializer.metrics import Dependency, Metrics
from headwater_consumers.materializer.worker_metrics import Workers, merged
from support.waiting import patience


class Worker:
    def __init__(self) -> None:
        self.now = 0.0
        self.metrics = Metrics()
        self.health = Health(self.metrics, lambda: self.now)
        self.server = HealthServer(self.health, self.metrics.registry, port=0, host="127.0.0.1")
        for dependency in Dependency:
            self.health.up(dependency, up=True)


@pytest.fixture
def pair() -> Iterator[tuple[Worker, Worker]]:
    workers = Worker(), Worker()
    yield workers
    for worker in workers:
        worker.server.close()


def supervised(pair: tuple[Worker, Worker]) -> Workers:
    workers = Workers(2)
    workers.ports.update({number: worker.server.port for number, worker in enumerate(pair)})
    return workers


def test_each_series_has_its_worker(pair: tuple[Worker, Worker]) -> None:
    pair[0].metrics.consumed(3)
    pair[1].metrics.consumed(4)
    registry = CollectorRegistry()
    registry.register(supervised(pair))
    lines = generate_latest(registry).decode().splitlines()
    assert [line for line in lines if line.startswith("headwater_materializer_records_consumed_total")] == [
        'headwater_materializer_records_consumed_total{worker="0"} 3.0',
        'headwater_materializer_records_consumed_total{worker="1"} 4.0',
    ]
    assert lines.count("# TYPE headwater_materializer_records_consumed_total counter") == 1
    assert 'headwater_materializer_up{end="kafka",worker="1"} 1.0' in lines
    names = {line.split("{")[0].split()[0] for line in generate_latest(pair[0].metrics.registry).decode().splitlines()}
    assert names <= {line.split("{")[0].split()[0] for line in lines}, "none is lost"


def test_one_that_doesnt_answer_has_no_series(pair: tuple[Worker, Worker]) -> None:
    workers = supervised(pair)
    pair[1].server.close()
    found = {sample.labels["worker"] for metric in workers.collect() for sample in metric.samples}
    assert found == {"0"}
    assert not workers.ready
    assert workers.document()["worker_1"] is None


def test_a_label_of_a_series_stays(pair: tuple[Worker, Worker]) -> None:
    (metric,) = merged({7: '# TYPE a gauge\na{b="c",d="e\\"f"} 1.5\n'})
    assert [sample.labels for sample in metric.samples] == [{"b": "c", "d": 'e"f', "worker": "7"}]


def test_ready_when_all_run_and_some_have_partitions(pair: tuple[Worker, Worker]) -> None:
    workers = supervised(pair)
    seen = [workers.ready]
    # One is enough: there may be more workers than partitions.
    pair[0].health.assigned(2)
    seen.append(workers.ready)
    pair[1].health.up(Dependency.NEO4J, up=False)
    seen.append(workers.ready)
    pair[1].health.up(Dependency.NEO4J, up=True)
    seen.append(workers.ready)
    # One is being replaced.
    del workers.ports[1]
    seen.append(workers.ready)
    assert seen == [False, True, False, True, False]


def test_alive_while_every_loop_moves(pair: tuple[Worker, Worker]) -> None:
    workers = supervised(pair)
    assert [workers.alive, workers.document()["alive"]] == [True, True]
    pair[1].now = 1_000.0
    assert [workers.alive, workers.document()["alive"]] == [False, False]


def test_one_that_answers_nothing_for_a_minute_is_not_alive(pair: tuple[Worker, Worker]) -> None:
    workers = Workers(2, lambda: pair[0].now)
    workers.ports.update(supervised(pair).ports)
    pair[1].server.close()
    seen = [workers.alive]  # it may be busy
    pair[0].now = 59.0
    pair[0].health.moved()
    seen.append(workers.alive)
    pair[0].now = 61.0
    seen.append(workers.alive)
    # It ended, and is started again.
    del workers.ports[1]
    seen.append(workers.alive)
    assert seen == [True, True, False, True]


def test_silent_workers_are_waited_for_together() -> None:
    """Each answers only once all of them have been asked."""
    asked = threading.Barrier(3)

    def answer(listening: socket.socket) -> None:
        connection, _ = listening.accept()
        with connection, contextlib.suppress(threading.BrokenBarrierError):
            asked.wait(patience(1))
            connection.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: 9\r\n\r\nup 1.0\n\n\n")

    with contextlib.ExitStack() as stack:
        listeners = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(3)]
        workers = Workers(3)
        workers.ports.update({number: each.getsockname()[1] for number, each in enumerate(listeners)})
        for each in listeners:
            threading.Thread(target=answer, args=[each], daemon=True).start()
        found = {sample.labels["worker"] for metric in workers.collect() for sample in metric.samples}
    assert found == {"0", "1", "2"}


def test_one_that_ends_in_the_middle_of_its_answer_has_none() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        workers = Workers(1)
        workers.ports[0] = listening.getsockname()[1]

        def half() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(1_000)
                connection.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: 99\r\n\r\n{")

        threading.Thread(target=half, daemon=True).start()
        assert workers.document()["worker_0"] is None
