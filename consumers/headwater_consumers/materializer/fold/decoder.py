"""Records to events; of what comes again and again, without decoding all of it again."""

from __future__ import annotations

from dataclasses import dataclass, field

from headwater_consumers.materializer.fold.filled import Filled
from headwater_consumers.materializer.fold.rebuilt import RunReader
from headwater_consumers.materializer.fold.rejection import reject_decoded
from headwater_consumers.materializer.fold.templates import Decodes, ReportReader
from headwater_schemas.avro_schema import current_schema
from headwater_schemas.codec import SINGLE_OBJECT_HEADER_BYTES, SINGLE_OBJECT_MAGIC
from headwater_schemas.errors import DecodeError
from headwater_schemas.events import LineageEvent
from headwater_schemas.latest import Latest

_ID_BYTES = 36
_TIME_BYTES = 8
"""Of an event time from 1978 to 3111, as zigzag has it."""
_NAMES = SINGLE_OBJECT_HEADER_BYTES + 1 + _ID_BYTES + _TIME_BYTES
"""Where tenant, producer, kind, job and run begin, behind event id and time."""
_GIVEN = 2
"""The branch of an optional field that isn't null."""
_RUN = bytes([len("RUN") << 1]) + b"RUN"
_MORE = 0x80
"""Of the byte of a varint: another follows."""


@dataclass(slots=True)
class _Known:
    """What is known of the reports of one run of a query, or of a job's run events.

    Attributes:
        readers: that of the latest record first.
        misses: how many records had none of these.
        next: of how many of them another is made.
    """

    readers: list[ReportReader | RunReader] = field(default_factory=list)
    misses: int = 0
    next: int = 2

    @property
    def size(self) -> int:
        """About how many bytes it takes."""
        return 500 + sum(reader.size for reader in self.readers)


_MOST = 4
"""Readers of one run of a query, or of one job."""
_BYTES = 64 << 20
"""Of all readers, about: 2,500 of reports with twenty numbers, or fifty of reports with two thousand."""


class TemplateDecoder:
    """Decodes what has a template as that, run events by one that they are like, and everything else as `decoder` does.

    Making a template takes a hundred times as long as decoding a record. So one is made of the second record of a run,
    and then of the fourth, the eighth and so on of those that none fits. Of a job's run events it is the same.

    Args:
        decoder: of every record.
        size: about how many bytes readers may take. Those of runs and jobs that weren't seen for longest are dropped.
    """

    def __init__(self, decoder: Decodes, size: int = _BYTES) -> None:
        self._decoder = decoder
        self._known: Latest[_Known] = Latest(size)
        # So that the largest of one run together aren't too large for `Latest` to keep.
        self._largest = size // (12 * _MOST)
        self._prefix = SINGLE_OBJECT_MAGIC + current_schema().fingerprint + bytes([_ID_BYTES << 1])

    def decode(self, value: bytes | None) -> LineageEvent | Filled:
        """The event in a record's value.

        Raises:
            DecodeError: it can never be decoded by this version.
            TransientError: its schema can't be looked up now.
        """
        if value is None or value[: len(self._prefix)] != self._prefix:
            return self._decoder.decode(value)
        names = _names(value)
        known = self._known.get(names) if names else None
        if known is not None:
            for number, reader in enumerate(known.readers):
                if (read := reader.read(value)) is not None:
                    if number:
                        known.readers.insert(0, known.readers.pop(number))
                    return read
        event = self._decoder.decode(value)
        if names and (event.interval_event is not None or event.run_event is not None):
            self._learn(names, known, value, event)
        return event

    def _learn(self, names: bytes, known: _Known | None, value: bytes, event: LineageEvent) -> None:
        if known is None:
            known = _Known()
            self._known.put(names, known, known.size + len(names))
        known.misses += 1
        if known.misses < known.next:
            return
        known.next *= 2
        if reject_decoded(event) is not None:
            return
        try:
            reader = RunReader if event.interval_event is None else ReportReader
            known.readers.insert(0, reader(value, event, self._decoder, self._largest))
        except (ValueError, KeyError, DecodeError):
            return  # not plain
        del known.readers[_MOST:]
        self._known.put(names, known, known.size + len(names))


def _names(value: bytes) -> bytes:
    """Tenant, producer, kind, job and run, as the record has them; of a run event all but the run, each of another.

    Empty where it has no job or no run, or they are long.
    """
    try:
        kind = _end(value, _end(value, _NAMES))
        job = _end(value, kind)
        if value[job] != _GIVEN:
            return b""
        run = _end(value, _end(value, job + 1))
        if value[run] != _GIVEN:
            return b""
        return value[_NAMES : run if value[kind:job] == _RUN else _end(value, run + 1)]
    except IndexError:
        return b""


def _end(value: bytes, at: int) -> int:
    """Where a text ends whose length is at `at`.

    Raises:
        IndexError: the record ends before the text begins, or it is long.
    """
    length = value[at]
    if length < _MORE:
        return at + 1 + (length >> 1)
    if value[at + 1] >= _MORE:
        raise IndexError("a length of three bytes")
    return at + 2 + ((length & ~_MORE | value[at + 1] << 7) >> 1)
