"""A cursor leads to its page, of its question, and to nothing else."""

from __future__ import annotations

import base64
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater_analysis import paging
from headwater_analysis.errors import QuestionError


@dataclass(frozen=True)
class Question:
    name: str
    depth: int | None = 1


@given(st.integers(-(2**63), 2**63 - 1), st.text(), st.text())
def test_there_and_back(hops: int, key: str, name: str) -> None:
    question = ("default", Question(name))
    made = paging.encode((hops, key), question=question)
    assert made.isascii()
    assert paging.decode(made, question=("default", Question(name)), kinds=(int, str)) == (hops, key)


def test_another_question(subtests: pytest.Subtests) -> None:
    for other in [("acme", Question("x")), ("default", Question("y")), ("default", Question("x", 2))]:
        with subtests.test(other=other):
            made = paging.encode((1, "k"), question=("default", Question("x")))
            with pytest.raises(QuestionError, match="another question") as caught:
                paging.decode(made, question=other, kinds=(int, str))
            assert caught.value.field == "cursor"


@given(st.text() | st.binary().map(lambda data: data.hex()))
def test_no_cursor_at_all(text: str) -> None:
    with pytest.raises(QuestionError):
        paging.decode(text, question="q", kinds=(int,))


def test_what_is_nested_or_cut_is_no_cursor(subtests: pytest.Subtests) -> None:
    cases = {
        "lists": b"\x91" * 20_000,
        "maps": b"\x81" * 20_000,
        "a list as position": b"\x93\x01\xc4\x00" + b"\x91" * 20_000,
        "a list without its items": b"\xdd\xff\xff\xff\xff",
        "cut short": b"\x92\x01",
    }
    for case, content in cases.items():
        with subtests.test(case):
            with pytest.raises(QuestionError, match="isn't a cursor") as caught:
                paging.decode(base64.urlsafe_b64encode(content).rstrip(b"=").decode(), question="q", kinds=(int,))
            assert caught.value.field == "cursor"


def test_positions_that_no_answer_gave() -> None:
    too_large = paging.encode((2**63,), question="q")
    with pytest.raises(QuestionError, match="isn't a cursor"):
        paging.decode(too_large, question="q", kinds=(int,))
    with pytest.raises(QuestionError, match="isn't a cursor"):
        paging.decode_start(paging.encode((-1,), question="q"), question="q")
    assert paging.decode_start(paging.encode((7,), question="q"), question="q") == 7
    assert paging.decode_start(None, question="q") == 0
    for at in (2**63 - 1, -(2**63)):
        with pytest.raises(QuestionError, match="isn't a cursor"):
            paging.decode_moment(paging.encode((at, "key"), question="q"), question="q")


def test_values_of_other_types() -> None:
    made = paging.encode(("not", "numbers"), question="q")
    with pytest.raises(QuestionError, match="isn't a cursor"):
        paging.decode(made, question="q", kinds=(int, int))
    with pytest.raises(QuestionError, match="isn't a cursor"):
        paging.decode(made, question="q", kinds=(str,))


def test_a_cursor_of_another_release(monkeypatch: pytest.MonkeyPatch) -> None:
    made = paging.encode((1,), question="q")
    monkeypatch.setattr(paging, "_VERSION", 2)
    with pytest.raises(QuestionError, match="another release"):
        paging.decode(made, question="q", kinds=(int,))
