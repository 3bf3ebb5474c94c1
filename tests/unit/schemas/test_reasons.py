"""Reasons of incomplete column lineage: which of them leave it known what a job reads."""

from __future__ import annotations

import pytest

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


@pytest.mark.parametrize(
    "reason",
    [
        too_large(1_000),
        no_source_of("a, b"),
        no_schema_of("a, b"),
        EXPAND,
        NO_SOURCES,
        PARSED,
        f"{too_large(9)}; {EXPAND}",
    ],
)
def test_of_columns_alone(reason: str) -> None:
    assert leaves_inputs_known(reason)


@pytest.mark.parametrize(
    "reason",
    [
        "",
        operator("Fancy"),
        f"{too_large(9)}; {operator('Fancy')}",
        "a subquery",
        "what a LogicalRDD reads isn't known",
        "the plan's JSON is larger than 9 bytes",
        f"{operator('Fancy')}; what a Scan reads isn't known",
        f"{no_source_of('a')}; another",
    ],
)
def test_an_input_may_be_missing(reason: str) -> None:
    assert not leaves_inputs_known(reason)
