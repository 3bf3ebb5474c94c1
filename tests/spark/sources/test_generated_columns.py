"""Columns that a Delta table generates: no plan of an INSERT has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from headwater_producers.spark.execution import describe
from spark.plan.goldens import check, edge_lines
from spark.plan.listener import executions
from support.spark_versions import needs_jars

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

WRITTEN = {"id": "INT", "at": "TIMESTAMP", "name": "STRING"}
GENERATED = {"year": ("INT", "year(at)"), "label": ("STRING", "concat(upper(name), cast(id AS STRING))")}
INSERTS = {
    "insert without the generated columns": (
        "INSERT INTO generating (id, at, name) SELECT id, at, lower(name) FROM to_generate WHERE id > 3"
    ),
    "insert with one generated column": (
        "INSERT INTO generating (id, at, name, year) SELECT id, at, name, year(at) FROM to_generate"
    ),
}


def make(lake: SparkSession) -> None:
    """The table, by Delta's own builder: its SQL can't make such columns."""
    session: Any = lake
    delta = session._jvm.io.delta.tables.DeltaTable
    builder = delta.createOrReplace(session._jsparkSession).tableName("generating")
    for name, data_type in WRITTEN.items():
        builder = builder.addColumn(name, data_type)
    for name, (data_type, expression) in GENERATED.items():
        column = delta.columnBuilder(session._jsparkSession, name)
        builder = builder.addColumn(column.dataType(data_type).generatedAlwaysAs(expression).build())
    builder.execute()


@pytest.mark.parametrize("title", INSERTS)
def test_what_the_table_generates_is_emitted(lake: SparkSession, title: str) -> None:
    needs_jars("delta")
    lake.sql("CREATE TABLE IF NOT EXISTS to_generate (id INT, at TIMESTAMP, name STRING) USING parquet")
    make(lake)
    with executions(lake) as found:
        lake.sql(INSERTS[title])
    (written,) = [d for d in (describe(execution, session=lake) for execution in found) if d.outputs]
    lake.sql("DROP TABLE generating")
    assert written.lineage.complete
    (output,) = written.outputs
    assert output.schema is not None
    assert {field.path: field.type for field in output.schema.fields} == {
        "id": "int",
        "at": "timestamp",
        "name": "string",
        "year": "int",
        "label": "string",
    }
    check("writes", title, edge_lines(written.lineage))
