"""Words that a name is cut into."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from headwater_graph.words import (
    LONGEST_WORD,
    MOST_WORDS,
    column_words,
    dataset_words,
    job_words,
    tenant_mark,
    text_words,
    whole_mark,
    words,
)

if TYPE_CHECKING:
    import pytest


def test_words(subtests: pytest.Subtests) -> None:
    cases = [
        ("flights.departed", "flights departed"),
        ("s3://b/x_2013/OrderIDs", "s3 b x 2013 order ids"),
        ("camelCaseName", "camel case name"),
        ("HTTPServer2Log", "http server2 log"),
        ("orderID", "order id"),
        ("2013Orders", "2013 orders"),
        ("Büro.Straße", "buro strasse"),
        ("ÉcoleNormale", "ecole normale"),
        ("ＡＢＣ", "abc"),
        ("注文データ", "注文 文テ テー ータ"),
        ("x注y", "x 注 y"),
        ("a`b AND (c OR +d)", "a b and c or d"),
        ("legs.[].dep_delay", "legs dep delay"),
        ("same same Same", "same"),
        ("???", ""),
        ("", ""),
    ]
    for name, cut in cases:
        with subtests.test(name=name):
            assert words(name) == cut.split()


@given(st.text())
def test_a_word_means_nothing_to_a_query_parser(name: str) -> None:
    for word in words(name):
        assert not set(word) & set('+-&|!(){}[]^"~*?:\\/ \t\n_')
        assert 0 < len(word) <= LONGEST_WORD * 3  # a letter may fold to three


@given(st.text())
def test_no_name_breaks_the_index(name: str) -> None:
    for made in (dataset_words("t", name, name), job_words("t", name, name), column_words("t", name)):
        assert all(len(word.encode()) < 1_000 for word in made.split(" "))


def test_a_long_name_is_found_by_its_first_words() -> None:
    name = "/".join(f"part{number}" for number in range(10_000))
    assert words(name) == [f"part{number}" for number in range(MOST_WORDS)]
    assert words("x" * 10_000) == ["x" * LONGEST_WORD]


def test_marks() -> None:
    made = dataset_words("default", "s3://lake", "/warehouse/daily_report").split(" ")
    assert tenant_mark("default") in made
    assert {whole_mark("/warehouse/daily_report"), whole_mark("daily_report")} <= set(made)
    assert {"s3", "lake", "warehouse", "daily", "report", "dailyreport"} <= set(made)
    assert tenant_mark("other") not in made
    assert whole_mark("Daily_report") not in made


def test_words_of_several_texts() -> None:
    assert text_words(["team:flights", "Jo Flights"]) == "team flights jo"
    assert text_words([]) == ""
