"""Several consumers under one supervisor: processes of one group, with one endpoint for metrics and health.

A worker is `headwater.consuming.consume` in a separate process. A worker sends the supervisor the port of its metrics,
and at its end its totals, or the error that ended it. A worker that ends without sending these (killed, out of memory)
is replaced: the next owner of its partitions reads uncommitted records again.
"""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import os
import signal
import threading
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any

from prometheus_client import CollectorRegistry

from headwater.console import console
from headwater.consuming import consume, lag_watched, port_taken, summary
from headwater.errors import ExitCode, HeadwaterError
from headwater.logs import fields, start_logging
from headwater.settings import Settings
from headwater.stopping import stopped_by_signals
from headwater_consumers.materializer.health import HealthServer
from headwater_consumers.materializer.reporting import ConsumerTotals
from headwater_consumers.materializer.worker_metrics import Workers

log = logging.getLogger("headwater.consume")

_FIRST_WAIT_SECONDS = 1.0
"""First wait before a worker is replaced. It doubles each time, up to `_LONGEST_WAIT_SECONDS`.

If a worker has run longer than `_LONGEST_WAIT_SECONDS`, the wait begins with `_FIRST_WAIT_SECONDS` again.
"""
_LONGEST_WAIT_SECONDS = 60.0
_POLL_SECONDS = 0.2

_spawn = multiprocessing.get_context("spawn")


def consume_with_workers(settings: Settings, *, until_caught_up: bool) -> ConsumerTotals:
    """Run `materializer.workers` consumers until stopped or caught up, and return the sum of their totals.

    Raises:
        HeadwaterError: the error of a worker, see `consume`; the other workers were stopped.
        InputError: the port for metrics is taken.
    """
    start_logging(settings.log)
    count = settings.materializer.workers
    workers, registry = Workers(count), CollectorRegistry()
    registry.register(workers)
    try:
        server = HealthServer(
            workers, registry, port=settings.materializer.http_port, host=settings.materializer.http_host
        )
    except OSError as error:
        raise port_taken(settings, error) from error
    with contextlib.closing(server):
        log.info(
            "Consuming with %d workers. Metrics and health on http://%s:%d.",
            count,
            settings.materializer.http_host,
            server.port,
            extra=fields(workers=count),
        )
        supervisor = _Supervisor(settings, workers, count, until_caught_up=until_caught_up)
        # The lag is read by the supervisor, once for all workers: it still works if a worker hangs.
        with stopped_by_signals(supervisor.stop), lag_watched(settings, registry):
            supervisor.run()
    log.info("%s", summary(supervisor.totals), extra=fields(totals=supervisor.totals.document()))
    return supervisor.totals


@dataclass(slots=True)
class _Worker:
    """One process.

    Attributes:
        began: start time, monotonic seconds.
        done: True once the worker has sent its totals or its error.
    """

    process: SpawnProcess
    pipe: Connection
    began: float
    done: bool = False


class _Supervisor:
    def __init__(self, settings: Settings, workers: Workers, count: int, *, until_caught_up: bool) -> None:
        self.totals = ConsumerTotals()
        self._settings = settings
        self._until_caught_up = until_caught_up
        self._workers = workers
        self._count = count
        self._running: dict[int, _Worker] = {}
        self._restart_at: dict[int, float] = {}
        """By number of a lost worker: time at which it will be replaced, in monotonic seconds."""
        self._waits: dict[int, float] = {}
        """By number of a worker: seconds to wait before its next replacement."""
        self._stopping = False
        self._error: HeadwaterError | None = None

    def stop(self) -> None:
        """Let the workers drain and end. Safe from a signal handler."""
        self._stopping = True

    def run(self) -> None:
        """Run the workers until all have ended.

        Raises:
            HeadwaterError: the error that ended a worker.
        """
        began = time.monotonic()
        for number in range(self._count):
            self._start(number)
        stopped = False
        try:
            while self._running or (self._restart_at and not self._stopping):
                if self._stopping and not stopped:
                    stopped = True
                    self._signal_all(signal.SIGTERM)
                self._poll()
        finally:
            # Workers still run now only after a second signal or an internal error. Uncommitted records are read again.
            self._signal_all(signal.SIGKILL)
            for worker in self._running.values():
                worker.process.join()
        self.totals.seconds = time.monotonic() - began
        if self._error is not None:
            raise self._error

    def _start(self, number: int) -> None:
        ours, theirs = _spawn.Pipe()
        process = _spawn.Process(
            target=_work,
            args=(self._settings, number, self._until_caught_up, theirs),
            name=f"headwater-worker-{number}",
        )
        process.start()
        theirs.close()
        self._running[number] = _Worker(process, ours, time.monotonic())

    def _poll(self) -> None:
        pipes = {worker.pipe: number for number, worker in self._running.items()}
        for pipe in wait(list(pipes), timeout=_POLL_SECONDS):
            assert isinstance(pipe, Connection)  # noqa: S101 - for the type checker
            number = pipes[pipe]
            try:
                self._receive(number, *pipe.recv())
            except (EOFError, OSError):
                self._ended(number)
        now = time.monotonic()
        for number in [number for number, at in self._restart_at.items() if at <= now and not self._stopping]:
            del self._restart_at[number]
            self._start(number)

    def _receive(self, number: int, kind: str, content: Any) -> None:
        match kind:
            case "port":
                self._workers.ports[number] = content
            case "totals":
                self._running[number].done = True
                add(self.totals, content)
            case _:
                self._running[number].done = True
                self._error = self._error or content
                self._stopping = True

    def _ended(self, number: int) -> None:
        worker = self._running.pop(number)
        self._workers.ports.pop(number, None)
        worker.process.join()
        worker.pipe.close()
        if worker.done or self._stopping:
            return
        if time.monotonic() - worker.began > _LONGEST_WAIT_SECONDS:
            self._waits.pop(number, None)
        pause = self._waits.get(number, _FIRST_WAIT_SECONDS)
        self._waits[number] = min(2 * pause, _LONGEST_WAIT_SECONDS)
        self._restart_at[number] = time.monotonic() + pause
        log.warning(
            "Worker %d ended with status %s. Another is started in %.0f s; no event is lost.",
            number,
            worker.process.exitcode,
            pause,
        )

    def _signal_all(self, number: signal.Signals) -> None:
        for worker in self._running.values():
            if worker.process.pid is not None and worker.process.is_alive():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(worker.process.pid, number)


def add(totals: ConsumerTotals, more: ConsumerTotals) -> None:
    """Add a worker's totals to the common totals."""
    totals.consumed += more.consumed
    totals.applied += more.applied
    totals.released += more.released
    totals.transactions += more.transactions
    totals.retries += more.retries
    totals.dead_lettered += more.dead_lettered
    totals.openlineage += more.openlineage
    for partition, offset in more.committed.items():
        totals.committed[partition] = max(offset, totals.committed.get(partition, offset))


def _work(settings: Settings, number: int, until_caught_up: bool, pipe: Connection) -> None:  # noqa: FBT001 - by place
    """Run one worker; the entry point of its process."""
    # Separate process group: Ctrl-C reaches only the supervisor, which drains the workers.
    os.setpgid(0, 0)
    threading.Thread(target=_end_with_supervisor, args=(pipe,), name="supervisor", daemon=True).start()
    previous_factory = logging.getLogRecordFactory()

    def numbered_record(*args: Any, **kwargs: Any) -> logging.LogRecord:
        record = previous_factory(*args, **kwargs)
        record.name = f"{record.name}[{number}]"
        return record

    logging.setLogRecordFactory(numbered_record)
    own = settings.materializer.model_copy(update={"http_host": "127.0.0.1", "http_port": 0})
    console.json_mode = True  # only the supervisor prints results, errors and progress
    with console.until_end:
        try:
            totals = consume(
                settings.model_copy(update={"materializer": own}),
                until_caught_up=until_caught_up,
                started=lambda port: pipe.send(("port", port)),
                supervised=True,
            )
        except HeadwaterError as error:
            pipe.send(("error", error))
        except Exception:
            # Otherwise Python would print the traceback between the lines of the log.
            log.exception("Worker %d was ended by an error that nobody foresaw. Please report it.", number)
            raise SystemExit(ExitCode.UNEXPECTED) from None
        else:
            pipe.send(("totals", totals))


def _end_with_supervisor(pipe: Connection) -> None:
    """End this process by SIGTERM when the supervisor has ended: this closes the pipe. The supervisor sends no data."""
    with contextlib.suppress(EOFError, OSError):
        pipe.recv()
    os.kill(os.getpid(), signal.SIGTERM)
