"""Templates: made of a record by folding it, and what decodes later records by them.

Where a number goes isn't written down anywhere: the record is folded once more with marks in place of its numbers, each
another, and wherever a mark turns up, its number goes. A template isn't used unless it makes of its own record, and of
the marked one, exactly what folding makes of them. So there are no rules here to keep in step with those of the fold.

What a template isn't made of: several micro-batches in one report, positions that aren't Kafka offsets, assertions, and
whatever else makes of a number more than that number.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from operator import le
from typing import Any, Protocol

import msgspec

from headwater_consumers.facts.alike import Alike, KafkaUse
from headwater_consumers.facts.delta import GraphDelta
from headwater_consumers.facts.nodes import IntervalFacts, Variant
from headwater_consumers.facts.registers import PROVENANCE_RANKS
from headwater_consumers.graph.segments.slots import Names, Owner, take_apart
from headwater_consumers.materializer.fold.filled import Filled, Template, picker
from headwater_consumers.materializer.fold.fold import fold
from headwater_consumers.materializer.fold.rejection import reject_decoded
from headwater_schemas.avro_numbers import NumbersPattern, Path, places
from headwater_schemas.avro_schema import FINGERPRINT_BYTES, current_schema
from headwater_schemas.codec import SINGLE_OBJECT_MAGIC
from headwater_schemas.errors import DecodeError
from headwater_schemas.events import IntervalEvent, LineageEvent, Provenance
from headwater_schemas.identity import NumberedIntervalId, event_id, micros
from headwater_schemas.latest import Latest

_START = len(SINGLE_OBJECT_MAGIC) + FINGERPRINT_BYTES
_ID_BYTES = 36
_ID = (_START + 1, _START + 1 + _ID_BYTES)
"""Where an event id is, behind its length."""
_TIME_BYTES = 8
"""Of an event time from 1978 to 3111, as zigzag has it."""
_NAMES = _ID[1] + _TIME_BYTES
"""Where tenant, producer, kind, job and run begin."""
_FIRST_MARK, _MARK_STEP = 1 << 50, 1 << 30
"""Marks are times of this millennium, and any two and their distance are different from what else is in a report."""


class Decodes(Protocol):
    """The part of `headwater_schemas.codec.Decoder` that is called here."""

    def decode(self, value: bytes | None) -> LineageEvent:
        """The event in a record's value."""


class _Reader:
    """Reads the records of one template.

    Raises:
        ValueError, KeyError, DecodeError: the record isn't plain, or its template would be larger than `most`.

    Attributes:
        size: about how many bytes it takes.
    """

    def __init__(self, value: bytes, event: LineageEvent, decoder: Decodes, most: int) -> None:
        numbers = places(current_schema().parsed, value, _START)
        self.size = _size(value, len(numbers))
        if self.size > most:
            raise ValueError("takes too much memory")
        self.pattern = NumbersPattern(value, numbers, _ID)
        paths = {place.path: number for number, place in enumerate(numbers)}
        self._ids = _ids(event, paths)
        pairs = [(paths[path], paths[*path[:-1], "to_exclusive"]) for path in paths if path[-1] == "from"]
        self._starts, self._ends = (picker([pair[side] for pair in pairs]) for side in (0, 1))
        self.template = _template(value, event, self.pattern, decoder)

    def read(self, value: bytes) -> Filled | None:
        """The report; None where it isn't of this template, or not good."""
        found = self.pattern.read(value)
        if found is None:
            return None
        text, numbers = found
        if not all(map(le, self._starts(numbers), self._ends(numbers))):
            return None
        event_id = self._ids.of(numbers)
        return Filled(self.template, event_id, numbers, value) if event_id.encode() == text else None


def _size(value: bytes, numbers: int) -> int:
    return 8_000 + 20 * len(value) + 600 * numbers


def _ids(event: LineageEvent, paths: Mapping[Path, int]) -> NumberedIntervalId:
    body = _body(event)
    entry: Path = ("interval_event", "entries", 0)
    ends = [
        (
            use.dataset,
            None
            if use.position is None or use.position.kafka is None
            else [
                (part.partition, paths[*entry, "inputs", at, "position", "kafka", "ranges", number, "to_exclusive"])
                for number, part in enumerate(use.position.kafka.ranges)
            ],
        )
        for at, use in enumerate(body.entries[0].inputs)
    ]
    return NumberedIntervalId(event.tenant, body.query_id, paths[*entry, "batch_id"], ends)


def _body(event: LineageEvent) -> IntervalEvent:
    """The body of a report that may be plain.

    Raises:
        ValueError: it isn't.
    """
    body = event.interval_event
    if body is None or len(body.entries) != 1 or body.entries[0].quality:
        raise ValueError("not one micro-batch without assertions")
    entry = body.entries[0]
    for use in (*entry.inputs, *entry.outputs):
        if use.position is not None and use.position.kafka is None:
            raise ValueError("a position that isn't Kafka offsets")
    if len({use.dataset for use in entry.inputs}) < len(entry.inputs):
        raise ValueError("a dataset is read twice")
    return body


def _template(value: bytes, event: LineageEvent, pattern: NumbersPattern, decoder: Decodes) -> Template:
    """The template that a record makes.

    Raises:
        ValueError: it isn't plain.
    """
    marks = tuple(_FIRST_MARK + _MARK_STEP * number for number in range(pattern.count))
    marked = decoder.decode(pattern.fill(event.event_id.encode(), marks))
    marked = msgspec.structs.replace(marked, event_id=event_id(marked))
    made, delta = fold([event]), fold([marked])
    facts, variant = _only(delta)
    at = {mark: number for number, mark in enumerate(marks)}
    body, owner = _body(event), Owner(event.tenant, _body(event).query_id)
    names = {
        key: Names(str(node.identity["namespace"]), str(node.identity["name"])) for key, node in delta.datasets.items()
    }
    slot = take_apart(owner, facts.batch_id, facts.variants, names)
    constants = tuple(number for number in slot.numbers if number not in at)
    others = iter(range(len(marks), len(marks) + len(constants)))
    time = _time(delta, at)
    registers = {name: cell for name, (_, cell) in variant.registers.items() if name in _OUTLINED}
    uses = {
        use: None if (position := of.get("position")) is None else _offsets(position[1], at)
        for use, of in variant.uses.items()
    }
    numbered = {name: at[cell] for name, cell in registers.items() if type(cell) is int}
    timed = {name: at[micros(cell)] for name, cell in registers.items() if type(cell) is datetime}
    template = Template(
        owner=owner,
        query=facts.query,
        rank=PROVENANCE_RANKS[body.provenance],
        event_time=at[micros(marked.event_time)],
        batch_id=at[facts.batch_id],
        time=time,
        constants=constants,
        slot=picker([at[number] if number in at else next(others) for number in slot.numbers]),
        shapes=slot.shapes,
        texts=slot.texts,
        shared=GraphDelta(
            jobs=made.jobs,
            datasets=made.datasets,
            queries=made.queries,
            runs=made.runs,
            plans=made.plans,
            links=made.links,
        ),
        registers=registers,
        numbered=numbered,
        timed=timed,
        uses=uses,
        alike=None
        if body.provenance is Provenance.RECONCILED
        else Alike(
            facts.query,
            str(run["_run"]) if isinstance(run := registers.get("run"), dict) else None,
            time=timed.get("processing_time"),
            duration_ms=numbered.get("duration_ms"),
            rows_in=numbered.get("rows_in"),
            dropped=numbered.get("rows_dropped_late"),
            uses=uses,
        ),
        event=decoder.decode,
    )
    found = pattern.read(value)
    if found is None:
        raise ValueError("a number that is too large, or negative")
    _check(Filled(template, event.event_id, found[1], value), made)
    _check(Filled(template, marked.event_id, marks, b""), delta)
    return template


_OUTLINED = frozenset({"provenance", "processing_time", "duration_ms", "rows_in", "rows_dropped_late", "run"})
"""Registers that a segment's summary is made of."""


def _check(report: Filled, made: GraphDelta) -> None:
    facts = report.facts()
    if replace(report.template.shared_facts([report]), intervals={str(facts.identity["key"]): facts}) != made:
        raise ValueError("the template makes something else of a report than folding it")


def _only(delta: GraphDelta) -> tuple[IntervalFacts, Variant]:
    (facts,) = delta.intervals.values()
    (variant,) = facts.variants.values()
    return facts, variant


def _time(delta: GraphDelta, at: Mapping[int, int]) -> int | None:
    """The place of the time that everything was seen at, the job as well; None where nothing was."""
    (job,) = delta.jobs.values()
    return None if job.seen.first is None else at[micros(job.seen.first)]


def _offsets(position: Any, at: Mapping[int, int]) -> KafkaUse:
    from_, to_exclusive = ([at[number] for number in position[name]] for name in ("from", "to_exclusive"))
    return KafkaUse(position, picker(from_), picker(to_exclusive))


@dataclass(slots=True)
class _Known:
    """What is known of the records of one run of a query.

    Attributes:
        readers: of its templates, that of the latest record first.
        misses: how many records had none of these.
        next: of how many of them a template is made.
    """

    readers: list[_Reader] = field(default_factory=list)
    misses: int = 0
    next: int = 2

    @property
    def size(self) -> int:
        """About how many bytes it takes."""
        return 500 + sum(reader.size for reader in self.readers)


_MOST = 4
"""Templates of one run."""
_BYTES = 64 << 20
"""Of all templates, about: 2,500 of reports with twenty numbers, or fifty of reports with two thousand."""


class TemplateDecoder:
    """Decodes what has a template as that; everything else as `decoder` does.

    Making a template takes a hundred times as long as decoding a record. So one is made of the second record of a run,
    and then of the fourth, the eighth and so on of those that none fits.

    Args:
        decoder: of every record.
        size: about how many bytes templates may take. Those of runs that weren't seen for longest are dropped.
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
                if (filled := reader.read(value)) is not None:
                    if number:
                        known.readers.insert(0, known.readers.pop(number))
                    return filled
        event = self._decoder.decode(value)
        if names and event.interval_event is not None:
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
            known.readers.insert(0, _Reader(value, event, self._decoder, self._largest))
        except (ValueError, KeyError, DecodeError):
            return  # not plain
        del known.readers[_MOST:]
        self._known.put(names, known, known.size + len(names))


def _names(value: bytes) -> bytes:
    """Tenant, producer, kind, job and run, as the record has them; empty where it has no run, or they are long."""
    at, size = _NAMES, len(value)
    for is_optional in (False, False, False, True, False, True):
        if is_optional:
            if at >= size or value[at] != 2:
                return b""
            at += 1
        if at >= size:
            return b""
        length = value[at]
        if length < 0x80:
            at += 1 + (length >> 1)
        elif at + 1 < size and value[at + 1] < 0x80:
            at += 2 + ((length & 0x7F | value[at + 1] << 7) >> 1)
        else:
            return b""
    return value[_NAMES:at]
