"""Reports read by a template are those that decoding makes, and fold and are stored as those do."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwater_consumers.facts.delta import GraphDelta
from headwater_consumers.graph.segments.summary import summarize
from headwater_consumers.materializer.fold import Filled, TemplateDecoder, fold, reject_decoded, templates
from headwater_consumers.materializer.write.segments import segment_rows
from headwater_schemas.avro_numbers import NumbersPattern, places
from headwater_schemas.avro_schema import current_schema
from headwater_schemas.codec import Decoder, encode
from headwater_schemas.errors import DecodeError
from headwater_schemas.events import (
    Certainty,
    DatasetRef,
    DatasetUse,
    EngineRef,
    FileSet,
    IntervalEntry,
    IntervalEvent,
    JobRef,
    KafkaRanges,
    LineageEvent,
    OffsetRange,
    Position,
    Provenance,
    QualityResult,
    RunRef,
    Versions,
)
from headwater_schemas.events.build import lineage_event
from headwater_schemas.identity import event_id
from support.event_strategies import interval_events
from support.examples import examples
from support.template_records import START, are_filled, run_of

MINUTE = timedelta(minutes=1)
RECORD_START = 10


class Stream:
    """Reports of one run of a query, all with the same fields and names."""

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice
        self._inputs = [self._use(number) for number in range(dice.randrange(3))]
        self._outputs = [self._use(number) for number in range(dice.randrange(3))]
        self._given = {
            name for name in ("processing_time", "watermark_after", "duration_ms", "rows_in") if self._odds(0.7)
        }
        self._provenance = dice.choice([Provenance.OBSERVED, Provenance.OBSERVED, Provenance.RECONCILED])
        self._run = RunRef("r%") if self._odds(0.8) else None
        self._plan = "a" * 32 if self._odds(0.3) else None
        self._late = self._odds(0.3)
        self._quality = (QualityResult(assertion="a", passed=True),) if self._odds(0.1) else ()
        self._versions = Versions(code="c", engine=EngineRef("spark", "4.0.0")) if self._odds(0.5) else None

    def _odds(self, share: float) -> bool:
        return self._dice.random() < share

    def _use(self, number: int) -> dict[str, Any]:
        kind = self._dice.choice(["kafka", "kafka", "kafka", "files", "none"])
        return {
            "dataset": DatasetRef("kafka://b", f"t%{number}" if self._odds(0.95) else "t%0"),
            "kind": kind,
            "partitions": sorted(self._dice.sample(range(300), self._dice.randrange(4))),
            "topic_id": self._dice.choice([None, "id"]),
            "rows": self._odds(0.5),
        }

    def _made(self, of: dict[str, Any]) -> DatasetUse:
        position = None
        if of["kind"] == "kafka":
            ranges = []
            for partition in of["partitions"]:
                first = self._number()
                ranges.append(OffsetRange(partition=partition, from_=first, to_exclusive=first + self._number()))
            position = Position(kafka=KafkaRanges(topic="t", ranges=tuple(ranges), topic_id=of["topic_id"]))
        elif of["kind"] == "files":
            position = Position(files=FileSet(count=self._number(), manifest_digest="d"))
        return DatasetUse(
            dataset=of["dataset"],
            position=position,
            certainty=Certainty.EXACT,
            rows=self._number() if of["rows"] else None,
        )

    def _number(self) -> int:
        return self._dice.choice([0, 1, 63, 64, 8191, 8192, self._dice.randrange(5), self._dice.randrange(1 << 40)])

    def report(self) -> LineageEvent:
        at = START + timedelta(microseconds=self._number())
        fields: dict[str, Any] = {
            "processing_time": at - timedelta(seconds=self._dice.randrange(3)),
            "watermark_after": at,
            "duration_ms": self._number(),
            "rows_in": self._number(),
        }
        entry = IntervalEntry(
            batch_id=self._dice.randrange(6),
            inputs=tuple(self._made(of) for of in self._inputs),
            outputs=tuple(self._made(of) for of in self._outputs),
            quality=self._quality,
            plan_digest=self._plan,
            rows_dropped_late=self._dice.choice([0, 0, -1, 7]) if self._late else None,
            **{name: value for name, value in fields.items() if name in self._given},
        )
        body = IntervalEvent(
            query_id="q%", entries=(entry,), query_name="q", provenance=self._provenance, versions=self._versions
        )
        return lineage_event(body, job=JobRef("n", "j"), run=self._run, producer="p", event_time=at, tenant="t")


def spoilt(value: bytes, dice: random.Random) -> bytes:
    """The record with other numbers, and maybe the id that belongs to them: mostly no good report any more."""
    pattern = NumbersPattern(value, places(current_schema().parsed, value, RECORD_START, {"event_id"}))
    found = pattern.read(value)
    if found is None:
        return value
    texts, numbers = found
    drawn = [dice.choice([number, number, 0, 1, (1 << 55) - 1, dice.randrange(1 << 55)]) for number in numbers]
    filled = pattern.fill(texts, drawn)
    if dice.random() < 0.5:
        try:
            event = Decoder().decode(filled)
        except DecodeError:
            return filled
        return pattern.fill([event_id(event).encode()], drawn)
    return filled


def decoded(decoder: Any, value: bytes) -> LineageEvent | Filled | str:
    try:
        event = decoder.decode(value)
    except DecodeError as error:
        return f"{type(error).__name__}: {error}"
    if isinstance(event, Filled):
        return event
    rejection = reject_decoded(event)
    return event if rejection is None else rejection.message


def both(values: list[bytes]) -> tuple[list[LineageEvent], list[LineageEvent | Filled]]:
    """What both decoders make of the records: the events of those that are good."""
    plain, templates = Decoder(), TemplateDecoder(Decoder())
    events: list[LineageEvent] = []
    again: list[LineageEvent | Filled] = []
    for value in values:
        one, other = decoded(plain, value), decoded(templates, value)
        assert one == (other.event if isinstance(other, Filled) else other)
        if not isinstance(one, str) and not isinstance(other, str):
            assert isinstance(one, LineageEvent)
            events.append(one)
            again.append(other)
            assert (one.event_id, one.event_time) == (other.event_id, other.event_time)
    return events, again


def check(values: list[bytes], dice: random.Random) -> int:
    events, again = both(values)
    for _ in range(2):
        one, other = fold(events), fold(again)
        assert other.whole() == one
        assert (other.events, other.duplicates, other.stale) == (one.events, one.duplicates, one.stale)
        rows, filled = segment_rows(one), segment_rows(other)
        assert filled.names == rows.names
        assert filled.segments.keys() == rows.segments.keys()
        for key, incoming in rows.segments.items():
            same = filled.segments[key]
            assert same.place == incoming.place
            facts = {batch_id: interval.facts() for batch_id, interval in incoming.intervals.items()}
            assert {batch_id: interval.facts() for batch_id, interval in same.intervals.items()} == facts
            for batch_id, slot in same.slots.items():
                # Of several reports joined, the order in which their registers are stored is that of joining them.
                if isinstance(same.intervals[batch_id], Filled):
                    assert slot._replace(numbers=list(slot.numbers)) == incoming.slots[batch_id]
            outlines = {batch_id: interval.outline() for batch_id, interval in same.intervals.items()}
            tenant = incoming.place.tenant
            assert summarize(tenant, outlines, None) == summarize(tenant, facts, None)
        order = list(range(len(events)))
        dice.shuffle(order)
        events, again = [events[at] for at in order], [again[at] for at in order]
    return sum(isinstance(event, Filled) for event in again)


@settings(max_examples=examples(80))
@given(st.integers(0, 1 << 32), st.integers(1, 3), st.integers(1, 25))
def test_a_template_changes_nothing(seed: int, streams: int, count: int) -> None:
    dice = random.Random(seed)
    sources = [Stream(dice) for _ in range(streams)]
    values = [encode(dice.choice(sources).report()) for _ in range(count)]
    values += [dice.choice(values) for _ in range(count // 4)]
    values += [spoilt(dice.choice(values), dice) for _ in range(count // 3)]
    dice.shuffle(values)
    check(values, dice)


@settings(max_examples=examples(60))
@given(interval_events(), st.randoms(use_true_random=False))
def test_of_any_report_either(event: LineageEvent, dice: random.Random) -> None:
    value = encode(event)
    check([value, value, value, *(spoilt(value, dice) for _ in range(5))], dice)


def test_reports_of_a_stream_are_read_by_its_template() -> None:
    dice = random.Random(7)
    stream = Stream(dice)
    while any(use["kind"] == "files" for use in (*stream._inputs, *stream._outputs)) or stream._run is None:
        stream = Stream(dice)
    stream._quality = ()
    values = [encode(stream.report()) for _ in range(50)]
    assert check(values, dice) >= 45


def test_what_has_no_template_is_decoded() -> None:
    event = Stream(random.Random(1)).report()
    value = encode(msgspec.structs.replace(event, run=None))
    decoder = TemplateDecoder(Decoder())
    assert not any(isinstance(decoder.decode(value), Filled) for _ in range(9))


def test_reports_that_differ_in_a_text_alone_are_not_the_same() -> None:
    decoder = TemplateDecoder(Decoder())
    (*_, x), (*_, y) = ([decoder.decode(value) for value in run_of(0, 5, facet=facet)] for facet in "xy")
    assert isinstance(x, Filled)
    assert isinstance(y, Filled)
    assert (x.event_id, x.numbers) == (y.event_id, y.numbers)
    assert not x.is_same(y)
    assert not x.is_same(y.event)
    assert x.is_same(Filled(x.template, x.event_id, x.numbers, x.value))
    assert x.is_same(x.event)


def test_what_is_read_by_a_template_is_folded_without_being_taken_apart() -> None:
    decoder = TemplateDecoder(Decoder())
    reports = [decoder.decode(value) for value in run_of(0, 9)][2:]
    delta = fold(reports)
    assert sorted(batch_id for _, batch_id in delta.filled) == list(range(2, 9))
    assert not delta.intervals
    twice = fold([*reports, msgspec.structs.replace(Decoder().decode(run_of(0, 5)[4]), event_time=START + MINUTE)])
    assert sorted(batch_id for _, batch_id in twice.filled) == [2, 3, *range(5, 9)]
    assert [interval.batch_id for interval in twice.intervals.values()] == [4]


def test_templates_take_so_much_memory_and_no_more() -> None:
    decoder = TemplateDecoder(Decoder(), size=1 << 20)
    first, *_, last = runs = [run_of(number, 3) for number in range(100)]
    assert [are_filled(decoder, values) for values in runs] == [[False, False, True]] * len(runs)
    assert are_filled(decoder, last) == [True] * 3
    assert are_filled(decoder, first) == [False, False, True], "its template was dropped, and made again"


def test_what_would_take_too_much_memory_has_no_template() -> None:
    decoder = TemplateDecoder(Decoder(), size=1 << 20)
    assert not any(are_filled(decoder, run_of(0, 9, partitions=30)))
    assert not any(are_filled(decoder, run_of(1, 9, facet="x" * 1_000)))
    assert any(are_filled(TemplateDecoder(Decoder()), run_of(2, 9, partitions=1_000)))


def test_a_number_in_what_reports_share_has_no_template(monkeypatch: pytest.MonkeyPatch) -> None:
    def with_batch_of_query(events: list[LineageEvent]) -> GraphDelta:
        delta = fold(events)
        for query in delta.queries.values():
            query.registers["latest"] = ("", query.batches.last or 0)
        return delta

    monkeypatch.setattr(templates, "fold", with_batch_of_query)
    assert not any(are_filled(TemplateDecoder(Decoder()), run_of(0, 9)))
    monkeypatch.undo()
    assert any(are_filled(TemplateDecoder(Decoder()), run_of(0, 9)))


def test_a_text_that_goes_by_a_number_has_no_template(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the report that a template is made of shows it, or the one with marks for numbers alone."""

    def with_size_of_batch(events: list[LineageEvent]) -> GraphDelta:
        delta = fold(events)
        for facts in delta.intervals.values():
            for variant in facts.variants.values():
                stamp, of = variant.registers["provenance"]
                variant.registers["provenance"] = (stamp, of if facts.batch_id < 1 << 40 else "RECONCILED")
        return delta

    def with_size_of_job(events: list[LineageEvent]) -> GraphDelta:
        delta = fold(events)
        [job], [query] = delta.jobs.values(), delta.queries.values()
        if (query.batches.last or 0) < 1 << 40:
            job.registers["size"] = (job.registers["processing_type"][0], "SMALL")
        return delta

    for changed in (with_size_of_batch, with_size_of_job):
        monkeypatch.setattr(templates, "fold", changed)
        assert not any(are_filled(TemplateDecoder(Decoder()), run_of(0, 9)))


def test_reports_that_name_no_dataset_have_a_template() -> None:
    values = []
    for value in run_of(0, 9):
        event = Decoder().decode(value)
        assert event.interval_event is not None
        [entry] = event.interval_event.entries
        body = msgspec.structs.replace(event.interval_event, entries=(msgspec.structs.replace(entry, inputs=()),))
        event = msgspec.structs.replace(event, interval_event=body)
        values.append(encode(msgspec.structs.replace(event, event_id=event_id(event))))
    assert check(values, random.Random(1)) > 5


@pytest.mark.parametrize("length", [b"\x01", b"\x91\x01"])
def test_numbers_of_bytes_that_are_no_record(length: bytes) -> None:
    value = run_of(0, 1)[0]
    start = value.index(b"kafka://b") - 1
    with pytest.raises(ValueError, match="length"):
        places(current_schema().parsed, value[:start] + length + value[start + 1 :], RECORD_START, ())
