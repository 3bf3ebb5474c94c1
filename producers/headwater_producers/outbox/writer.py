"""Writer: thread that writes events to disk in groups; a group has all events that came during the last write."""

from __future__ import annotations

import logging
import threading
import time
from typing import Final

from headwater_producers.outbox.backlog import Backlog
from headwater_producers.outbox.errors import OutboxUnusableError
from headwater_producers.outbox.store import Store

logger = logging.getLogger(__name__)

_GROUP_EVENTS: Final = 1_000
_RETRY_SECONDS: Final = 1.0


class BacklogWriter:
    """Writer of a backlog's events to its file, or to a new file if the old one was removed from outside.

    Events that the disk refuses stay in memory and are tried again.
    """

    def __init__(self, backlog: Backlog) -> None:
        self._backlog = backlog
        self._stopping = threading.Event()
        self._logged_problem: str | None = None
        self._thread = threading.Thread(target=self._run, name="headwater-outbox-writer", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread, after one last attempt at the unwritten events. Requires a closed backlog."""
        self._stopping.set()
        with self._backlog.to_write:
            self._backlog.to_write.notify_all()
        self._thread.join()

    def _run(self) -> None:
        while True:
            with self._backlog.to_write:
                self._backlog.to_write.wait_for(lambda: self._stopping.is_set() or self._backlog.any_unwritten)
            try:
                written = self._write_group()
            except Exception:
                # A dead thread would strand every event silently.
                logger.exception("Unexpected error in the outbox's writer; retrying")
                written = False
            if self._stopping.is_set() and (not written or not self._backlog.any_unwritten):
                return
            if not written:
                self._stopping.wait(_RETRY_SECONDS)

    def _write_group(self) -> bool:
        group = self._backlog.unwritten(max_events=_GROUP_EVENTS)
        if not group:
            return True
        began = time.monotonic()
        try:
            if not self._backlog.store.is_there:
                self._begin_anew()
            self._backlog.store.append(group)
        except OutboxUnusableError as error:
            self._backlog.note_disk_problem(str(error))
            self._complain(str(error))
            return False
        self._backlog.metrics.commit_seconds.observe(time.monotonic() - began)
        self._logged_problem = None
        self._backlog.written(group)
        if dropped := self._backlog.make_room():
            logger.warning(
                "The outbox is full: its %d oldest events were dropped and are lost. Raise outbox_max_bytes, or see "
                "why Kafka doesn't take them",
                dropped,
            )
        return True

    def _begin_anew(self) -> None:
        gone = self._backlog.store.path
        fresh = Store.create_below(gone.parent)
        try:
            moved = self._backlog.begin_anew(fresh)
        except OutboxUnusableError:
            fresh.close()
            raise
        logger.error(
            "%s was removed while it was in use: its %d events are in %s now, and are sent from there",
            gone,
            moved,
            fresh.path,
        )

    def _complain(self, problem: str) -> None:
        if problem != self._logged_problem:
            self._logged_problem = problem
            logger.error(
                "The outbox can't be written: %s. Events are kept in memory and sent to Kafka from there, but would be "
                "lost with the process; retrying.",
                problem,
            )
