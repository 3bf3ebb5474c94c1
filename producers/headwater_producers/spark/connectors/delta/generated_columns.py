"""Generated columns of Delta tables, which no plan of an INSERT has: Delta's writer adds them.

Their expressions are in the metadata of the table's schema; Spark's own analyzer resolves them.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql import DataFrame

from headwater_producers.spark.plan.generated import Generated

if TYPE_CHECKING:
    from collections.abc import Collection

    from headwater_producers.spark.connectors.context import Context

_EXPRESSION: Final = "delta.generationExpression"


def generated_columns(context: Context, table: Any, written: Collection[str]) -> Generated | None:
    """What a JVM `DeltaTableV2` adds to the columns that are written; None where it adds nothing.

    Args:
        context: see there.
        table: the table, as it was when the command was planned.
        written: names of the columns that the command's query gives.
    """
    if int(table.schema().size()) <= len(written):
        return None
    # The table's own schema hides what its columns are made of.
    schema = json.loads(str(table.initialSnapshot().metadata().schemaString()))
    there = {name.lower() for name in written}
    missing = [
        field
        for field in schema["fields"]
        if _EXPRESSION in field.get("metadata", {}) and field["name"].lower() not in there
    ]
    if not missing:
        return None
    names = [str(field["name"]) for field in missing]
    expressions = [f"{field['metadata'][_EXPRESSION]} AS `g{i}`" for i, field in enumerate(missing)]
    return Generated(tuple(names), tuple(field["type"] for field in missing), _analyzed(context, schema, expressions))


def _analyzed(context: Context, schema: dict[str, Any], expressions: list[str]) -> str:
    session = context.session
    jvm = session._jvm
    struct = jvm.org.apache.spark.sql.types.DataType.fromJson(json.dumps(schema))
    empty = session._jsparkSession.createDataFrame(jvm.java.util.ArrayList(), struct)
    return str(DataFrame(empty, session).selectExpr(*expressions)._jdf.queryExecution().analyzed().toJSON())
