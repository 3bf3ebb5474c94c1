"""Offsets whose batch no client can read: found, confirmed and passed over, one at a time.

librdkafka reports such a batch with an error at the offset that it asked for, and asks again for ever. It doesn't tell
where the batch ends, nor gives its bytes. So the next offset is tried after each that can't be read, which is in the
same batch or behind it: some milliseconds an offset, and nothing good is ever passed over.
"""

# ruff: noqa: SLF001 - a leading underscore is how librdkafka names the errors of the client itself
from __future__ import annotations

from dataclasses import dataclass

from confluent_kafka import KafkaError

from headwater_consumers.kafka.records import FetchedRecord, Partition, Unread

UNFETCHABLE = frozenset(
    {
        KafkaError._BAD_COMPRESSION,  # broken, or more than `receive.message.max.bytes` once decompressed (zstd)
        KafkaError._BAD_MSG,  # a wrong checksum, a batch that ends too early
        KafkaError._UNDERFLOW,
        KafkaError._NOT_IMPLEMENTED,  # a codec that isn't known
        KafkaError.INVALID_MSG,
        KafkaError.INVALID_MSG_SIZE,
        KafkaError.MSG_SIZE_TOO_LARGE,
        KafkaError.UNSUPPORTED_COMPRESSION_TYPE,
    }
)
"""Codes of errors that are of a batch, not of the brokers or the connection."""


def at_end(error: KafkaError) -> bool:
    """Check whether the end of a partition was reached, which is no error."""
    return bool(error.code() == KafkaError._PARTITION_EOF)


# Failures after which an offset counts as unreadable: bytes may have been broken on their way.
_TRIES = 3
CONSUMER_CONFIG = {
    "check.crcs": True,
    # librdkafka's delay before it asks again for bytes that it couldn't read; by default half a second.
    "fetch.error.backoff.ms": 20,
}
"""Settings of librdkafka that `Unfetchable` relies on. The bounds of a batch are `bounds_config`."""


def bounds_config(record_max_bytes: int) -> dict[str, int]:
    """Settings of librdkafka that bound what one fetch may take in memory.

    A zstd batch that decompresses to more than `receive.message.max.bytes` is an error of the batch. librdkafka has no
    such bound for gzip, lz4 and snappy, which expand a batch up to 1,032, 255 and 22 times. All batches of a fetch are
    decompressed at once, so each fetch asks for few of them per partition.
    """
    return {"receive.message.max.bytes": 2 * record_max_bytes, "max.partition.fetch.bytes": 131_072}


@dataclass(slots=True)
class _Suspect:
    """Offsets of a partition that can't be read, from `begin` on; `at` is the next one to try.

    `drained`: librdkafka's queue was empty after `at` was requested, so that an error belongs to `at`.
    """

    begin: int
    at: int
    failures: int
    why: str
    drained: bool = True


class Unfetchable:
    """Offsets of each partition that can't be read. The caller fetches on at the offset that `failed` returns."""

    def __init__(self) -> None:
        self._suspects: dict[Partition, _Suspect] = {}

    def failed(self, partition: Partition, offset: int, why: str) -> int:
        """Handle a failed fetch of a batch; return the offset to fetch next.

        Args:
            partition: the partition.
            offset: offset of the error; it may be the first of the batch.
            why: librdkafka's text.
        """
        suspect = self._suspects.get(partition)
        if suspect is None:
            suspect = self._suspects[partition] = _Suspect(offset, offset, 0, why)
        elif not suspect.drained:
            return suspect.at  # librdkafka had asked for the one before again, and this is the answer to that
        suspect.failures += 1
        suspect.drained = False
        # The offset behind one that can't be read is most likely in its batch, so it has no need to fail that often.
        if suspect.failures >= _TRIES:
            suspect.at += 1
            suspect.why = why
        return suspect.at

    def drained(self) -> None:
        """Handle an empty poll: later errors belong to requests made since."""
        for suspect in self._suspects.values():
            suspect.drained = True

    def passed(self, partition: Partition, offset: int) -> FetchedRecord | None:
        """Handle a record or an end at this offset; return the unreadable offsets before it, if there are any."""
        suspect = self._suspects.get(partition)
        if suspect is None or offset < suspect.at:
            return None
        del self._suspects[partition]
        if suspect.at == suspect.begin:
            return None  # it was broken on its way only
        return FetchedRecord(partition, suspect.begin, None, unread=Unread(suspect.at, suspect.why))

    def expects(self, partition: Partition) -> int:
        """Offset before which records come from an earlier fetch."""
        suspect = self._suspects.get(partition)
        return 0 if suspect is None else suspect.at

    def forget(self, partition: Partition) -> None:
        """Forget a partition that isn't assigned any more."""
        self._suspects.pop(partition, None)
