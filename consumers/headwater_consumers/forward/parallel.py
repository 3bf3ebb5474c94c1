"""Concurrent posts: documents of one key go through the same collector, in order."""

from __future__ import annotations

import threading
import zlib
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from headwater_consumers.forward.collectors import (
    Collector,
    CollectorUnavailableError,
    DocumentRefusedError,
    OutgoingDocument,
)
from headwater_schemas.errors import FatalError

_WAITING = 2
"""Maximum number of queued documents per collector: enough to keep its thread busy, few enough to stop soon."""


class ParallelCollector:
    """Collector that delivers to several collectors at once. After a failure, nothing more is sent until `flush`.

    Documents that a collector already has aren't delivered again after a failure. So documents of a key stay in order,
    and no document is sent twice because another one failed.

    Args:
        collectors: collectors, each used by its own thread.
    """

    def __init__(self, collectors: Sequence[Collector]) -> None:
        self._collectors = collectors
        self._threads = [ThreadPoolExecutor(1, thread_name_prefix="headwater-forward") for _ in collectors]
        self._free = threading.BoundedSemaphore(_WAITING * len(collectors))
        self._under_way: list[Future[None]] = []
        self._lock = threading.Lock()
        self._failures: list[CollectorUnavailableError | FatalError] = []
        self._delivered: set[OutgoingDocument] = set()

    def deliver(self, document: OutgoingDocument, refused: Callable[[DocumentRefusedError], None]) -> None:
        """Pass a document to the collector of its key, once there is room. If delivery fails, `flush` raises."""
        if self._failures or document in self._delivered:
            return
        number = zlib.crc32(document.key.encode()) % len(self._collectors)
        self._free.acquire()
        self._under_way.append(self._threads[number].submit(self._deliver, number, document, refused))

    def flush(self) -> None:
        """Return once each collector has all of its documents.

        Raises:
            CollectorUnavailableError: a document wasn't delivered; deliver everything since the last flush again.
            FatalError: a person has to change a setting.
        """
        under_way, self._under_way = self._under_way, []
        for each in under_way:
            each.result()
        failures, self._failures = self._failures, []
        if not failures:
            for collector in self._collectors:
                collector.flush()
            self._delivered.clear()
            return
        fatal = next((failure for failure in failures if isinstance(failure, FatalError)), None)
        raise fatal or max(failures, key=_requested_pause_seconds)

    def close(self) -> None:
        """Close the connections, after the current posts."""
        for thread in self._threads:
            thread.shutdown(cancel_futures=True)
        for collector in self._collectors:
            collector.close()

    def _deliver(
        self, number: int, document: OutgoingDocument, refused: Callable[[DocumentRefusedError], None]
    ) -> None:
        was_refused = False

        def note(error: DocumentRefusedError) -> None:
            nonlocal was_refused
            was_refused = True
            refused(error)

        try:
            if self._failures:
                return
            self._collectors[number].deliver(document, note)
        except (CollectorUnavailableError, FatalError) as error:
            with self._lock:
                self._failures.append(error)
        else:
            # If the batch is delivered again, a refused document is sent again, so that the refusal is reported again.
            if not was_refused:
                self._delivered.add(document)
        finally:
            self._free.release()


def _requested_pause_seconds(failure: CollectorUnavailableError | FatalError) -> float:
    return (failure.after_seconds or 0.0) if isinstance(failure, CollectorUnavailableError) else 0.0
