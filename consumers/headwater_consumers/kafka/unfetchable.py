"""Skipping of offsets whose batch no client can read, one offset at a time.

librdkafka reports an unreadable batch with an error at the requested offset, and repeats the request forever. The error
has neither the end of the batch nor its bytes. So after each unreadable offset the next one is tried, which may be in
the same batch or after it. An attempt takes some milliseconds, and no readable record is skipped.
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
        KafkaError._NOT_IMPLEMENTED,  # an unknown codec
        KafkaError.INVALID_MSG,
        KafkaError.INVALID_MSG_SIZE,
        KafkaError.MSG_SIZE_TOO_LARGE,
        KafkaError.UNSUPPORTED_COMPRESSION_TYPE,
    }
)
"""Codes of errors in a batch, not in the brokers or the connection."""


def at_end(error: KafkaError) -> bool:
    """Return True if the error only reports that the end of a partition was reached."""
    return bool(error.code() == KafkaError._PARTITION_EOF)


# Number of failures after which an offset counts as unreadable: bytes may have been corrupted in transit.
_TRIES = 3
CONSUMER_CONFIG = {
    "check.crcs": True,
    # librdkafka's delay before it requests unreadable bytes again; by default half a second.
    "fetch.error.backoff.ms": 20,
}
"""Settings of librdkafka that `Unfetchable` relies on. The bounds of a batch are `bounds_config`."""


def bounds_config(record_max_bytes: int) -> dict[str, int]:
    """Settings of librdkafka that bound the memory of one fetch.

    A zstd batch that decompresses to more than `receive.message.max.bytes` is an error of the batch. librdkafka has no
    such bound for gzip, lz4 and snappy, which expand a batch up to 1,032, 255 and 22 times. All batches of a fetch are
    decompressed at the same time, so each fetch requests few batches per partition.
    """
    return {"receive.message.max.bytes": 2 * record_max_bytes, "max.partition.fetch.bytes": 131_072}


@dataclass(slots=True)
class _Suspect:
    """Unreadable offsets of a partition, beginning at `begin`; `at` is the next one to try.

    `drained`: librdkafka's queue was empty after `at` was requested, so that an error belongs to `at`.
    """

    begin: int
    at: int
    failures: int
    why: str
    drained: bool = True


class Unfetchable:
    """Unreadable offsets of each partition. The caller continues at the offset that `failed` returns."""

    def __init__(self) -> None:
        self._suspects: dict[Partition, _Suspect] = {}

    def failed(self, partition: Partition, offset: int, why: str) -> int:
        """Handle a failed fetch of a batch; return the offset to fetch next.

        Args:
            offset: offset of the error; it may be the first of the batch.
            why: librdkafka's text.
        """
        suspect = self._suspects.get(partition)
        if suspect is None:
            suspect = self._suspects[partition] = _Suspect(offset, offset, 0, why)
        elif not suspect.drained:
            return suspect.at  # this answers librdkafka's repeated request for the previous offset
        suspect.failures += 1
        suspect.drained = False
        # The offset after an unreadable one is most likely in the same batch, so fewer failures suffice.
        if suspect.failures >= _TRIES:
            suspect.at += 1
            suspect.why = why
        return suspect.at

    def drained(self) -> None:
        """Handle an empty poll: later errors belong to requests made since."""
        for suspect in self._suspects.values():
            suspect.drained = True

    def passed(self, partition: Partition, offset: int) -> FetchedRecord | None:
        """Handle a record or an end at this offset; return the unreadable offsets before it, if any."""
        suspect = self._suspects.get(partition)
        if suspect is None or offset < suspect.at:
            return None
        del self._suspects[partition]
        if suspect.at == suspect.begin:
            return None  # the bytes were only corrupted in transit
        return FetchedRecord(partition, suspect.begin, None, unread=Unread(suspect.at, suspect.why))

    def expects(self, partition: Partition) -> int:
        """Offset of the current fetch; records before it come from an earlier fetch."""
        suspect = self._suspects.get(partition)
        return 0 if suspect is None else suspect.at

    def forget(self, partition: Partition) -> None:
        """Forget a partition that is no longer assigned."""
        self._suspects.pop(partition, None)
