"""Queries run on rows whose columns are changed: a slice of the sweeps."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from headwater_producers.spark.explain import explain_lineage
from spark.plan.in_memory import apart
from spark.plan.oracle import judged
from spark.plan.perturbation import CASES
from spark.plan.random_queries import random_query

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.nightly, pytest.mark.spark]

SLICE = (
    "rows: the first three rows of each group",
    "combining: correlated scalar subquery",
    "nested: one value of maps put together",
)


# A run of the tests goes through so many of the random ones; `-m study` has the rest, and the sweeps all.
QUERIES = 10


@pytest.fixture(scope="module")
def session(spark: SparkSession) -> SparkSession:
    return apart(spark)


@pytest.mark.parametrize("title", SLICE)
def test_what_changes_an_output_is_in_its_lineage(session: SparkSession, title: str) -> None:
    verdict = judged(session, CASES[title], seeds=(1,))
    assert verdict.skipped is None
    assert verdict.comparisons
    assert not verdict.missing


@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=() if seed < QUERIES else pytest.mark.study) for seed in range(20)]
)
def test_what_changes_an_output_of_a_random_query_is_in_its_lineage(session: SparkSession, seed: int) -> None:
    verdict = judged(session, random_query(seed))
    assert verdict.skipped is None
    assert not verdict.missing


def test_an_edge_that_is_not_there_is_missed(session: SparkSession) -> None:
    filtered = CASES["rows: filter"]
    blind = judged(
        session, filtered, seeds=(1, 2, 3), explain=lambda frame: replace(explain_lineage(frame), influences=())
    )
    assert blind.missing == {"name <- people.age", "name <- people.city"}
