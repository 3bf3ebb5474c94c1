"""`AuditWriter`: one thread that commits records, so that many requests share one wait for the disk or for Kafka.

While a commit is running, new records wait for the next commit, which writes all of them: the more records, the less
each costs. A record is settled when it is durable.

Lost records are counted: records that couldn't be written, and records whose request stopped waiting. Their requests
were refused. The first commit that succeeds again begins with a line that states their number, so that the gap is
visible.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, TypeAlias

from headwater_audit.chain import AuditChain
from headwater_audit.errors import AuditUnwritableError
from headwater_audit.record import AuditRecord
from headwater_audit.signing import Signer
from headwater_schemas.clock import utc_now

log = logging.getLogger("headwater.audit")

_MOST_AT_ONCE = 1_000
# 20 MB: while a commit hangs, refused requests could otherwise fill the memory.
_MOST_WAITING = 10_000


@dataclass(frozen=True, slots=True)
class Tail:
    """Current end of a destination.

    Attributes:
        hash: hash of the last line; None: there is no line.
        torn: whether the last line is unfinished.
    """

    hash: str | None
    torn: bool = False


Build: TypeAlias = Callable[[Tail | None], list[bytes]]
"""Function that returns a commit's lines, without line feeds. Its argument is the end of the destination; None for a
topic, where lines of several processes have no common order."""


class Destination(Protocol):
    """Destination to which lines are appended. Its `str` names it in messages."""

    def append(self, build: Build) -> None:
        """Append lines; return when they are durable.

        Raises:
            AuditUnwritableError: the lines aren't durable.
        """

    def close(self) -> None:
        """Close the destination."""


@dataclass(slots=True)
class _Lost:
    """Number of lost records, and the times of the first and the last of them."""

    count: int
    since: datetime
    until: datetime


@dataclass(frozen=True, slots=True)
class Commit:
    """Result of a commit, for metrics.

    Attributes:
        durable: number of records that the commit wrote.
        lost: number of records that were lost since the previous commit.
    """

    durable: int
    lost: int
    seconds: float


class AuditWriter:
    """Writer of this process's chain. It is thread-safe.

    Args:
        destination: destination of lines; closed with this object.
        signer: key of the heads; None: heads are unsigned.
        process: further description of the process for the first line, besides its id and machine, as values of JSON.
        head_records: number of records after which a head follows.
        head_seconds: maximum time until a head follows a record.
        timeout_seconds: maximum time to wait for a record, and for the last line.
        clock: function that returns the current time, with a time zone.
    """

    def __init__(
        self,
        destination: Destination,
        *,
        signer: Signer | None = None,
        process: Mapping[str, Any] | None = None,
        head_records: int = 1_000,
        head_seconds: float = 60.0,
        timeout_seconds: float = 10.0,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self._destination = destination
        self._signer = signer
        self._process = {"pid": os.getpid(), "host": socket.gethostname(), **(process or {})}
        self._head_records, self._head_seconds = head_records, head_seconds
        self._timeout_seconds = timeout_seconds
        self._clock = clock
        self.committed: Callable[[Commit], None] = lambda _: None
        """Function called after each commit with written or lost records, in the writer's thread."""
        self._chain = self._new_chain(None)
        self._lost: _Lost | None = None
        """Lost records that no line states yet."""
        self._newly_lost = 0
        self._waiting: deque[tuple[AuditRecord, Future[None]]] = deque()
        self._changed = threading.Condition()
        self._closing = False
        self._head_due: float | None = None
        self.problem: str | None = None
        """Reason why records can't be written at present; None if no problem is known."""
        self._thread = threading.Thread(target=self._run, name="headwater-audit", daemon=True)
        self._thread.start()

    def __str__(self) -> str:
        """Destination of the records, for people."""
        return f"{self._destination}, with {'unsigned' if self._signer is None else 'signed'} heads"

    def submit(self, record: AuditRecord) -> Future[None]:
        """Return the future of a record. It ends when the record is durable, or with an AuditUnwritableError.

        A record whose future is cancelled before its commit begins isn't written, and counts as lost.
        """
        settled: Future[None] = Future()
        with self._changed:
            if self._closing:
                settled.set_exception(AuditUnwritableError("the audit is closed"))
            elif len(self._waiting) >= _MOST_WAITING:
                self._count_lost(1)
                settled.set_exception(
                    AuditUnwritableError(f"{len(self._waiting):,} records already wait to be written")
                )
            else:
                self._waiting.append((record, settled))
                self._changed.notify()
        return settled

    def write(self, record: AuditRecord) -> None:
        """Write a record, and return when it is durable.

        Raises:
            AuditUnwritableError: the record isn't durable in time. If its commit was running, it may become durable
                later.
        """
        settled = self.submit(record)
        try:
            settled.result(self._timeout_seconds)
        except TimeoutError:
            settled.cancel()
            raise self._late() from None

    async def written(self, record: AuditRecord) -> None:
        """Write a record from an event loop, and return when it is durable.

        Raises:
            AuditUnwritableError: the record isn't durable in time. If its commit was running, it may become durable
                later.
        """
        try:
            async with asyncio.timeout(self._timeout_seconds):
                await asyncio.wrap_future(self.submit(record))
        except TimeoutError:
            raise self._late() from None

    def close(self) -> None:
        """Write waiting records and the chain's last line, and close the destination.

        After `timeout_seconds`, the method returns even if this isn't done: the process must be able to end.
        """
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join(self._timeout_seconds)
        if self._thread.is_alive():
            log.error(
                "%s took longer than %g s; the audit ends without its last line, and without %d waiting records.",
                self._destination,
                self._timeout_seconds,
                len(self._waiting),
            )

    def _late(self) -> AuditUnwritableError:
        error = AuditUnwritableError(f"{self._destination} took longer than {self._timeout_seconds:g} s")
        self._unwritable(error)
        return error

    def _new_chain(self, continues: str | None) -> AuditChain:
        return AuditChain(self._signer, continues=continues, clock=self._clock)

    def _run(self) -> None:
        try:
            self._commit([])
            while True:
                with self._changed:
                    self._changed.wait_for(lambda: self._waiting or self._closing, self._until_head())
                    batch = [self._waiting.popleft() for _ in range(min(len(self._waiting), _MOST_AT_ONCE))]
                    last = self._closing and not self._waiting
                if batch or last or self._is_head_due():
                    self._commit(batch, last=last)
                if last:
                    return
        finally:
            self._destination.close()

    def _commit(self, batch: list[tuple[AuditRecord, Future[None]]], *, last: bool = False) -> None:
        began, position = time.monotonic(), self._chain.position
        # A request that stopped waiting has cancelled its future. From here on, no future can be cancelled.
        taken = [(record, settled) for record, settled in batch if settled.set_running_or_notify_cancel()]
        with self._changed:
            self._count_lost(len(batch) - len(taken))
            lost, self._lost = self._lost, None
        failure: AuditUnwritableError | None = None
        try:
            self._destination.append(lambda tail: self._lines([record for record, _ in taken], lost, tail, last=last))
        except AuditUnwritableError as error:
            failure = error
            if error.clean:
                self._chain.position = position
            else:
                # It is unknown which lines of the commit were written.
                written = f"{self._chain.id}:{position.sequence - 1}"
                self._chain = self._new_chain(written if position.sequence else None)
        except Exception as error:  # if this thread ended, waiting requests would never return
            failure = AuditUnwritableError("a defect of the audit; see the log")
            failure.__cause__ = error
            log.exception("A record couldn't be made or written.")
            self._chain = self._new_chain(None)
        if failure is None:
            self._succeeded()
        else:
            self._failed(failure, lost, len(taken))
        for _, settled in taken:
            settled.set_exception(failure) if failure is not None else settled.set_result(None)
        with self._changed:
            newly_lost, self._newly_lost = self._newly_lost, 0
        if batch or newly_lost:
            durable = 0 if failure is not None else len(taken)
            self.committed(Commit(durable, newly_lost, time.monotonic() - began))

    def _lines(self, records: list[AuditRecord], lost: _Lost | None, tail: Tail | None, *, last: bool) -> list[bytes]:
        chain = self._chain
        lines: list[bytes] = []

        def after() -> str | None:
            """Hash of the previous line in the file; None if `previous` has the hash: after a commit's first line."""
            return None if tail is None or lines else tail.hash

        if chain.position.sequence == 0:
            lines.append(chain.opened(after(), process=self._process))
        if lost is not None:
            lines.append(chain.lost(lost.count, lost.since, lost.until, after()))
        for record in records:
            lines.append(chain.record(record, after()))
            if chain.position.unsigned >= self._head_records:
                lines.append(chain.head(after()))
        if last:
            lines.append(chain.closed(after()))
        elif chain.position.unsigned and self._is_head_due():
            lines.append(chain.head(after()))
        return lines

    def _succeeded(self) -> None:
        if self.problem is not None:
            log.warning("The audit is written to %s again.", self._destination)
        self.problem = None
        if not self._chain.position.unsigned:
            self._head_due = None
        elif self._head_due is None:
            self._head_due = time.monotonic() + self._head_seconds

    def _failed(self, error: AuditUnwritableError, lost: _Lost | None, count: int) -> None:
        with self._changed:
            self._count_lost(count)
            if lost is not None and self._lost is not None:
                self._lost = _Lost(lost.count + self._lost.count, lost.since, self._lost.until)
            else:
                self._lost = self._lost or lost
        if self._head_due is not None:
            # An idle writer tries again later, not at once.
            self._head_due = time.monotonic() + self._head_seconds
        self._unwritable(error)

    def _count_lost(self, count: int) -> None:
        """Count lost records. The caller holds the lock."""
        if count:
            now = self._clock()
            before = self._lost or _Lost(0, now, now)
            self._lost = _Lost(before.count + count, before.since, now)
            self._newly_lost += count

    def _unwritable(self, error: AuditUnwritableError) -> None:
        if self.problem is None:
            log.error(
                "%s. Audit records are lost until it can be written again; a LOST record will state their number.",
                error,
            )
        self.problem = str(error)

    def _until_head(self) -> float | None:
        return None if self._head_due is None else max(0.0, self._head_due - time.monotonic())

    def _is_head_due(self) -> bool:
        return self._head_due is not None and time.monotonic() >= self._head_due
