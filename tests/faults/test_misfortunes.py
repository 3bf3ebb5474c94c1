"""Misfortunes of installations: a broker at another address, full disks, wrong clocks, processes that are replaced.

Each process goes on by itself, the operator sees why it stood, and nothing is lost. Faults of consumers, servers and
links are in `test_soak.py`.
"""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from headwater import cli
from headwater_benchmarks.soak.servers import Disk
from support.clock import Clock
from support.installation import Installation, run_of
from support.stack import StackUnderTest
from support.waiting import eventually, patience

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = [pytest.mark.nightly, pytest.mark.stack, pytest.mark.timeout(600)]


class SmallDisk:
    """A file system in memory.

    Args:
        folder: where it is; it isn't there yet.
        megabytes: its size.
    """

    def __init__(self, folder: Path, megabytes: int) -> None:
        disk = Disk.mounted(folder, megabytes)
        if disk is None:
            pytest.skip("a small file system can be mounted by root on Linux only")
        self._disk, self._rest = disk, folder / "rest"

    def fill(self) -> None:
        """Leave no byte."""
        assert self._disk.fill()
        with self._rest.open("wb", buffering=0) as rest, contextlib.suppress(OSError):
            while rest.write(bytes(4_096)):
                pass

    def empty(self) -> None:
        """Give the room back."""
        self._rest.unlink()
        self._disk.empty()

    def unmount(self) -> None:
        """Take it away."""
        self._disk.unmount()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[str, int], SmallDisk]]:
    """Makes one of a folder of the installation, with so many megabytes."""
    made: list[SmallDisk] = []

    def mounted(name: str, megabytes: int) -> SmallDisk:
        (tmp_path / "all").mkdir()
        made.append(SmallDisk(tmp_path / "all" / name, megabytes))
        return made[-1]

    yield mounted
    for disk in made:
        disk.unmount()


def whole(installed: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    """End what reads, and compare the graph with the topic."""
    for process in (installed.consumer, installed.server, installed.forwarder):
        assert process.stop() == 0, process.stderr
    for name, value in installed.settings.items():
        monkeypatch.setenv(name, value)
    assert cli.main(["graph", "verify"]) == 0


def test_a_broker_comes_back_at_another_address(
    stack: StackUnderTest, clean_database: Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Installation(tmp_path / "all", stack) as installed:
        installed.work(0)
        installed.broker.move()
        installed.work(1)
        whole(installed, monkeypatch)


def test_clocks_are_wrong_and_set_right(
    stack: StackUnderTest, clean_database: Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(tmp_path / "clock")
    clock.set(timedelta(days=1))
    with Installation(tmp_path / "all", stack, clock) as installed:
        installed.work(0)
        clock.set(timedelta(days=-2))
        installed.work(1)
        clock.set(timedelta())
        installed.work(2)
        whole(installed, monkeypatch)


def test_processes_are_replaced_one_by_one_while_events_come(
    stack: StackUnderTest, clean_database: Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Installation(tmp_path / "all", stack) as installed:
        installed.work(0)
        sent: list[int] = []
        stop = threading.Event()

        def report() -> None:
            for number in itertools.count(1):
                installed.put(number)
                while not installed.post(number):  # as a sender whose server went away does
                    stop.wait(0.05)
                sent.append(number)
                if stop.wait(0.3):
                    return

        reporting = threading.Thread(target=report)
        reporting.start()
        try:
            old, installed.consumer = installed.consumer, installed.consume()
            eventually(installed.consumer.ready, 60, every=0.2, expecting="the new consumer is ready")
            assert old.stop() == 0, old.stderr
            new = installed.serve()
            new.url()
            first, installed.server = installed.server, new
            assert first.stop() == 0, first.stderr
            other, installed.forwarder = installed.forwarder, installed.forward()
            assert other.stop() == 0, other.stderr
            installed.broker.stop()
            installed.broker.start()
            count = len(sent)
            eventually(lambda: len(sent) > count + 5, 90, every=0.2, expecting="events are taken again")
        finally:
            stop.set()
            reporting.join(patience(60))
        installed.arrived(*sent)
        whole(installed, monkeypatch)


def test_the_disk_of_the_broker_is_full(
    stack: StackUnderTest,
    clean_database: Driver,
    tmp_path: Path,
    small_disk: Callable[[str, int], SmallDisk],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    disk = small_disk("kafka", 256)
    with Installation(tmp_path / "all", stack) as installed:
        installed.work(0)
        disk.fill()
        put: list[int] = []

        def one_more() -> bool:
            put.append(len(put) + 1)
            installed.put(put[-1])
            return installed.broker.ended

        eventually(one_more, 60, every=0.05, expecting="the broker ends for lack of room")
        assert not installed.post(0)
        disk.empty()
        installed.broker.start()
        installed.arrived(*put, by_door=False)
        installed.work(len(put) + 1)
        for process in (installed.consumer, installed.forwarder):
            assert "Kafka is well again after" in process.stderr
        assert "acknowledges lineage events again, after" in installed.server.stderr
        whole(installed, monkeypatch)


def test_the_disk_of_outbox_and_audit_is_full(
    stack: StackUnderTest,
    clean_database: Driver,
    tmp_path: Path,
    small_disk: Callable[[str, int], SmallDisk],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    disk = small_disk("outbox", 8)
    audited = {"HEADWATER_AUDIT_FILE": str(tmp_path / "all" / "outbox" / "audit.jsonl")}
    with Installation(tmp_path / "all", stack, variables=audited) as installed:
        installed.work(0)
        disk.fill()
        put: list[int] = []

        def one_more_without_room() -> bool:
            put.append(len(put) + 1)
            installed.put(put[-1])
            return installed.job.figures().disk_problem is not None

        eventually(one_more_without_room, 60, every=0.05, expecting="the outbox has no room")
        eventually(
            lambda: installed.ask(f"/api/v1/runs/{run_of(0)}").json().get("type") == "urn:headwater:audit-unavailable",
            expecting="no answer without a record in the audit",  # after a few that fit behind the file's last one
        )
        for number in put:
            eventually(lambda: installed.is_delivered(run_of(number)), expecting="Kafka has what the disk refused")  # noqa: B023
        disk.empty()

        def one_more_with_room() -> bool:
            put.append(len(put) + 1)
            installed.put(put[-1])
            return installed.job.figures().disk_problem is None

        eventually(one_more_with_room, 60, every=0.5, expecting="the outbox writes again")
        installed.arrived(*put, by_door=False)
        installed.work(len(put) + 1)
        whole(installed, monkeypatch)
