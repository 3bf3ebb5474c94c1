"""Documents of arrays and lines, found without parsing what is in them."""

from __future__ import annotations

import json
import mmap
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater_openlineage.intake.splitting import Layout, NotAnArrayError, documents, elements, layout

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text(), VALUES, max_size=4)


@given(st.lists(OBJECTS, max_size=6), st.sampled_from([None, 1]), st.booleans())
def test_an_array_is_its_elements(values: list[Any], indent: int | None, ascii_only: bool) -> None:
    data = json.dumps(values, indent=indent, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    assert layout(data) is Layout.ARRAY
    assert [json.loads(found.data) for found in documents(data, Layout.ARRAY)] == values


@given(st.lists(OBJECTS, max_size=6), st.sampled_from([None, 1]), st.binary(max_size=3), st.integers(0, 300))
def test_elements_are_those_that_documents_finds(
    values: list[Any], indent: int | None, dirt: bytes, place: int
) -> None:
    data = json.dumps(values, indent=indent).encode()
    data = data[:place] + dirt + data[place:]
    found = elements(data)
    assert found is None or found == [each.data for each in documents(data, Layout.ARRAY)]


def test_elements_of_an_array_as_clients_send_it() -> None:
    values = [{"name": f"a run, {number}", "inputs": [{"name": "x" * 40}]} for number in range(3)]
    assert elements(json.dumps(values).encode()) == [json.dumps(value).encode() for value in values]


def test_what_is_unusual_is_left_to_documents(subtests: pytest.Subtests) -> None:
    for data in (b"[1,1,1,1]", b'[{"a": NaN}]', b'[{"a": 1}', b"[" * 2_000 + b"]" * 2_000, b"{}"):
        with subtests.test(data=data):
            assert elements(data) is None


@given(st.lists(OBJECTS, min_size=2, max_size=6), st.sampled_from([b"\n", b"\r\n", b"\n\n"]))
def test_lines_are_their_documents(values: list[Any], end: bytes) -> None:
    data = b"".join(json.dumps(value).encode() + end for value in values)
    assert layout(data) is Layout.LINES
    found = list(documents(data, Layout.LINES))
    assert [json.loads(each.data) for each in found] == values
    assert [each.line for each in found] == [1 + number * end.count(b"\n") for number in range(len(values))]


LAYOUTS: list[tuple[bytes, Layout]] = [
    (b"", Layout.LINES),
    (b" \n ", Layout.LINES),
    (b'{"a": 1}', Layout.ONE),
    (b'\n{\n"a": 1}\n', Layout.ONE),
    (b'\xef\xbb\xbf{"a": 1}\n{"b": "}"}', Layout.LINES),
    (b'{"a":\n1}\n', Layout.ONE),
    (b" [\n]", Layout.ARRAY),
    (b'{"a": "[{"}\n{}', Layout.LINES),
    (b"nonsense\n{}", Layout.LINES),
]


def test_the_layout_is_that_of_the_first_line(subtests: pytest.Subtests) -> None:
    for data, how in LAYOUTS:
        with subtests.test(data=data):
            assert layout(data) is how


def test_a_document_names_its_line() -> None:
    data = b'[\n  {"a": 1},\n\n  {"b":\n 2}, {"c": 3}\n]\n'
    assert [(each.index, each.line) for each in documents(data, Layout.ARRAY)] == [(0, 2), (1, 4), (2, 5)]


NO_ARRAYS: list[tuple[bytes, str]] = [
    (b"[1, 2", "the array isn't closed"),
    (b"[1,, 2]", "an element is missing"),
    (b"[1, ]", "an element is missing"),
    (b"[}]", "a bracket closes nothing"),
    (b'["a]', "a string isn't closed"),
    (b"[1] 2", "something follows the array"),
    (b"1", "there is no array"),
]


def test_what_is_no_array_names_the_byte(subtests: pytest.Subtests) -> None:
    for data, message in NO_ARRAYS:
        with subtests.test(data=data), pytest.raises(NotAnArrayError, match=message):
            list(documents(data, Layout.ARRAY))


def test_a_thousand_levels_and_a_broken_one_are_elements_like_others() -> None:
    deep = b"[" * 100_000 + b"]" * 100_000
    data = b'[{"a": 1}, ' + deep + b', {"b" 2}, {"c": "\\"]"}]'
    assert [each.data for each in documents(data, Layout.ARRAY)] == [b'{"a": 1}', deep, b'{"b" 2}', b'{"c": "\\"]"}']


def test_a_file_is_read_as_it_is_mapped(tmp_path: Path) -> None:
    file = tmp_path / "events.json"
    file.write_bytes(b'[{"a": 1},\n {"b": 2}]\n')
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        assert layout(mapped) is Layout.ARRAY
        assert [each.data for each in documents(mapped, Layout.ARRAY)] == [b'{"a": 1}', b'{"b": 2}']
