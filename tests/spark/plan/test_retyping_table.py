"""Casts that a review calls wider, narrower or none, beside Spark's own tables for every pair of types."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from headwater_review.compare import Retyping, retyping

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TYPES = (
    *("tinyint", "smallint", "int", "bigint", "float", "double", "boolean", "string", "binary", "date"),
    *(
        "timestamp",
        "timestamp_ntz",
        "decimal(3,0)",
        "decimal(10,0)",
        "decimal(10,2)",
        "decimal(20,0)",
        "decimal(38,18)",
    ),
)


def loses_digits(old: str, new: str) -> bool:
    """Spark calls these safe, and the new type doesn't have all of the old one's digits."""
    return new in ("float", "double") and (
        old.startswith("decimal") or old == "bigint" or (old == "int" and new == "float")
    )


def means_something_else(old: str, new: str) -> bool:
    """Spark calls these safe, and whoever reads the column gets another sort of value: seconds, a local time, a number
    whose quotients aren't whole."""
    whole = ("tinyint", "smallint", "int", "bigint")
    return {old, new} in ({"timestamp", "bigint"}, {"timestamp", "timestamp_ntz"}) or (
        old.startswith("decimal") and new in whole
    )


def test_every_pair(spark: SparkSession) -> None:
    jvm = spark.sparkContext._jvm
    assert jvm is not None
    cast = jvm.org.apache.spark.sql.catalyst.expressions.Cast
    read = jvm.org.apache.spark.sql.types.DataType.fromDDL
    spark_types = {name: read(name) for name in TYPES}
    wider, safe, found, casts = set(), set(), set(), set()
    for old, new in itertools.permutations(TYPES, 2):
        verdict = retyping(old, new)
        if verdict is Retyping.WIDER:
            wider.add((old, new))
        if verdict is not Retyping.OTHER:
            found.add((old, new))
        if cast.canUpCast(spark_types[old], spark_types[new]):
            safe.add((old, new))
        if cast.canAnsiCast(spark_types[old], spark_types[new]):
            casts.add((old, new))
    # What is called wider is safe to Spark. What else is safe to it is a text ('10' < '9'), loses digits, or means
    # something else.
    assert wider - safe == set()
    others = {pair for pair in safe - wider if pair[1] != "string"}
    assert sorted(pair for pair in others if not loses_digits(*pair) and not means_something_else(*pair)) == []
    assert sorted(found ^ casts) == []
