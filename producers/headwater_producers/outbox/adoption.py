"""Adoption: taking over the files that dead outboxes left in the folder."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from headwater_producers.outbox.backlog import Backlog
from headwater_producers.outbox.errors import OutboxUnusableError
from headwater_producers.outbox.store import SUFFIX, Store

logger = logging.getLogger(__name__)

DAMAGED: Final = ".damaged"
_EVERY_SECONDS: Final = 60.0


class Adoption:
    """Search for outbox files whose process is dead: at the start, then once a minute.

    Args:
        clock: monotonic seconds.
    """

    def __init__(self, folder: Path, backlog: Backlog, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._folder = folder
        self._backlog = backlog
        self._clock = clock
        self._next_look = 0.0
        self._reported: set[Path] = set()

    def look(self) -> None:
        """If a search is due, take over the files of dead outboxes, the oldest first."""
        if self._clock() < self._next_look:
            return
        self._next_look = self._clock() + _EVERY_SECONDS
        held = {self._backlog.store.path, *(store.path for store in self._backlog.adopted)}
        for path in sorted(set(self._folder.glob(f"*{SUFFIX}")) - held):
            try:
                store = Store.adopt(path)
            except OutboxUnusableError as error:
                self._report(path, error)
                continue
            if store is not None:
                logger.info("sending %d events that another process left in %s", store.count, path)
                self._backlog.adopt(store)

    def set_aside(self, path: Path) -> None:
        """Rename a damaged file, so that it isn't adopted again and can still be examined."""
        try:
            path.rename(path.with_name(path.name + DAMAGED))
        except OSError as error:
            logger.warning(
                "Damaged outbox file %s can't be renamed, and will be read again: %s. Move it out of the folder",
                path,
                error,
            )

    def _report(self, path: Path, error: OutboxUnusableError) -> None:
        if path not in self._reported:
            self._reported.add(path)
            self._backlog.metrics.disk_errors.inc()
            logger.error("Outbox unreadable, skipped: %s. Its events are not sent; the file stays", error)
