"""Reports of micro-batches that are a template with other numbers: folded and stored without being taken apart.

Nearly all reports of a streaming query differ in their numbers and event id alone. A `Template` is made of one of them,
by folding it (`templates`), and has where each number goes: into the slot that is stored, the spans of what the report
names, the position of each use. A `Filled` is another report with the numbers that it has instead.

Whatever isn't plain, such as a second report of a micro-batch, goes the way of every other event: `Filled.facts` is
what folding the event makes of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from operator import itemgetter
from typing import Any

from headwater_consumers.facts.alike import Alike, KafkaUse, Numbers, Pick
from headwater_consumers.facts.delta import GraphDelta
from headwater_consumers.facts.model import UseKey
from headwater_consumers.facts.nodes import Batches, IntervalFacts, NodeFacts, TimeSpan, Variant
from headwater_consumers.facts.registers import Cell, Registers, stamp
from headwater_consumers.graph.keys import interval_identity, interval_key
from headwater_consumers.graph.segments.slots import Owner, Shapes, Slot, put_together
from headwater_schemas.events import LineageEvent
from headwater_schemas.identity import from_micros


def picker(places: Sequence[int]) -> Pick:
    """What takes the numbers at these places."""
    if len(places) > 1:
        return itemgetter(*places)
    return lambda numbers: tuple([numbers[place] for place in places])


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Template:
    """What a report states, but for its numbers.

    Attributes:
        owner, query: whose micro-batches it is about, and the query's key.
        rank: of its stamps.
        event_time, batch_id, time: places of these numbers; `time` is that of the spans, None where none is known.
        constants: numbers of the slot that aren't among the report's.
        slot: takes the slot's numbers from those of the report followed by `constants`.
        shapes, texts: of the slot.
        shared: what the report states of all but its micro-batch, with stamps, times and batches of some report.
        registers: of the micro-batch, those of `outline`, with the values of some report.
        numbered, timed: places of those whose values are numbers, and of those that are times.
        uses: of the micro-batch.
        alike: what its micro-batches have in common; None where that isn't enough for a segment's summary.
        event: decodes the record of a report.
    """

    owner: Owner
    query: str
    rank: int
    event_time: int
    batch_id: int
    time: int | None
    constants: Numbers
    slot: Pick
    shapes: Shapes
    texts: list[str]
    shared: GraphDelta
    registers: Mapping[str, Cell]
    numbered: Mapping[str, int]
    timed: Mapping[str, int]
    uses: Mapping[UseKey, KafkaUse | None]
    alike: Alike | None
    event: Callable[[bytes], LineageEvent]

    def shared_facts(self, reports: Sequence[Filled]) -> GraphDelta:
        """What some reports state of all but their micro-batches: the greatest stamp counts, and the whole span."""
        mark = max(report.stamp for report in reports)
        batches = [report.batch_id for report in reports]
        span = TimeSpan()
        if self.time is not None:
            times = [report.numbers[self.time] for report in reports]
            span = TimeSpan(from_micros(min(times)), from_micros(max(times)))
        range_ = Batches(min(batches), max(batches))

        def again(nodes: dict[str, Any], **more: Any) -> dict[str, Any]:
            return {key: _again(node, mark, span, more) for key, node in nodes.items()}

        of = self.shared
        return replace(
            of,
            jobs=again(of.jobs),
            queries=again(of.queries, batches=range_),
            runs=again(of.runs, batches=range_),
            plans=again(of.plans),
            links=dict.fromkeys(of.links, span),
        )


def _again(node: NodeFacts, mark: str, span: TimeSpan, more: Mapping[str, Any]) -> NodeFacts:
    registers: Registers = {name: (mark, cell) for name, (_, cell) in node.registers.items()}
    return replace(node, registers=registers, seen=span if node.seen.first is not None else node.seen, **more)


class Filled:
    """A good report of one micro-batch, as a template and numbers."""

    __slots__ = ("event_id", "numbers", "template", "value")

    def __init__(self, template: Template, event_id: str, numbers: Numbers, value: bytes) -> None:
        self.template = template
        self.event_id = event_id
        self.numbers = numbers
        self.value = value

    @property
    def query(self) -> str:
        """Key of its query."""
        return self.template.query

    @property
    def owner(self) -> Owner:
        """Tenant and id of its query."""
        return self.template.owner

    @property
    def batch_id(self) -> int:
        """Of its micro-batch."""
        return self.numbers[self.template.batch_id]

    @property
    def alike(self) -> Alike | None:
        """What it has in common with others of its template."""
        return self.template.alike

    @property
    def event_time(self) -> datetime:
        """As of any event."""
        return from_micros(self.numbers[self.template.event_time])

    @property
    def seen_at(self) -> datetime | None:
        """When its micro-batch was processed; None: not known."""
        place = self.template.time
        return None if place is None else from_micros(self.numbers[place])

    @property
    def stamp(self) -> str:
        """Of its registers."""
        return stamp(self.event_time, self.event_id, self.template.rank)

    @property
    def slot(self) -> Slot:
        """Its micro-batch, as it is stored."""
        template = self.template
        return Slot(template.shapes, template.slot(self.numbers + template.constants), template.texts)

    @property
    def event(self) -> LineageEvent:
        """The event that the record has."""
        return self.template.event(self.value)

    def facts(self) -> IntervalFacts:
        """What folding the event makes of its micro-batch."""
        facts = self._named()
        facts.variants = put_together(self.owner, self.batch_id, self.slot, {})
        return facts

    def outline(self) -> IntervalFacts:
        """Of `facts` what a segment's summary is made of, without stamps."""
        template, numbers = self.template, self.numbers
        registers: Registers = {name: ("", cell) for name, cell in template.registers.items()}
        for name, place in template.numbered.items():
            registers[name] = "", numbers[place]
        for name, place in template.timed.items():
            registers[name] = "", from_micros(numbers[place])
        uses: dict[UseKey, Registers] = {
            use: {} if offsets is None else {"position": ("", offsets.position(numbers))}
            for use, offsets in template.uses.items()
        }
        return IntervalFacts({}, template.query, self.batch_id, {"": Variant(registers, uses)})

    def is_same(self, other: LineageEvent | Filled) -> bool:
        """Whether another event is equal."""
        if isinstance(other, Filled):
            if other.template is self.template:
                return other.numbers == self.numbers and other.event_id == self.event_id
            other = other.event
        return self.event == other

    def _named(self) -> IntervalFacts:
        tenant, query_id = self.owner
        key = interval_key(tenant, self.query, self.batch_id)
        identity = interval_identity(key, tenant, self.query, query_id, self.batch_id)
        return IntervalFacts(identity, self.query, self.batch_id)
