"""Cases that only the DataFrame API can write, by title. Each is given the session, with the tables of conftest."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import pandas as pd  # noqa: TC002 - pandas_udf reads the annotations
from pyspark.sql import functions as F  # noqa: N812 - as all of Spark's documentation has it
from pyspark.sql.pandas import functions as pandas_functions
from pyspark.sql.types import StringType, StructField, StructType

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    Case = Callable[[SparkSession], DataFrame]

CASES: dict[str, Case] = {}

# Its overloads don't have the form that its documentation recommends.
pandas_udf: Any = pandas_functions.pandas_udf


def case(title: str) -> Callable[[Case], Case]:
    def add(build: Case) -> Case:
        assert title not in CASES
        CASES[title] = build
        return build

    return add


def _python(_value: Any, *_more: Any) -> str:
    return "?"


# Spark 4.1 warns of hints from which it can't tell how to call the function.
_python.__annotations__.clear()


def _frames(frames: Iterable[Any]) -> Iterable[Any]:
    return frames


@case("union by name with missing columns")
def _(s: SparkSession) -> DataFrame:
    return s.table("people").select("name", "city").unionByName(s.table("cities"), allowMissingColumns=True)


@case("dropDuplicates")
def _(s: SparkSession) -> DataFrame:
    return s.table("people").dropDuplicates(["city", "age"]).select("name")


@case("withColumn again and again")
def _(s: SparkSession) -> DataFrame:
    frame = s.table("people").select("age")
    for _ in range(3):
        frame = frame.withColumn("age", F.col("age") + 1)
    return frame


@case("cached frame")
def _(s: SparkSession) -> DataFrame:
    frame = s.table("people").where("age > 3").cache()
    return frame.select("name")


@case("withField and dropFields")
def _(s: SparkSession) -> DataFrame:
    changed = F.col("address").withField("zip", F.col("id")).dropFields("geo")
    return s.table("trips").select(changed.alias("address"))


@case("withField deep inside")
def _(s: SparkSession) -> DataFrame:
    return s.table("trips").select(F.col("address").withField("geo.lat", F.lit(0.0)).alias("address"))


@case("pivot without values")
def _(s: SparkSession) -> DataFrame:
    return (
        s.table("people").groupBy("city").pivot("age", [1, 2]).agg(F.sum("salary").alias("s"), F.max("name").alias("n"))
    )


@case("melt")
def _(s: SparkSession) -> DataFrame:
    return s.table("people").unpivot("id", ["name", "city"], "key", "val")


@case("broadcast join")
def _(s: SparkSession) -> DataFrame:
    return s.table("people").join(F.broadcast(s.table("cities")), "city", "left").select("name", "country")


@case("sample, repartition, coalesce, hint")
def _(s: SparkSession) -> DataFrame:
    return s.table("people").sample(0.5).repartition(3, "city").coalesce(1).hint("rebalance").select("name")


@case("observe")
def _(s: SparkSession) -> DataFrame:
    return s.table("people").observe("m", F.count(F.lit(1)).alias("rows")).select("name")


@case("python udf")
def _(s: SparkSession) -> DataFrame:
    return s.table("people").select("id", F.udf(_python)("name", F.upper("city")).alias("label"))


@case("python udf without arguments")
def _(s: SparkSession) -> DataFrame:
    return s.table("people").select(F.udf(lambda: "x")().alias("x"))


@case("filter by a python udf")
def _(s: SparkSession) -> DataFrame:
    return s.table("people").where(F.udf(lambda age: age > 3, "boolean")("age")).select("name")


@case("udf returning a struct")
def _(s: SparkSession) -> DataFrame:
    result = StructType([StructField("a", StringType()), StructField("b", StringType())])
    return s.table("people").select(F.udf(_python, result)("name").alias("r")).select("r.a", "r")


@case("arithmetic on a udf, and an aggregate of one")
def _(s: SparkSession) -> DataFrame:
    score = F.udf(_python, "int")("age")
    return s.table("people").groupBy("city").agg(F.sum(score + 1).alias("total"))


@case("pandas udf")
def _(s: SparkSession) -> DataFrame:
    return s.table("people").select(pandas_udf(_series, "double")("salary", "age").alias("x"))


def _series(salary: pd.Series, _age: pd.Series) -> pd.Series:
    return salary


@case("grouped pandas udf")
def _(s: SparkSession) -> DataFrame:
    return s.table("people").groupBy("city").agg(pandas_udf(_mean, "double")("salary").alias("mean"))


def _mean(salary: pd.Series) -> float:
    return float(salary.mean())


@case("mapInPandas")
def _(s: SparkSession) -> DataFrame:
    return s.table("people").select("id", "name").mapInPandas(_frames, "key INT, label STRING")


@case("mapInArrow")
def _(s: SparkSession) -> DataFrame:
    return s.table("cities").mapInArrow(_frames, "city STRING, country STRING")


@case("applyInPandas")
def _(s: SparkSession) -> DataFrame:
    people = s.table("people").select("id", "city", "salary")
    return people.groupBy("city").applyInPandas(lambda frame: frame, "city STRING, salary DOUBLE")


@case("cogrouped applyInPandas")
def _(s: SparkSession) -> DataFrame:
    left = s.table("people").select("city", "name").groupBy("city")
    right = s.table("cities").groupBy("city")
    return left.cogroup(right).applyInPandas(lambda a, _b: a, "name STRING")


@case("rdd of rows")
def _(s: SparkSession) -> DataFrame:
    return s.createDataFrame(s.table("people").select("name").rdd, "name STRING")


@case("data made in the program")
def _(s: SparkSession) -> DataFrame:
    return s.createDataFrame([(1, "x")], "id INT, label STRING")


@case("a temporary view of data made in the program")
def _(s: SparkSession) -> DataFrame:
    s.createDataFrame([("Oslo", "NO")], "city STRING, code STRING").createOrReplaceTempView("codes_of_cities")
    return s.table("people").join(s.table("codes_of_cities"), "city").select("name", "code")


@case("aggregates in several steps")
def _(s: SparkSession) -> DataFrame:
    orders = s.table("orders").groupBy("person_id").agg(F.sum("amount").alias("spent"))
    joined = s.table("people").join(orders, F.col("id") == F.col("person_id"), "left")
    return joined.groupBy("city").agg(F.avg("spent").alias("mean"), F.max("name").alias("last"))


@case("time window")
def _(s: SparkSession) -> DataFrame:
    grouped = s.table("orders").groupBy(F.window("at", "10 minutes"), "item")
    return grouped.agg(F.sum("amount").alias("amount")).select("window.start", "item", "amount")


@case("sliding window")
def _(s: SparkSession) -> DataFrame:
    return s.table("orders").groupBy(F.window("at", "10 minutes", "5 minutes")).count()


@case("session window")
def _(s: SparkSession) -> DataFrame:
    return s.table("orders").groupBy(F.session_window("at", "10 minutes"), "item").count()


@case("a chain of four hundred additions")
def _(s: SparkSession) -> DataFrame:
    total = F.col("age")
    for _ in range(400):
        total = total + F.col("id")
    return s.table("people").select(total.alias("total"))
