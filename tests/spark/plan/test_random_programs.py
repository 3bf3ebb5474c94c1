"""Five hundred random programs run on rows whose columns are changed: frames, batch writes and streaming queries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

import pytest

from spark.plan.in_memory import Tables, apart, outputs_of, outputs_of_rows
from spark.plan.oracle import judged
from spark.plan.perturbed_rows import ROWS, perturbed
from spark.plan.plan_again import PlanAgain, Tasks
from spark.plan.random_oracle import (
    KINDS,
    first_batch_write,
    first_write,
    judged_programs,
    programs,
    query_of_stream,
    rows_of,
    same_outputs,
)
from spark.plan.random_programs import MARK, names_of_program
from spark.plan.row_files import RowFiles, outputs_in

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.nightly, pytest.mark.spark]

COUNTS = {"frame": 400, "write": 60, "stream": 40}
"""A frame takes a sixth of a second of a core, a write half a second, a stream more than one."""
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
    with pytest.MonkeyPatch.context() as patch:
        # For each column the line of the program that it comes from, for error messages: a third of a program's time.
        patch.setattr("pyspark.errors.utils._enable_debugging_cache", False, raising=False)
        yield files
    # Whoever tests memory next shall not find the plans of five hundred programs.
    files.spark.catalog.clearCache()


# Twenty streaming queries take a minute, and on a machine with other work two.
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("kind", "first"),
    [(kind, first) for kind, count in COUNTS.items() for first in range(0, count, AT_ONCE)],
)
def test_what_changes_an_output_is_in_its_lineage(files: RowFiles, kind: str, first: int) -> None:
    verdicts = judged_programs(files, kind, range(first, first + AT_ONCE))
    assert len(verdicts) == AT_ONCE
    wrong = {seed: verdict for seed, verdict in verdicts.items() if verdict.missing or verdict.skipped}
    assert not wrong, "\n\n".join(f"{wrong[seed]} in\n{text}" for seed, text in programs(kind, wrong).items())
    assert sum(verdict.comparisons for verdict in verdicts.values()) > AT_ONCE


@pytest.fixture
def usual_settings(files: RowFiles) -> Iterator[None]:
    """New plans are compiled, and adaptive, as in a session in which nobody has set anything."""
    usual = {"codegen.wholeStage": "true", "codegen.factoryMode": "FALLBACK", "adaptive.enabled": "true"}
    before = {name: str(files.spark.conf.get(f"spark.sql.{name}")) for name in usual}
    _set(files.spark, usual)
    yield
    _set(files.spark, before)


def _set(spark: SparkSession, settings: dict[str, str]) -> None:
    for name, value in settings.items():
        spark.conf.set(f"spark.sql.{name}", value)


def test_a_plan_that_runs_again_gives_what_a_new_one_does(files: RowFiles, request: pytest.FixtureRequest) -> None:
    tasks = Tasks(files.spark)
    frames = {}
    for seed, text in programs("frame", range(20)).items():
        files.write(rows_of(seed, text))
        frame = names_of_program(files.spark, text)["result"]
        frames[seed] = text, frame, PlanAgain(frame, tasks)
    assert {plan.way for _, _, plan in frames.values()} >= {"partitions", "copy"}
    request.getfixturevalue("usual_settings")
    seen = set()
    for seed, (text, frame, plan) in frames.items():
        rows = rows_of(seed, text)
        for changed in _changed_once(rows, seed):
            files.write(changed)
            again = outputs_of_rows(frame.schema, plan.rows())
            assert again == outputs_of(frame.alias("new"))
            seen.add(str(again))
    assert len(seen) > len(frames)


def test_the_query_of_a_write_gives_what_is_written(files: RowFiles) -> None:
    tasks = Tasks(files.spark)
    writes = [first_batch_write(files, tasks, seed, text) for seed, text in programs("write", range(10)).items()]
    seen, asked = set(), 0
    for seed, first in enumerate(writes):
        files.drop(first.out, first.table)
        for changed in _changed_once(first.rows, seed) if first.query else ():
            files.write(changed)
            first.write(first.out, first.table, files.checkpoint(first.out))
            assert first.query is not None
            again = first.query.outputs()
            assert same_outputs(again, outputs_in(first.out))
            files.drop(first.out, first.table)
            seen.add(str(again))
        asked += first.query is not None
    # Else all is written again.
    assert asked > len(writes) / 2
    assert len(seen) > asked


def test_the_query_of_a_stream_gives_what_it_writes(files: RowFiles) -> None:
    tasks = Tasks(files.spark)
    seen, asked = set(), 0
    for seed, text in programs("stream", range(8)).items():
        first = first_write(files, seed, text)
        query = query_of_stream(files, tasks, seed, text, first)
        files.drop(first.out, first.table)
        files.write(changed := list(_changed_once(first.rows, seed))[-1])
        first.write(first.out, first.table, files.checkpoint(first.out))
        if query is not None:
            again = query.outputs()
            assert same_outputs(again, outputs_in(first.out)), (text, changed)
            seen.add(str(again))
        files.drop(first.out, first.table)
        asked += query is not None
    assert asked > 4
    assert len(seen) == asked


def _changed_once(rows: Tables, seed: int) -> Iterator[Tables]:
    """These rows, and with some of each table's rows or values changed."""
    random = Random(f"once {seed}")
    yield rows
    for table in rows:
        yield rows | {table: perturbed(rows[table], table, ROWS, random)}
        yield rows | {table: perturbed(rows[table], table, ("k",), random)}


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
