"""Reasons of incomplete column lineage: which of them leave it known what a job reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater_schemas.reasons import (
    EXPAND,
    NO_SOURCES,
    PARSED,
    leaves_inputs_known,
    no_schema_of,
    no_source_of,
    too_large,
)
from headwater_schemas.reasons import unknown_operator as operator

if TYPE_CHECKING:
    import pytest


def test_of_columns_alone(subtests: pytest.Subtests) -> None:
    cases = [
        too_large(1_000),
        no_source_of("a, b"),
        no_schema_of("a, b"),
        EXPAND,
        NO_SOURCES,
        PARSED,
        f"{too_large(9)}; {EXPAND}",
    ]
    for reason in cases:
        with subtests.test(reason=reason):
            assert leaves_inputs_known(reason)


def test_an_input_may_be_missing(subtests: pytest.Subtests) -> None:
    cases = [
        "",
        operator("Fancy"),
        f"{too_large(9)}; {operator('Fancy')}",
        "a subquery",
        "what a LogicalRDD reads isn't known",
        "the plan's JSON is larger than 9 bytes",
        f"{operator('Fancy')}; what a Scan reads isn't known",
        f"{no_source_of('a')}; another",
    ]
    for reason in cases:
        with subtests.test(reason=reason):
            assert not leaves_inputs_known(reason)
