"""Which records have a template, when it is made, and what becomes of records that have none."""

from __future__ import annotations

import pytest

from headwater_consumers.facts.delta import GraphDelta
from headwater_consumers.materializer.fold import TemplateDecoder, fold, templates
from headwater_consumers.materializer.fold.templates import _NAMES, _names
from headwater_schemas.codec import Decoder
from headwater_schemas.errors import DecodeError
from headwater_schemas.events import LineageEvent
from support.template_records import are_filled, run_of


def avro(text: str) -> bytes:
    """As Avro writes it: twice its length in groups of seven bits, the lowest first, and the text."""
    length, out = len(text.encode()) << 1, b""
    while length > 0x7F:
        out += bytes([length & 0x7F | 0x80])
        length >>= 7
    return out + bytes([length]) + text.encode()


@pytest.mark.parametrize("length", [1, 63, 64, 65, 100, 127, 128, 5_000, 8_191])
def test_a_run_is_known_by_the_names_in_its_records(length: int) -> None:
    [value] = run_of(7, 1, job="j" * length)
    names = b"".join(map(avro, ("t", "p", "INTERVAL"))) + b"\2" + avro("n") + avro("j" * length) + b"\2" + avro("r7")
    assert _names(value) == names
    for cut in range(len(names) - len("r7")):
        assert _names(value[: _NAMES + cut]) == b""


def test_a_record_whose_names_are_longer_has_no_template() -> None:
    values = run_of(0, 9, job="j" * 8_192)
    assert _names(values[0]) == b""
    assert not any(are_filled(TemplateDecoder(Decoder()), values))
    assert any(are_filled(TemplateDecoder(Decoder()), run_of(0, 9, job="j" * 8_191)))


@pytest.mark.parametrize("value", [None, b"", b"junk", b"\xc3\x01" + b"\0" * 80])
def test_what_is_no_record_of_now_goes_the_usual_way(value: bytes | None) -> None:
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
