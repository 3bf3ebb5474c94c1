from __future__ import annotations

from typing import TYPE_CHECKING

from headwater_producers.spark.plan.settings import PlanSettings
from headwater_producers.spark.plan.text import Literals, literal_text

if TYPE_CHECKING:
    import pytest

TEXTS: list[tuple[object, str, str]] = [
    (7, "integer", "#"),
    (-7, "long", "#"),
    ("1.5E-7", "double", "#"),
    ("batch 7", "string", "'batch #'"),
    ("7", "string", "'#'"),
    ("run_20130101_T1530", "string", "'run_#_#'"),
    ("0b5b1f3e-abcd-abcd-abcd-abcdefabcdef", "string", "'#'"),
    ("late", "string", "'late'"),
    ("it's late", "string", "'it''s late'"),
    ("true", "boolean", "true"),
    ("2013-01-01 of the month", "string", "<date>"),
    (None, "integer", "null"),
]


def test_numbers_can_be_left_out(subtests: pytest.Subtests) -> None:
    for value, data_type, text in TEXTS:
        with subtests.test(value=value, data_type=data_type):
            assert literal_text(value, data_type, Literals.NUMBERLESS) == text


def test_what_the_settings_say() -> None:
    assert PlanSettings().literal_texts is Literals.SHOWN
    assert PlanSettings(numbers=False).literal_texts is Literals.NUMBERLESS
    assert PlanSettings(literals=False, numbers=False).literal_texts is Literals.HIDDEN
