"""Step 3 of the checkpoint: offsets committed to Kafka.

On the loop's thread, because a consumer of librdkafka is one thread's, and without waiting for the brokers, because the
loop has to move while they are away. Offsets that are not confirmed are kept; the next attempt commits the newest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from headwater_consumers.materializer.backoff import Backoff
    from headwater_consumers.materializer.records import Partition
    from headwater_consumers.materializer.source import Source


class Commits:
    """Offsets of what is in the graph and on the dead-letter topic, on their way to the brokers.

    Args:
        source: commits them.
        backoff: between attempts.
        confirmed: called with the offsets that are committed, and how long it took.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        source: Source,
        backoff: Backoff,
        confirmed: Callable[[Mapping[Partition, int], float], None],
        clock: Callable[[], float],
    ) -> None:
        self._source = source
        self._confirmed = confirmed
        self._clock = clock
        self._pending: dict[Partition, int] = {}
        self._sent: dict[Partition, int] | None = None
        self._sent_at = 0.0
        self.backoff = backoff

    @property
    def idle(self) -> bool:
        """Whether everything is confirmed."""
        return not self._pending

    def add(self, offsets: Mapping[Partition, int]) -> None:
        """A batch is through steps 1 and 2."""
        self._pending.update(offsets)

    def send(self) -> None:
        """Send what is pending, unless it was sent already or has to wait.

        Raises:
            FatalError: it will never be committed.
        """
        if self._pending and self._sent is None and self.backoff.due:
            self._sent, self._sent_at = dict(self._pending), self._clock()
            self._source.commit(self._sent)

    def answered(self, *, confirmed: bool) -> None:
        """The brokers' answer to what was sent last."""
        sent, self._sent = self._sent, None
        if sent is None:
            return
        if confirmed:
            self.backoff.succeeded()
            self._settle(sent)
        elif self._pending:
            self.backoff.failed()

    def flush(self, partitions: Iterable[Partition]) -> None:
        """Commit what is pending of these, and return once it is done: they are about to be another's.

        Raises:
            BrokerUnavailableError: it isn't done.
            FatalError: it never will be.
        """
        leaving = {p: self._pending[p] for p in partitions if p in self._pending}
        if leaving:
            self._sent_at = self._clock()
            self._source.commit_now(leaving)
            self._settle(leaving)

    def drop(self, partitions: Iterable[Partition]) -> None:
        """Forget these: they are another's, who starts at what was confirmed."""
        for partition in partitions:
            self._pending.pop(partition, None)
        if not self._pending:
            self.backoff.succeeded()  # nothing is left to be in trouble with

    def _settle(self, offsets: dict[Partition, int]) -> None:
        for partition, offset in offsets.items():
            if self._pending.get(partition) == offset:
                del self._pending[partition]
        self._confirmed(offsets, self._clock() - self._sent_at)
