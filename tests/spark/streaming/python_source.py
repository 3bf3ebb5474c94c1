"""Two Python data sources, one for each kind of stream reader; the first is a sink too.

Classes are made inside functions: Python workers get them by value, and needn't find this module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import datasource as py

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def register(spark: SparkSession) -> None:
    """`counting` plans partitions, `simple_counting` reads in the driver. Both give the numbers below option `rows`."""
    for source in (_counting(_reader()), _simple(_simple_reader())):
        spark.dataSource.register(source)


def _counting(reader: Any) -> Any:
    class Writer(py.DataSourceStreamWriter):
        def write(self, iterator: Any) -> Any:
            for _ in iterator:
                pass
            return py.WriterCommitMessage()

    class Counting(py.DataSource):
        @classmethod
        def name(cls) -> str:
            return "counting"

        def schema(self) -> str:
            return "n INT"

        def streamReader(self, schema: Any) -> Any:  # noqa: N802 - the interface's name
            return reader(int(self.options["rows"]))

        def streamWriter(self, schema: Any, overwrite: bool) -> Any:  # noqa: N802 - the interface's name
            return Writer()

    return Counting


def _simple(reader: Any) -> Any:
    class SimpleCounting(py.DataSource):
        @classmethod
        def name(cls) -> str:
            return "simple_counting"

        def schema(self) -> str:
            return "n INT"

        def simpleStreamReader(self, schema: Any) -> Any:  # noqa: N802 - the interface's name
            return reader(int(self.options["rows"]))

    return SimpleCounting


def _reader() -> Any:
    class Reader(py.DataSourceStreamReader):
        """Its offsets look like Kafka's: a topic `shelf` with a partition 0."""

        def __init__(self, rows: int) -> None:
            self.rows = rows

        def initialOffset(self) -> dict[str, Any]:  # noqa: N802 - the interface's name
            return {"shelf": {"0": 0}}

        def latestOffset(self) -> dict[str, Any]:  # noqa: N802 - the interface's name
            return {"shelf": {"0": self.rows}}

        def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Any:
            return [py.InputPartition((start["shelf"]["0"], end["shelf"]["0"]))]

        def read(self, partition: Any) -> Any:
            first, last = partition.value
            for number in range(first, last):
                yield (number,)

    return Reader


def _simple_reader() -> Any:
    class SimpleReader(py.SimpleDataSourceStreamReader):
        def __init__(self, rows: int) -> None:
            self.rows = rows

        def initialOffset(self) -> dict[str, Any]:  # noqa: N802 - the interface's name
            return {"offset": 0}

        def read(self, start: dict[str, Any]) -> Any:
            rows = [(number,) for number in range(start["offset"], self.rows)]
            return iter(rows), {"offset": start["offset"] + len(rows)}

        def readBetweenOffsets(self, start: dict[str, Any], end: dict[str, Any]) -> Any:  # noqa: N802 - the same
            return iter([(number,) for number in range(start["offset"], end["offset"])])

    return SimpleReader
