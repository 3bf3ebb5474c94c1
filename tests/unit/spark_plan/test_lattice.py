"""Kinds compose as a join of a total order, with constants apart."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from headwater_producers.spark.plan.lattice import DIRECT_ORDER, compose, subtype
from headwater_schemas.events import TransformationKind as Kind

if TYPE_CHECKING:
    import pytest

BLACK = (Kind.EXTERNAL, Kind.UNKNOWN)


def test_a_black_box_is_never_forgotten() -> None:
    for first, then in product(DIRECT_ORDER, repeat=2):
        if first in BLACK or then in BLACK:
            assert compose(first, then) in BLACK, (first, then)


def test_a_chain_is_the_same_however_it_is_cut() -> None:
    # A constant is one only at the start of a chain.
    later = [kind for kind in DIRECT_ORDER if kind is not Kind.CONSTANT]
    for first, second, third in product(DIRECT_ORDER, later, later):
        cut = compose(first, compose(second, third))
        assert compose(compose(first, second), third) is cut, (first, second, third)


def test_a_copy_changes_nothing(subtests: pytest.Subtests) -> None:
    for kind in DIRECT_ORDER:
        with subtests.test(kind=kind):
            assert compose(kind, Kind.COPY) is kind
            assert compose(Kind.COPY, kind) is (Kind.COPY if kind is Kind.CONSTANT else kind)


def test_what_is_computed_from_a_constant_is_one() -> None:
    assert compose(Kind.CONSTANT, Kind.AGGREGATE) is Kind.CONSTANT
    assert compose(Kind.CONSTANT, Kind.EXTERNAL) is Kind.EXTERNAL


def test_each_kind_has_openlineages_subtype() -> None:
    assert {kind.value: subtype(kind) for kind in Kind} == {
        "COPY": "IDENTITY",
        "RENAME": "IDENTITY",
        "CAST": "TRANSFORMATION",
        "DERIVE": "TRANSFORMATION",
        "MASK": "TRANSFORMATION",
        "HASH": "TRANSFORMATION",
        "EXTERNAL": "TRANSFORMATION",
        "AGGREGATE": "AGGREGATION",
        "FILTER_DEPENDENCY": "FILTER",
        "JOIN_DEPENDENCY": "JOIN",
        "GROUP_DEPENDENCY": "GROUP_BY",
        "SORT_DEPENDENCY": "SORT",
        "WINDOW_DEPENDENCY": "WINDOW",
        "CONDITIONAL": "CONDITIONAL",
        "CONSTANT": None,
        "UNKNOWN": None,
    }
