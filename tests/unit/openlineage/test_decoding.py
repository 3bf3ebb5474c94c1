"""Values that are taken for a document, and those that aren't, with the reason."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater_openlineage.decoding import decode
from headwater_openlineage.errors import Refused
from headwater_openlineage.nesting import deeper


def test_a_document_is_decoded() -> None:
    assert decode('\ufeff{"a": [1, 2.5, "ü\\ud83d\\ude00", null, true]}'.encode()) == {"a": [1, 2.5, "ü😀", None, True]}


NO_DOCUMENTS: list[tuple[bytes, str]] = [
    (b"", "must be JSON: Expecting value at line 1, column 1"),
    (b'{"a": 1', "must be JSON: "),
    (b"{'a': 1}", "must be JSON: "),
    (b'{"a": 1} {}', "must be JSON: Extra data"),
    (b'{"a": "\x00"}', "must be JSON: Invalid control character"),
    (b"[]", "must be an object, not an array"),
    (b"3", "must be an object, not a number"),
    (b'{"a": "\xff"}', "must be UTF-8: byte 7 isn't"),
    ('{"a": 1}'.encode("utf-16"), "must be UTF-8: byte 0 isn't"),
]


def test_what_is_no_document_is_refused(subtests: pytest.Subtests) -> None:
    for data, reason in NO_DOCUMENTS:
        with subtests.test(data=data):
            with pytest.raises(Refused) as refused:
                decode(data)
            assert refused.value.pointer == ""
            assert reason in refused.value.reason


FAULTS: list[tuple[bytes, str, str]] = [
    (b'{"a": {"b": 1, "c": 2, "b": 3}}', "/a/b", "is there twice in one object: give it once"),
    (b'{"a": [0, {"x/y": 1, "x/y": 1}]}', "/a/1/x~1y", "is there twice"),
    (b'{"a": 1, "a": {"b": NaN}}', "/a", "is there twice"),
    (b'{"a" \n: 1, "a":1}', "/a", "is there twice"),
    (b'{"a":1,"b":"\\u003a","a":2}', "/a", "is there twice"),
    (b'{"a":{"x":":::","x":":::"}}', "/a/x", "is there twice"),
    (b'{"a": NaN}', "/a", "is NaN, which JSON doesn't know"),
    (b'{"a": [1, -Infinity]}', "/a/1", "is -Infinity"),
    (b"NaN", "", "is NaN"),
    (b'{"a": 1e999}', "/a", "is a number that no 64-bit float holds"),
    (b'{"a": ' + b"9" * 5000 + b"}", "/a", "is a whole number of 5,000 digits"),
    (b'{"b": 1, "a": "\\ud800"}', "/a", "has half of a surrogate pair"),
    (b'{"a": {"\\udfff": 1}}', "/a", "has a name with half of a surrogate pair"),
    (b'{"a": ["\\ude00\\ud83d"]}', "/a/0", "has half of a surrogate pair"),
]


def test_a_member_at_fault_is_named(subtests: pytest.Subtests) -> None:
    for data, pointer, reason in FAULTS:
        with subtests.test(data=data, pointer=pointer):
            with pytest.raises(Refused) as refused:
                decode(data)
            assert refused.value.pointer == pointer
            assert reason in refused.value.reason


def test_a_document_has_a_limit_of_size() -> None:
    data = b'{"a": "' + b"x" * 92 + b'"}'
    assert len(data) == 101
    assert decode(data, max_bytes=101)
    with pytest.raises(Refused, match="has 101 bytes: at most 100 are taken"):
        decode(data, max_bytes=100)


@pytest.mark.parametrize("opening", ['{"a":', "["])
def test_a_document_has_a_limit_of_nesting(opening: str) -> None:
    closing = "}" if opening.startswith("{") else "]"

    def nested(depth: int) -> bytes:
        return ('{"x":' + opening * (depth - 1) + "0" + closing * (depth - 1) + "}").encode()

    assert decode(nested(100))
    for depth in (101, 1_000, 500_000):
        with pytest.raises(Refused, match="is nested deeper than 100 levels"):
            decode(nested(depth), max_bytes=10_000_000)


def test_brackets_in_strings_nest_nothing() -> None:
    inside = '"' + "[{" * 200 + '\\"[' * 200 + '\\\\"'
    assert decode(f'{{"a": [{inside}, {inside}], {inside}: 1}}'.encode())


def test_more_opening_than_closing_brackets_are_no_json() -> None:
    with pytest.raises(Refused, match=r"nested deeper|must be JSON"):
        decode(b"[" * 400_000)


STRINGS = st.text(st.sampled_from('[]{}"\\a'), max_size=4)
NESTED = st.recursive(
    STRINGS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(STRINGS, inner, max_size=3),
    max_leaves=12,
)


def depth(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(depth, value.values()), default=0)
    return 1 + max(map(depth, value), default=0) if isinstance(value, list) else 0


@given(st.dictionaries(STRINGS, NESTED, max_size=3))
def test_brackets_and_quotes_in_strings_do_not_count_as_nesting(document: dict[str, Any]) -> None:
    data = json.dumps(document).encode()
    assert not deeper(data, depth(document))
    assert deeper(data, depth(document) - 1)


NAMED = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | STRINGS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(st.text(max_size=3), NAMED, max_size=3), st.booleans(), st.sampled_from([None, 1]))
def test_a_document_is_read_as_json_reads_it(document: dict[str, Any], ascii_only: bool, indent: int | None) -> None:
    data = json.dumps(document, ensure_ascii=ascii_only, indent=indent).encode("utf-8", "surrogatepass")
    assert repr(decode(data)) == repr(json.loads(data))


@given(st.text(':"\\ \n\u00e9a', max_size=6), st.text(':"\\ \n\u00e9a', max_size=6), st.booleans(), st.integers(0, 2))
def test_a_name_that_is_there_twice_is_always_found(name: str, value: str, ascii_only: bool, spaces: int) -> None:
    member = json.dumps(name, ensure_ascii=ascii_only) + " " * spaces + ":" + json.dumps(value, ensure_ascii=ascii_only)
    with pytest.raises(Refused, match="is there twice"):
        decode(f'{{"x": [{{{member}, "{name and "y"}": 0, {member}}}]}}'.encode())


SCHEMA = '{"_producer": "p", "_schemaURL": "s", "fields": [{"name": "a:b", "type": "int"}]}'


def with_facets(facets: str, **others: str) -> bytes:
    members = "".join(f', "{name}": {value}' for name, value in others.items())
    entry = f'{{"namespace": "n", "name": "t", "facets": {facets}}}'
    return f'{{"eventType": "START", "inputs": [{entry}], "outputs": [{entry}]{members}}}'.encode()


def test_a_facet_that_is_word_for_word_the_same_is_one_object() -> None:
    first, second = (decode(with_facets(f'{{"schema": {SCHEMA}}}')) for _ in range(2))
    facets = [each[side][0]["facets"]["schema"] for each in (first, second) for side in ("inputs", "outputs")]
    assert all(facet is facets[0] for facet in facets)
    assert first == json.loads(with_facets(f'{{"schema": {SCHEMA}}}'))
    assert decode(with_facets(f'{{"schema": {SCHEMA.replace("int", "long")}}}')) != first


REPEATED_FAULTS: list[tuple[str, str]] = [
    ('{"schema": {"fields": [], "fields": []}}', "/inputs/0/facets/schema/fields"),
    ('{"schema": {}, "schema": {}}', "/inputs/0/facets/schema"),
    ('{"schema": {"a": NaN}}', "/inputs/0/facets/schema/a"),
    ('{"schema": {"a": "\\ud800"}}', "/inputs/0/facets/schema/a"),
]


def test_a_fault_within_a_facet_is_found_however_often_it_comes(subtests: pytest.Subtests) -> None:
    for facets, pointer in REPEATED_FAULTS:
        with subtests.test(facets):
            for _ in range(3):
                with pytest.raises(Refused) as refused:
                    decode(with_facets(facets))
                assert refused.value.pointer == pointer


READ_TWICE: list[bytes] = [
    with_facets("null"),
    with_facets('{"schema": null, "other": 3}'),
    with_facets(f'{{"schema": {SCHEMA}}}', unknown='{"x": [1]}'),
    with_facets('{"a": {"count": 123456789012345678901234567890}}'),
    with_facets("{}", run='{"runId": "x", "facets": {"a": {"b": 1.5}}}', producer='"p"', job="null"),
    b'{"eventTime": null, "inputs": null, "outputs": [], "schemaURL": "u"}',
    b'{"dataset": {"namespace": "n", "name": "t", "facets": {"schema": {}}}}',
]


def test_a_document_is_the_same_however_it_is_read(subtests: pytest.Subtests) -> None:
    for data in READ_TWICE:
        with subtests.test(data=data):
            assert decode(data) == json.loads(data)
