"""Queries over small rows in memory, and the values that come out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import ArrayType, DataType, MapType, StructType

from headwater_producers.spark.plan.schema import path_text, quoted
from spark.plan.conftest import TABLES
from spark.plan.perturbed_rows import Path, Row
from spark.plan.random_grammar import SQL_TYPES
from spark.plan.random_programs import MARK, frame_of_program
from spark.plan.random_queries import TABLES as RANDOM_TABLES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Tables = dict[str, list[Row]]
Outputs = dict[str, list[str]]

SCHEMAS: Final = TABLES | {
    table: ", ".join(f"{name} {SQL_TYPES[type_]}" for name, type_ in columns)
    for table, columns in RANDOM_TABLES.items()
}


def apart(spark: SparkSession) -> SparkSession:
    """A session of its own, whose temporary views may shadow tables."""
    session = spark.newSession()
    settings = {
        # A text that is no number is null, two keys alike are one, and neither is the end of the case.
        "spark.sql.ansi.enabled": "false",
        "spark.sql.mapKeyDedupPolicy": "LAST_WIN",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "1",
        # Thousands of queries over a few rows: compiling each would be nearly all of their time.
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.adaptive.enabled": "false",
    }
    for key, value in settings.items():
        session.conf.set(key, value)
    return session


def in_memory(statement: str) -> str:
    """Statements over temporary views."""
    # A persistent view can't be made of temporary ones.
    return statement.replace("REPLACE VIEW", "REPLACE TEMPORARY VIEW").replace("GLOBAL TEMPORARY", "TEMPORARY")


def frame_of(spark: SparkSession, rows: Tables, setup: Sequence[str], query: str) -> DataFrame:
    """The query's frame, after these rows have become temporary views, and the statements before it were run."""
    for table, content in rows.items():
        # By way of Arrow they are in the plan itself, and most queries need no job. It has maps as lists of pairs.
        fields: Any = StructType.fromDDL(SCHEMAS[table])
        schema = to_arrow_schema(fields)
        columns = {
            name: [
                list(row[name].items()) if pa.types.is_map(schema.field(name).type) else row[name] for row in content
            ]
            for name in schema.names
        }
        spark.createDataFrame(pa.table(columns, schema)).createOrReplaceTempView(table)
    for statement in setup:
        spark.sql(statement)
    return frame_of_program(spark, query) if query.startswith(MARK) else spark.sql(query.replace("global_temp.", ""))


def outputs_of(frame: DataFrame) -> Outputs:
    """The values of each column of a frame, and of each part of it."""
    return outputs_of_rows(frame.schema, frame.collect())


def outputs_of_rows(schema: StructType, rows: Iterable[Sequence[Any]]) -> Outputs:
    """The values of each column, and of each part of it, in no order: which row they are of isn't known."""
    once = [name for name in schema.names if schema.names.count(name) == 1]
    found: dict[str, list[str]] = {quoted(name): [] for name in once}
    for row in rows:
        for part, whole in zip(schema.fields, row, strict=True):
            for path, value in _parts((part.name,), whole, part.dataType) if part.name in once else ():
                found.setdefault(path_text(path), []).append(repr(value))
    return {path: sorted(values) for path, values in found.items()}


def _parts(path: Path, value: Any, data_type: DataType) -> Iterator[tuple[Path, Any]]:
    yield path, value
    if isinstance(data_type, StructType):
        for number, field in enumerate(data_type.fields):
            yield from _parts((*path, field.name), None if value is None else value[number], field.dataType)
    elif isinstance(data_type, ArrayType):
        for item in value or ():
            yield from _parts((*path, "[]"), item, data_type.elementType)
    elif isinstance(data_type, MapType):
        for item in (value or {}).values():
            yield from _parts((*path, "{}"), item, data_type.valueType)
