"""Translation of a search text into the language of the full-text index."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from headwater_analysis.search import lucene_query
from headwater_graph.words import tenant_mark, whole_mark

MINE = f"+_words:{tenant_mark('default')}^0"
OURS = re.compile(r"[ +()~^*:0-9a-z_]|_owner_words|_tag_words")


def test_each_word_is_there_or_begins_one() -> None:
    assert lucene_query.beginnings("default", "Fli x") == (
        f"{MINE} +_words:({whole_mark('Fli x')}^9 (+(fli^4 fli*) +(x^4)))"
    )


def test_without_a_text_all_of_the_tenant() -> None:
    assert lucene_query.beginnings("default", "") == MINE
    assert lucene_query.beginnings("default", "", lucene_query.has_words("_owner_words", "team:shop")) == (
        f"{MINE} +_owner_words:team +_owner_words:shop"
    )


def test_long_words_may_have_two_letters_amiss_short_ones_none() -> None:
    asked = lucene_query.similar("default", "departed abc 20132013") or ""
    assert "departed~2" in asked
    assert "abc~" not in asked
    assert " 20132013~" not in asked


def test_a_text_without_words_is_near_nothing() -> None:
    assert lucene_query.any_similar("default", "?!") is None
    assert lucene_query.similar("default", "`*'") is None


@given(st.text(), st.sampled_from([lucene_query.beginnings, lucene_query.similar]))
def test_nothing_typed_is_an_operator(text: str, way: object) -> None:
    assert callable(way)
    asked = way("default", text)
    if asked is None:
        return
    assert asked.count("(") == asked.count(")")
    assert len(asked.split()) < 400
    # Of ASCII, only what is written in `query` itself; of all else, letters and marks of words.
    assert all(OURS.match(character) for character in asked if character.isascii())


def test_a_long_text_is_no_long_query() -> None:
    for text in ("x" * 20_000, "word " * 5_000, " ".join(f"w{number}" for number in range(5_000)), "注文" * 5_000):
        assert len(lucene_query.similar("default", text) or "") in range(1, 10_000)
