"""docs/spark-versions.md has what the tests found on each Spark, and its jars; refreshed by UPDATE_GOLDENS=1."""

from __future__ import annotations

from pathlib import Path

from headwater.stack.spark import RELEASES, SPARK_JARS
from headwater_producers.spark.jvm.versions import TRIED
from spark.plan.goldens import check_table
from support.spark_results import failures, last_day, table

PAGE = Path(__file__).parents[3] / "docs" / "spark-versions.md"


def test_the_page_has_the_results() -> None:
    check_table(PAGE, "day", last_day())
    check_table(PAGE, "results", table())
    check_table(PAGE, "failures", failures())


def test_the_page_has_the_jars() -> None:
    names = {"spark": "Kafka", "delta": "Delta", "iceberg": "Iceberg", "avro": "Avro"}
    rows = []
    for release in RELEASES:
        modules = [f"`{release.modules[name]}`" if name in release.modules else "none" for name in SPARK_JARS]
        rows.append(f"| {release.name} | {' | '.join(modules)} |\n")
    heading = f"\n| Spark | {' | '.join(names[name] for name in SPARK_JARS)} |\n|---|{'---|' * len(SPARK_JARS)}\n"
    check_table(PAGE, "jars", "".join([heading, *rows, "\n"]))


def test_capture_and_the_table_of_jars_know_the_same_versions() -> None:
    assert tuple(release.name for release in RELEASES) == TRIED
