"""Five hundred random programs run on rows whose columns are changed: frames, batch writes and streaming queries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from spark.plan.in_memory import apart
from spark.plan.oracle import judged
from spark.plan.random_oracle import KINDS, judged_programs, programs
from spark.plan.random_programs import MARK
from spark.plan.row_files import RowFiles

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

COUNTS = {"frame": 400, "write": 60, "stream": 40}
IN_EVERY_RUN = {"frame": 100, "write": 20, "stream": 20}
"""A frame takes half a second of a core, a write or a stream more than one: the others are a study."""
AT_ONCE = 20
WORDS = {
    "frame": ("join(", "pivot(", "Window.", "unionByName", "explode", "dropDuplicates", "unpivot", "na.", "withField"),
    "write": (
        *("mode('append')", "mode('overwrite')", "mode('error')", "partitionBy", "saveAsTable", "insertInto", "orc"),
        *("INSERT INTO", "INSERT OVERWRITE", "BY NAME", "PARTITION (part)", "PARTITION (part = ", "AS SELECT"),
        *("OVERWRITE DIRECTORY", "overwrite=True"),
    ),
    "stream": (
        *("foreachBatch", "toTable", "start(out)", "dropDuplicates", "groupBy", "'complete'", "'update'", "'append'"),
        *("join(", "INSERT", "partitionBy"),
    ),
}


@pytest.fixture(scope="module")
def files(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RowFiles]:
    files = RowFiles(apart(spark), tmp_path_factory.mktemp("random") / "rows")
    yield files
    # Whoever tests memory next shall not find the plans of five hundred programs.
    files.spark.catalog.clearCache()


# Twenty streaming queries take a minute, and on a machine with other work two.
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("kind", "first"),
    [
        pytest.param(kind, first, marks=() if first < IN_EVERY_RUN[kind] else pytest.mark.study)
        for kind, count in COUNTS.items()
        for first in range(0, count, AT_ONCE)
    ],
)
def test_what_changes_an_output_is_in_its_lineage(files: RowFiles, kind: str, first: int) -> None:
    verdicts = judged_programs(files, kind, range(first, first + AT_ONCE))
    assert len(verdicts) == AT_ONCE
    wrong = {seed: verdict for seed, verdict in verdicts.items() if verdict.missing or verdict.skipped}
    assert not wrong, "\n\n".join(f"{wrong[seed]} in\n{text}" for seed, text in programs(kind, wrong).items())
    assert sum(verdict.comparisons for verdict in verdicts.values()) > AT_ONCE


@pytest.mark.parametrize("kind", ["frame", "write"])
def test_edges_that_are_not_there_are_missed(files: RowFiles, kind: str) -> None:
    blind = judged_programs(files, kind, range(2), lambda known: replace(known, outputs=(), influences=()))
    assert any(verdict.missing for verdict in blind.values())


def test_whether_a_struct_is_null_is_in_the_lineage_of_a_field_put_into_it(spark: SparkSession) -> None:
    program = (
        f"{MARK}result = spark.table('alpha').select(F.col('s').withField('x', F.col('k')).getField('x').alias('o'))"
    )
    assert not judged(apart(spark), program).missing


@pytest.mark.parametrize("kind", KINDS)
def test_a_program_is_the_same_for_its_seed_and_another_for_another(kind: str) -> None:
    texts = programs(kind, range(COUNTS[kind]))
    assert texts == programs(kind, range(COUNTS[kind]))
    assert len(set(texts.values())) == COUNTS[kind]
    together = "\n".join(texts.values())
    assert [word for word in WORDS[kind] if word not in together] == []
