"""Tables as files whose rows are exchanged beneath a plan that stays: the plan is made once, and run on many rows.

Each table is a folder with one JSON file of always the same length, which Spark lists once and reads anew in each run.
Its view has one partition, so that a query needs no exchange, whose rows Spark would keep.
"""

from __future__ import annotations

import itertools
import json
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import orc

from headwater_producers.spark.plan.schema import path_text
from spark.plan.in_memory import SCHEMAS, Outputs, Tables
from spark.plan.perturbed_rows import Path
from spark.plan.random_queries import TABLES
from spark.plan.random_writes import STREAMED

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_BYTES: Final = 8192
"""Size of each file: fourteen rows have less than half."""


class RowFiles:
    """The tables of `random_queries` in a folder, as views of a session, and as streams."""

    def __init__(self, spark: SparkSession, folder: FilePath) -> None:
        # A broadcast is an exchange; a plan that reuses one can't be copied and run again.
        spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
        spark.conf.set("spark.sql.exchange.reuse", "false")
        self.spark = spark
        self._folder = folder
        self._numbers = itertools.count()
        for table in TABLES:
            (folder / table).mkdir(parents=True)
            self.write({table: []})
            read = {"schema": SCHEMAS[table], "path": str(folder / table)}
            spark.read.json(**read).coalesce(1).createOrReplaceTempView(table)
            spark.readStream.json(**read).createOrReplaceTempView(f"{STREAMED}{table}")

    def write(self, rows: Tables) -> None:
        """Exchanges the rows of some tables."""
        for table, content in rows.items():
            text = "".join(f"{json.dumps(row)}\n" for row in content)
            if len(text) >= _BYTES:
                raise ValueError(f"{len(text)} characters are too many for a file of {_BYTES}")
            (self._folder / table / "rows.json").write_text(text.ljust(_BYTES - 1) + "\n")

    def new_output(self) -> tuple[str, str]:
        """A folder that isn't there yet, and a table's name."""
        number = next(self._numbers)
        return str(self._folder / f"out{number}"), f"random_{self._folder.name}_{number}".replace("-", "_")

    def checkpoint(self, out: str) -> str:
        """A folder for a streaming query that writes to `out`."""
        return f"{out}.checkpoint"

    def drop(self, out: str, table: str) -> None:
        """Removes what was written."""
        self.spark.sql(f"DROP TABLE IF EXISTS {table}")
        shutil.rmtree(out, ignore_errors=True)
        shutil.rmtree(self.checkpoint(out), ignore_errors=True)


def outputs_in(folder: str) -> Outputs:
    """The values of each column, and of each part of it, that the Parquet and ORC files in a folder have."""
    found: dict[str, list[str]] = {}
    for file in sorted(FilePath(folder).rglob("part-*")):
        if "_temporary" in file.parts or not file.name.endswith((".parquet", ".orc")):
            continue
        rows = pq.ParquetFile(file).read() if file.suffix == ".parquet" else orc.ORCFile(file).read()
        for part in file.relative_to(folder).parts[:-1]:
            name, _, value = part.partition("=")
            found.setdefault(name, []).extend([value] * rows.num_rows)
        columns = zip(rows.schema, rows.columns, strict=True)
        for path, values in outputs_of_columns((f.name, f.type, column.to_pylist()) for f, column in columns).items():
            found.setdefault(path, []).extend(values)
    return {path: sorted(values) for path, values in found.items()}


def outputs_of_columns(columns: Iterable[tuple[str, pa.DataType, list[Any]]]) -> Outputs:
    """The values of each column, and of each part of it, of columns as Arrow has them: name, type, values."""
    found: dict[str, list[str]] = {}
    for name, data_type, values in columns:
        found.setdefault(path_text((name,)), [])
        for whole in values:
            for path, value in _parts((name,), whole, data_type):
                found.setdefault(path_text(path), []).append(repr(value))
    return {path: sorted(values) for path, values in found.items()}


def _parts(path: Path, value: Any, data_type: pa.DataType) -> Iterator[tuple[Path, Any]]:
    yield path, value
    if pa.types.is_struct(data_type):
        for field in data_type:
            yield from _parts((*path, field.name), None if value is None else value[field.name], field.type)
    elif pa.types.is_map(data_type):
        yield from _each((*path, "{}"), [item for _, item in value or ()], data_type.item_type)
    elif pa.types.is_list(data_type):
        yield from _each((*path, "[]"), value or (), data_type.value_type)


def _each(path: Path, values: Iterable[Any], data_type: pa.DataType) -> Iterator[tuple[Path, Any]]:
    for value in values:
        yield from _parts(path, value, data_type)
