"""A destination that hangs: who waits is refused in time, and what was refused isn't recorded as done."""

from __future__ import annotations

import asyncio
import logging

import pytest

from headwater_audit import writer as module
from headwater_audit.errors import AuditUnwritableError
from headwater_audit.writer import AuditWriter, Commit
from support.audit import Breakable, placed, record, verified
from support.waiting import eventually


def hanging(timeout_seconds: float = 0.05) -> tuple[Breakable, AuditWriter]:
    """A writer whose next commit hangs until `released` is set."""
    memory = Breakable()
    writer = AuditWriter(memory, timeout_seconds=timeout_seconds)
    eventually(lambda: memory.lines)
    memory.released.clear()
    return memory, writer


def test_records_that_nobody_waits_for_any_more_are_lost(caplog: pytest.LogCaptureFixture) -> None:
    memory, writer = hanging()
    commits: list[Commit] = []
    writer.committed = commits.append
    under_way = writer.submit(record(0))
    eventually(under_way.running)
    with pytest.raises(AuditUnwritableError, match="memory took longer than"):
        writer.write(record(1))
    assert "memory took longer than" in str(writer.problem), "the metric has it although nothing has failed"
    with pytest.raises(AuditUnwritableError, match="memory took longer than"):
        asyncio.run(writer.written(record(2)))
    memory.released.set()
    eventually(lambda: writer.problem is None)
    eventually(lambda: sum(commit.lost for commit in commits) == 2)
    writer.close()
    assert memory.kinds() == ["OPENED", "OUTCOME", "LOST", "CLOSED"]
    assert [each["request"] for each in memory.records()] == ["request-0"]
    assert sum(commit.durable for commit in commits) == 1
    found = verified(placed(memory.lines))
    assert (found.findings, found.lost) == ((), 2)
    assert [each.levelno for each in caplog.records] == [logging.ERROR, logging.WARNING]


def test_only_so_many_records_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_WAITING", 1)
    memory, writer = hanging(timeout_seconds=60)
    eventually(writer.submit(record(0)).running)
    waiting = writer.submit(record(1))
    with pytest.raises(AuditUnwritableError, match="1 records already wait"):
        writer.write(record(2))
    memory.released.set()
    waiting.result()
    writer.close()
    assert memory.kinds() == ["OPENED", "OUTCOME", "LOST", "OUTCOME", "CLOSED"]


def test_a_process_ends_although_the_audit_hangs(caplog: pytest.LogCaptureFixture) -> None:
    memory, writer = hanging()
    eventually(writer.submit(record(0)).running)
    writer.submit(record(1))
    writer.close()
    assert "without 1 waiting records" in caplog.text
    memory.released.set()
    eventually(lambda: "CLOSED" in memory.kinds())
