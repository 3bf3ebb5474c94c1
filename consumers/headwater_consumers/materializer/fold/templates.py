"""Templates: made of a record by folding it, and what decodes later records by them.

Where a number goes isn't written down anywhere: the record is folded once more with marks in place of its numbers, each
another, and wherever a mark turns up, its number goes. A template isn't used unless it makes of its own record, and of
the marked one, exactly what folding makes of them. So there are no rules here to keep in step with those of the fold.

What a template isn't made of: several micro-batches in one report, positions that aren't Kafka offsets, assertions, and
whatever else makes of a number more than that number.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
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
from headwater_schemas.avro_numbers import NumbersPattern, Path, places
from headwater_schemas.avro_schema import current_schema
from headwater_schemas.codec import SINGLE_OBJECT_HEADER_BYTES
from headwater_schemas.events import IntervalEvent, LineageEvent, Provenance
from headwater_schemas.identity import NumberedIntervalId, event_id, micros

_FIRST_MARK, _MARK_STEP = 1 << 50, 1 << 30
"""Marks are times of this millennium, and any two and their distance are different from what else is in a report."""


def marks(count: int) -> tuple[int, ...]:
    """So many numbers, each of which is seen to be where it is."""
    return tuple(_FIRST_MARK + _MARK_STEP * number for number in range(count))


class Decodes(Protocol):
    """The part of `headwater_schemas.codec.Decoder` that is called here."""

    def decode(self, value: bytes | None) -> LineageEvent:
        """The event in a record's value."""


class ReportReader:
    """Reads the records of one template.

    Raises:
        ValueError, KeyError, DecodeError: the record isn't plain, or its template would be larger than `most`.

    Attributes:
        size: about how many bytes it takes.
    """

    def __init__(self, value: bytes, event: LineageEvent, decoder: Decodes, most: int) -> None:
        found = places(current_schema().parsed, value, SINGLE_OBJECT_HEADER_BYTES, {"event_id"})
        numbers = [place for place in found if not place.is_text]
        self.size = _size(value, len(numbers))
        if self.size > most:
            raise ValueError("takes too much memory")
        self.pattern = NumbersPattern(value, found)
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
        [text], numbers = found
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
    numbers = marks(pattern.count)
    marked = decoder.decode(pattern.fill([event.event_id.encode()], numbers))
    marked = msgspec.structs.replace(marked, event_id=event_id(marked))
    made, delta = fold([event]), fold([marked])
    facts, variant = _only(delta)
    at = {mark: number for number, mark in enumerate(numbers)}
    body, owner = _body(event), Owner(event.tenant, _body(event).query_id)
    names = {
        key: Names(str(node.identity["namespace"]), str(node.identity["name"])) for key, node in delta.datasets.items()
    }
    slot = take_apart(owner, facts.batch_id, facts.variants, names)
    constants = tuple(number for number in slot.numbers if number not in at)
    others = iter(range(len(numbers), len(numbers) + len(constants)))
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
    _check(Filled(template, marked.event_id, numbers, b""), delta)
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
