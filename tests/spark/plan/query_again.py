"""The query of a batch write, run again instead of the write, on rows that have changed.

Spark plans a write's query, and then writes its columns one by one under the names that the command has. So what the
files would have is known without writing them, if it is for the rows that were written: whoever asks compares.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import ArrayType, DataType, MapType, StructType

from headwater_dry_run.plans import frame_of
from headwater_producers.spark.jvm.scala import class_name, items
from spark.plan.in_memory import Outputs
from spark.plan.plan_again import PlanAgain, Tasks
from spark.plan.row_files import outputs_of_columns

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_COMMANDS: Final = frozenset(
    {"InsertIntoHadoopFsRelationCommand", "CreateDataSourceTableAsSelectCommand", "InsertIntoDataSourceDirCommand"}
)
_NO_VALUE: Final = "__HIVE_DEFAULT_PARTITION__"


def query_again(spark: SparkSession, executions: Iterable[Any], tasks: Tasks) -> QueryAgain | None:
    """The query of the last write among these executions; None where there is none whose columns are known.

    Args:
        spark: its session.
        executions: the JVM's `QueryExecution`s, in the order they ended.
        tasks: of that session.
    """
    commands = [execution.analyzed() for execution in executions]
    writes = [command for command in commands if class_name(command) in _COMMANDS]
    return QueryAgain(spark, writes[-1], tasks) if writes else None


class QueryAgain:
    """The query of a write's command, one of `_COMMANDS`."""

    def __init__(self, spark: SparkSession, command: Any, tasks: Tasks) -> None:
        frame = frame_of(spark, command.query())
        self._schema = frame.schema
        self._plan = PlanAgain(frame, tasks)
        kind = class_name(command)
        self._names: list[str] = self._schema.names
        if kind != "InsertIntoDataSourceDirCommand":
            self._names = [str(name) for name in items(command.outputColumnNames())]
        self._partitioned_by: set[str] = set()
        if kind == "InsertIntoHadoopFsRelationCommand":
            self._partitioned_by = {str(column.name()) for column in items(command.partitionColumns())}
        elif kind == "CreateDataSourceTableAsSelectCommand":
            self._partitioned_by = {str(name) for name in items(command.table().partitionColumnNames())}

    def outputs(self) -> Outputs:
        """Outputs of the query if it was written now."""
        rows = self._plan.rows()
        types = to_arrow_schema(self._schema).types
        columns = [
            (name, arrow_type, [_plain(row[number], field.dataType) for row in rows])
            for number, (name, arrow_type, field) in enumerate(
                zip(self._names, types, self._schema.fields, strict=True)
            )
        ]
        written = outputs_of_columns(column for column in columns if column[0] not in self._partitioned_by)
        texts = {name: sorted(map(_folder, values)) for name, _, values in columns if name in self._partitioned_by}
        return written | texts


def _plain(value: Any, data_type: DataType) -> Any:
    """Value in Arrow's form: structs as dicts, maps as lists of pairs."""
    if value is None:
        return None
    if isinstance(data_type, StructType):
        return {field.name: _plain(part, field.dataType) for field, part in zip(data_type.fields, value, strict=True)}
    if isinstance(data_type, ArrayType):
        return [_plain(item, data_type.elementType) for item in value]
    if isinstance(data_type, MapType):
        return [(key, _plain(item, data_type.valueType)) for key, item in value.items()]
    return value


def _folder(value: Any) -> str:
    """A partition's value in the name of its folder; characters that Spark escapes stay as they are."""
    if value is None or value == "":
        return _NO_VALUE
    return str(value).lower() if isinstance(value, bool) else str(value)
