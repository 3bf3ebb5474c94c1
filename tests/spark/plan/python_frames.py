"""Cases of Python code within a plan: table functions, state, Arrow. They are black boxes: every column EXTERNAL."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pandas as pd
from pyspark.sql import Row
from pyspark.sql import functions as F  # noqa: N812 - as all of Spark's documentation has it
from pyspark.sql.types import StringType, StructType
from pyspark.sql.window import Window

from spark.plan.frames import case, pandas_udf

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.udtf import AnalyzeArgument, AnalyzeResult

# Its overloads have no room for a return type beside a class.
table_function: Any = F.udtf


class Words:
    """A table function of two values."""

    def eval(self, text: str, count: int) -> Iterator[tuple[str, int]]:
        yield text, count


class Totals:
    """A table function of a table."""

    def eval(self, row: Row) -> Iterator[tuple[str, float]]:
        yield row.city, row.salary


def _counting() -> Any:
    # Spark 3.5 has none.
    from pyspark.sql.streaming.stateful_processor import StatefulProcessor

    class Counting(StatefulProcessor):
        """Keeps state for each key; never run."""

        def init(self, handle: Any) -> None:
            self.handle = handle

        def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[pd.DataFrame]:  # noqa: N802, N803
            yield pd.DataFrame()

        def close(self) -> None:
            pass

    return Counting()


@case("python table function of values")
def _(s: SparkSession) -> DataFrame:
    s.udtf.register("words", table_function(Words, returnType="word: string, n: int"))
    return s.sql("SELECT p.id, w.word, w.n FROM people p, LATERAL words(p.name, p.age) w")


@case("python table function of constants")
def _(s: SparkSession) -> DataFrame:
    words = table_function(Words, returnType="word: string, n: int")
    frame: DataFrame = words(F.lit("a"), F.lit(1))
    return frame


@case("python table function of a table")
def _(s: SparkSession) -> DataFrame:
    s.udtf.register("totals", table_function(Totals, returnType="city: string, total: double"))
    people = "TABLE(SELECT city, salary FROM people WHERE age > 3)"
    return s.sql(f"SELECT * FROM totals({people} PARTITION BY city ORDER BY salary)")


@case("python table function that decides its columns")
def _(s: SparkSession) -> DataFrame:
    from pyspark.sql.udtf import AnalyzeResult as Result  # Spark 3.5 has none

    # Within the function: a worker can't import this module, so the class has to travel whole.
    class AnyShape:
        @staticmethod
        def analyze(_table: AnalyzeArgument) -> AnalyzeResult:
            return Result(StructType().add("x", StringType()))

        def eval(self, row: Row) -> Iterator[tuple[str]]:
            yield (str(row),)

    s.udtf.register("any_shape", table_function(AnyShape))
    return s.sql("SELECT x FROM any_shape(TABLE(cities))")


@case("asTable")
def _(s: SparkSession) -> DataFrame:
    totals = table_function(Totals, returnType="city: string, total: double")
    frame: DataFrame = totals(s.table("people").select("city", "salary").asTable().partitionBy("city"))
    return frame


@case("transformWithStateInPandas")
def _(s: SparkSession) -> DataFrame:
    numbers = s.readStream.format("rate").load()
    return numbers.groupBy("value").transformWithStateInPandas(_counting(), "n LONG", "append", "None")


@case("transformWithStateInPandas with an initial state")
def _(s: SparkSession) -> DataFrame:
    numbers, initial = s.readStream.format("rate").load(), s.table("people").groupBy("id")
    return numbers.groupBy("value").transformWithStateInPandas(_counting(), "n LONG", "append", "None", initial)


@case("applyInPandasWithState of a frame")
def _(s: SparkSession) -> DataFrame:
    grouped = s.readStream.format("rate").load().groupBy("value")
    return grouped.applyInPandasWithState(_with_state, "n LONG", "c LONG", "append", "NoTimeout")


def _with_state(_key: Any, _frames: Any, _state: Any) -> Iterator[pd.DataFrame]:
    yield pd.DataFrame()


@case("applyInArrow")
def _(s: SparkSession) -> DataFrame:
    cities: Any = s.table("cities").groupBy("city")
    frame: DataFrame = cities.applyInArrow(lambda table: table, "city STRING")
    return frame


@case("cogrouped applyInArrow")
def _(s: SparkSession) -> DataFrame:
    people: Any = s.table("people").select("city", "name").groupBy("city")
    frame: DataFrame = people.cogroup(s.table("cities").groupBy("city")).applyInArrow(lambda a, _b: a, "city STRING")
    return frame


@case("pandas udf over a window")
def _(s: SparkSession) -> DataFrame:
    mean = pandas_udf(_mean_of, "double")("salary").over(Window.partitionBy("city").orderBy("age"))
    return s.table("people").select("name", mean.alias("mean"))


def _mean_of(salary: pd.Series) -> float:
    return float(salary.mean())


@case("a black box, then an aggregate")
def _(s: SparkSession) -> DataFrame:
    mapped = s.table("cities").mapInPandas(lambda frames: frames, "a STRING, b STRING")
    return mapped.groupBy("a").agg(F.max("b").alias("last"))


@case("java methods by name")
def _(s: SparkSession) -> DataFrame:
    return s.sql("SELECT reflect('java.util.UUID', 'fromString', name) AS u FROM people")


# Else pandas API on Spark sets it itself, with a warning.
os.environ.setdefault("PYARROW_IGNORE_TIMEZONE", "1")


@case("pandas API on Spark")
def _(s: SparkSession) -> DataFrame:
    with _pandas_api_in_ansi_mode():
        people: Any = s.table("people").pandas_api()
        grown: Any = people.assign(twice=people["salary"] * 2)
        frame: DataFrame = grown[grown["age"] > 30][["name", "twice"]].to_spark(index_col="number")
    return frame


@case("groups in pandas API on Spark")
def _(s: SparkSession) -> DataFrame:
    with _pandas_api_in_ansi_mode():
        people: Any = s.table("people").pandas_api()
        frame: DataFrame = people.groupby("city")["salary"].mean().to_frame().reset_index().to_spark()
    return frame


@contextmanager
def _pandas_api_in_ansi_mode() -> Iterator[None]:
    from pyspark.pandas import option_context

    with warnings.catch_warnings(), option_context("compute.fail_on_ansi_mode", False):
        warnings.simplefilter("ignore")
        yield
