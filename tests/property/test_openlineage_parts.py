"""A document is read the same whether its parts were in other documents before or not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from headwater_openlineage.decoding import decode
from headwater_openlineage.errors import Refused
from headwater_openlineage.incoming import events_of
from headwater_openlineage.intake.receiving import Refusal, RefusalReason, receive
from headwater_openlineage.parts import Shared
from headwater_schemas.codec import encode
from headwater_schemas.events import LineageEvent
from support.examples import examples
from support.openlineage_documents import documents
from support.openlineage_spec import official_schemas


@pytest.fixture(scope="module", autouse=True)
def _specifications() -> None:
    official_schemas()


def plainly(data: bytes) -> list[LineageEvent] | Refusal:
    """The outcome where nothing is shared with any other document."""
    try:
        document = decode(data, shared=False)
    except Refused as refused:
        return Refusal(RefusalReason.NOT_JSON, refused.pointer, refused.reason)
    try:
        return events_of(document, tenant="default")
    except Refused as refused:
        return Refusal(RefusalReason.NOT_AN_EVENT, refused.pointer, refused.reason)


def taken(data: bytes) -> list[LineageEvent] | Refusal:
    received = receive(data, tenant="default", strict=True)
    return received if isinstance(received, Refusal) else received.events


def same(data: bytes) -> None:
    """The outcome is the same each time, events as well as their bytes."""
    wanted, first, again = plainly(data), taken(data), taken(data)
    assert first == wanted
    assert again == wanted
    if not isinstance(wanted, Refusal):
        assert not isinstance(again, Refusal)
        assert [encode(event) for event in again] == [encode(event) for event in wanted]


def moved(document: Any, draw: st.DataObject) -> Any:
    """Document of another run with the same parts, and its datasets in other places."""
    found = {**document, "eventTime": "2026-07-01T00:00:00Z"}
    for name in ("inputs", "outputs"):
        if isinstance(found.get(name), list):
            found[name] = draw.draw(st.permutations(found[name]))
    if isinstance(found.get("inputs"), list) and isinstance(found.get("outputs"), list) and draw.draw(st.booleans()):
        used = [{**each} for each in found["outputs"]]
        for each in used:
            each.pop("outputFacets", None)
        found["inputs"] = [*found["inputs"], *used]
    return found


@given(st.deferred(documents), st.data())
@settings(max_examples=examples(150), phases=[Phase.explicit, Phase.generate])
def test_documents_with_the_same_parts(document: dict[str, Any], draw: st.DataObject) -> None:
    same(json.dumps(document).encode())
    same(json.dumps(moved(document, draw)).encode())


ODD = [
    "null",
    "1",
    "[]",
    '{"x": {"_producer": "p", "_schemaURL": "s", "a": 1, "a": 2}}',
    '{"x": {"a": 1}, "x": {"b": 1}}',
    '{"x": {"a": NaN}}',
    '{"x": {"a": 1e999}}',
    '{"x": {"a": 123456789012345678901234567890}}',
    '{"x": {"a": "\\ud800"}}',
    '{"x": {"a\\u003ab": 1, "a:b": 2}}',
    '{"x": {"a\\u003cb": "\\u00e9\\u0000"}}',
    '{"x": 3, "y": null}',
    '{"x": {"a": ' + "[" * 94 + "]" * 94 + "}}",
    '{"x": {"a": ' + "[" * 96 + "]" * 96 + "}}",
    '{"x": {"a": ' + "[" * 98 + "]" * 98 + "}}",
    '{"x": {"a": ' + "[" * 100_000 + "]" * 100_000 + "}}",
    '{"x": {"a": "',
    '{"schema": {"fields": [{"type": "int"}]}}',
    '{"schema": {"fields": [{"name": "a", "type": 1}]}}',
    '{"columnLineage": {"fields": {"a": {"inputFields": [{"namespace": "n", "field": "f"}]}}}}',
    '{"version": {"datasetVersion": 1}, "jobType": {"processingType": 1}, "ownership": {"owners": [{}]}}',
    "{}",
]
TEXT = """{"eventType": "COMPLETE", "eventTime": "2026-01-01T00:00:00Z", "producer": "p",
"schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
"run": {"runId": "0197c1de-52f0-7bd1-9d55-1a2b3c4d5e6f", "facets": %(run)s},
"job": {"namespace": "n", "name": "j", "facets": %(job)s},
"inputs": [{"namespace": "n", "name": "first"},
{"namespace": "n", "name": "t", "facets": %(inputs)s, "inputFacets": %(use)s}],
"outputs": [{"namespace": "n", "name": "u", "facets": %(outputs)s}]}"""


def test_whatever_is_in_a_part_is_taken_or_refused_alike(subtests: pytest.Subtests) -> None:
    for place in ("run", "job", "inputs", "use", "outputs"):
        for odd in ODD:
            with subtests.test(f"{place}: {odd[:40]}"):
                text = TEXT % {**dict.fromkeys(("run", "job", "inputs", "use", "outputs"), "{}"), place: odd}
                same(text.encode())
                same(text.replace('{"namespace": "n", "name": "first"},', "").encode())


def test_bytes_that_are_no_text_are_refused_alike() -> None:
    text = TEXT % dict.fromkeys(("run", "job", "inputs", "use", "outputs"), '{"x": {"a": "?"}}')
    for at in [place for place, byte in enumerate(text.encode()) if byte == ord("?")]:
        data = bytearray(text.encode())
        data[at] = 0xFF
        same(bytes(data))


def test_a_member_that_the_specification_does_not_have_comes_back_from_either() -> None:
    for before, after in (
        ('"run": {', '"x": 1, "run": {'),
        ('"name": "u"', '"name": "u", "y": 2'),
        ('"name": "j"', '"name": "j", "z": 3'),
    ):
        text = TEXT % dict.fromkeys(("run", "job", "inputs", "use", "outputs"), "{}")
        same(text.replace(before, after).encode())


def test_parts_are_shared() -> None:
    text = TEXT % {
        **dict.fromkeys(("run", "inputs", "use"), "{}"),
        "job": '{"sql": {"query": "SELECT 1"}}',
        "outputs": '{"x": {"a": "\\u00e9"}}',
    }
    one, other = decode(text.encode()), decode(text.replace("2026-01-01", "2026-01-02").encode())
    assert isinstance(one["job"]["facets"], Shared)
    assert one["job"]["facets"] is other["job"]["facets"]
    assert one["outputs"][0]["facets"] is other["outputs"][0]["facets"]
    assert one["eventTime"] != other["eventTime"]
