"""Which records have a template, when it is made, and what becomes of records that have none."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from headwater_consumers.facts.delta import GraphDelta
from headwater_consumers.facts.model import RelType, UseKey
from headwater_consumers.graph.keys import dataset_key, query_key, run_key
from headwater_consumers.materializer.fold import Filled, TemplateDecoder, fold, templates
from headwater_consumers.materializer.fold.decoder import _NAMES, _names
from headwater_schemas.codec import Decoder, encode
from headwater_schemas.errors import DecodeError
from headwater_schemas.events import LineageEvent, Provenance
from headwater_schemas.identity import micros
from support.template_records import START, are_filled, run_of


def avro(text: str) -> bytes:
    """As Avro writes it: twice its length in groups of seven bits, the lowest first, and the text."""
    length, out = len(text.encode()) << 1, b""
    while length > 0x7F:
        out += bytes([length & 0x7F | 0x80])
        length >>= 7
    return out + bytes([length]) + text.encode()


def test_a_run_is_known_by_the_names_in_its_records(subtests: pytest.Subtests) -> None:
    for length in (1, 63, 64, 65, 100, 127, 128, 5_000, 8_191):
        with subtests.test(length=length):
            [value] = run_of(7, 1, job="j" * length)
            job = avro("n") + avro("j" * length)
            names = b"".join(map(avro, ("t", "p", "INTERVAL"))) + b"\2" + job + b"\2" + avro("r7")
            assert _names(value) == names
            for cut in range(len(names) - len("r7")):
                assert _names(value[: _NAMES + cut]) == b""


def test_a_record_whose_names_are_longer_has_no_template() -> None:
    values = run_of(0, 9, job="j" * 8_192)
    assert _names(values[0]) == b""
    assert not any(are_filled(TemplateDecoder(Decoder()), values))
    assert any(are_filled(TemplateDecoder(Decoder()), run_of(0, 9, job="j" * 8_191)))


def test_what_is_no_record_of_now_goes_the_usual_way(subtests: pytest.Subtests) -> None:
    for value in (None, b"", b"junk", b"\xc3\x01" + b"\0" * 80):
        with subtests.test(value=value):
            with pytest.raises(DecodeError) as usual:
                Decoder().decode(value)
            with pytest.raises(DecodeError) as found:
                TemplateDecoder(Decoder()).decode(value)
            assert str(found.value) == str(usual.value)


def filled(decoder: TemplateDecoder, facet: str, count: int) -> list[bool]:
    return are_filled(decoder, run_of(0, count, facet=facet))


def test_a_template_is_made_of_the_second_the_fourth_and_so_on_that_none_fits() -> None:
    decoder = TemplateDecoder(Decoder())
    assert filled(decoder, "a", 3) == [False, False, True]
    assert filled(decoder, "b", 3) == [False, False, True]
    assert filled(decoder, "c", 5) == [False] * 4 + [True]
    assert filled(decoder, "d", 9) == [False] * 8 + [True]


@pytest.mark.parametrize(("used", "dropped"), [("", "a"), ("a", "b"), ("acb", "d")])
def test_of_one_run_the_four_templates_that_were_used_last_are_kept(used: str, dropped: str) -> None:
    decoder = TemplateDecoder(Decoder())
    for facet, count in {"a": 2, "b": 2, "c": 4, "d": 8}.items():
        assert not any(filled(decoder, facet, count))
    for facet in used:
        assert filled(decoder, facet, 1) == [True]
    assert not any(filled(decoder, "e", 16))
    assert [facet for facet in "abcde" if filled(decoder, facet, 1) == [False]] == [dropped]


def test_a_number_that_folding_makes_of_another_has_no_template(monkeypatch: pytest.MonkeyPatch) -> None:
    def with_rows(events: list[LineageEvent]) -> GraphDelta:
        delta = fold(events)
        for facts in delta.intervals.values():
            for variant in facts.variants.values():
                variant.registers["rows_in"] = (variant.registers["provenance"][0], facts.batch_id + 1)
        return delta

    monkeypatch.setattr(templates, "fold", with_rows)
    assert not any(are_filled(TemplateDecoder(Decoder()), run_of(0, 9)))


class Strict:
    """Refuses large numbers."""

    def decode(self, value: bytes | None) -> LineageEvent:
        event = Decoder().decode(value)
        assert event.interval_event is not None
        if event.interval_event.entries[0].batch_id > 1 << 40:
            raise DecodeError("too large")
        return event


def test_what_can_not_be_decoded_with_other_numbers_has_no_template() -> None:
    assert not any(are_filled(TemplateDecoder(Strict()), run_of(0, 9)))


def records_with(count: int, provenance: Provenance = Provenance.OBSERVED, **fields: Any) -> list[bytes]:
    """Reports of one run of a query, whose micro-batches have more fields."""
    values = []
    for value in run_of(0, count, partitions=2):
        event = Decoder().decode(value)
        body = event.interval_event
        assert body is not None
        entry = msgspec.structs.replace(body.entries[0], **fields)
        body = msgspec.structs.replace(body, entries=(entry,), provenance=provenance)
        values.append(encode(msgspec.structs.replace(event, interval_event=body)))
    return values


def last_of(values: list[bytes]) -> Filled:
    decoder = TemplateDecoder(Decoder())
    *_, last = [decoder.decode(value) for value in values]
    assert isinstance(last, Filled)
    return last


def test_what_micro_batches_of_one_template_have_in_common() -> None:
    """And where each has its own numbers."""
    ran = START + timedelta(seconds=5)
    report = last_of(records_with(4, processing_time=ran, duration_ms=412, rows_in=77, rows_dropped_late=9))
    alike, numbers = report.alike, report.numbers
    assert alike is not None
    assert (alike.query, alike.run) == (query_key("t", "q0"), run_key("t", "r0"))
    places = (alike.time, alike.duration_ms, alike.rows_in, alike.dropped)
    assert [None if place is None else numbers[place] for place in places] == [micros(ran), 412, 77, 9]
    [(use, of_use)] = alike.uses.items()
    assert use == UseKey(RelType.CONSUMED, dataset_key("t", "kafka://b", "t"), 0)
    assert of_use is not None
    assert of_use.position(numbers) == {
        "position": "kafka",
        "certainty": "EXACT",
        "topic": "t",
        "partitions": [0, 1],
        "from": [3, 3],
        "to_exclusive": [12, 12],
    }


def test_what_reports_do_not_state_their_micro_batches_do_not_have_in_common() -> None:
    alike = last_of(records_with(4)).alike
    assert alike is not None
    assert (alike.time, alike.duration_ms, alike.rows_in, alike.dropped) == (None, None, None, None)


def test_reconciled_micro_batches_have_nothing_in_common_that_a_summary_counts() -> None:
    assert last_of(records_with(4, Provenance.RECONCILED)).alike is None


def test_a_template_shows_the_time_of_each_report_that_has_one() -> None:
    given: tuple[dict[str, Any], ...] = ({}, {"processing_time": START + timedelta(hours=1)})
    for fields in given:
        report = last_of(records_with(4, **fields))
        [job] = report.template.shared_facts([report]).jobs.values()
        assert job.seen.first == job.seen.last == fields.get("processing_time", START)
    report = last_of(records_with(4, Provenance.RECONCILED))
    [job] = report.template.shared_facts([report]).jobs.values()
    assert job.seen.first is None, "an event's time isn't that of what it reconciles"


def test_a_name_whose_length_takes_three_bytes_is_too_long_whatever_it_ends_with() -> None:
    [value] = run_of(0, 1, job="j" * 8_191 + "\2")
    assert _names(value) == b""
