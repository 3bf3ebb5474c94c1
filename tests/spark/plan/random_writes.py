"""Random programs that write, in batch and as streaming queries, each the same for its seed.

Such a program defines `write(out, table, checkpoint)`: what is written ends up as Parquet or ORC files in the folder
`out`, by its path or by way of the table `table` there. It may be called again and again, each time with others.
"""

from __future__ import annotations

import re
from random import Random
from typing import Final

from spark.plan.random_expressions import Value
from spark.plan.random_grammar import SQL_TYPES
from spark.plan.random_programs import MARK, Frame, ProgramWriter

STREAMED: Final = "streamed_"
"""Before a table's name: the view that reads it as a stream."""

_IN_TABLE: Final = "USING parquet LOCATION '{out}'"


def random_write(seed: int, deepest: int) -> str:
    """A batch program: a random program, and a write of its frame."""
    return _WriteWriter(Random(f"write {seed}")).batch(deepest)


def random_stream(seed: int, deepest: int) -> str:
    """A streaming query over what one table's file has, to its end; some write in foreachBatch."""
    return _StreamWriter(Random(f"stream {seed}")).stream(deepest)


def in_batch(stream: str) -> str:
    """The program of a streaming query as one in batch, over the same rows; its one micro-batch is all of them."""
    *lines, start = stream.replace(STREAMED, "").split("\n")
    start = re.sub(r"(\w+)\.writeStream\..*\.foreachBatch\(each\).*", r"each(\1, 0)", start)
    start = start.replace(_ONCE, "").replace(".writeStream", ".write").replace(".awaitTermination()", "")
    return "\n".join([*lines, start.replace(".start(out)", ".save(out)").replace(".toTable(", ".saveAsTable(")])


class _WriteWriter(ProgramWriter):
    """Writes programs that end with a write."""

    def batch(self, deepest: int) -> str:
        """A program in batch."""
        frame, columns = self._relation(self._random.randint(1, deepest))
        frame, columns = self._narrowed(frame, columns)
        return self._defined(self._sink(frame, columns, "spark"))

    def _defined(self, body: list[str]) -> str:
        return MARK + "\n".join([*self._lines, "def write(out, table, checkpoint):", *(f"    {line}" for line in body)])

    def _narrowed(self, frame: str, columns: list[Value]) -> Frame:
        """At most five columns, in some order."""
        kept = self._random.sample(columns, min(len(columns), self._random.randint(2, 5)))
        return self._line(f"{frame}.select({', '.join(repr(each.text) for each in kept)})", kept)

    def _sink(self, frame: str, columns: list[Value], spark: str) -> list[str]:
        """The lines that write a frame."""
        ways = (
            self._to_path,
            self._to_path,
            self._as_table,
            self._inserted_by_position,
            self._inserted,
            self._inserted_by_list,
            self._inserted_by_name,
            self._inserted_into_partition,
            self._created,
            self._to_directory,
        )
        lines = self._random.choice(ways)(frame, columns, spark)
        by_sql = any("FROM written" in line for line in lines)
        return [f"{frame}.createOrReplaceTempView('written')", *lines] if by_sql else lines

    def _to_path(self, frame: str, columns: list[Value], spark: str) -> list[str]:
        del spark
        mode = self._random.choice(("append", "overwrite", "error"))
        how = self._random.choice(("parquet(out)", "format('orc').save(out)", "save(out)"))
        return [f"{frame}.write.mode({mode!r}){self._partitioned(columns)}.{how}"]

    def _as_table(self, frame: str, columns: list[Value], spark: str) -> list[str]:
        del spark
        mode = self._random.choice(("append", "overwrite"))
        how = f"option('path', out){self._partitioned(columns)}.saveAsTable(table)"
        return [f"{frame}.write.format('parquet').mode({mode!r}).{how}"]

    def _partitioned(self, columns: list[Value]) -> str:
        possible = [each for each in columns if each.type in {"int", "text", "bool"}]
        if len(columns) < 2 or not possible or self._random.random() < 0.6:
            return ""
        return f".partitionBy({self._random.choice(possible).text!r})"

    def _inserted_by_position(self, frame: str, columns: list[Value], spark: str) -> list[str]:
        overwrite = self._random.choice(("", ", overwrite=True"))
        return [self._table_for(columns, spark), f"{frame}.write.insertInto(table{overwrite})"]

    def _inserted(self, frame: str, columns: list[Value], spark: str) -> list[str]:
        del frame
        how = self._random.choice(("INTO", "OVERWRITE"))
        new = [self._new(self._random.choice(("int", "text"))), *self._some(columns)]
        made = [self._expressions.value(new[0].type, columns), *(each.text for each in new[1:])]
        where = f" WHERE {self._expressions.value('bool', columns, 1)}" if self._random.random() < 0.4 else ""
        return [
            self._table_for(new, spark),
            self._statement(spark, f"INSERT {how} {{table}} SELECT {', '.join(made)} FROM written{where}"),
        ]

    def _inserted_by_list(self, frame: str, columns: list[Value], spark: str) -> list[str]:
        del frame
        turned = self._random.sample(range(len(columns)), len(columns))
        names = ", ".join(f"o{number}" for number in turned)
        made = ", ".join(columns[number].text for number in turned)
        return [
            self._table_for(columns, spark),
            self._statement(spark, f"INSERT INTO {{table}} ({names}) SELECT {made} FROM written"),
        ]

    def _inserted_by_name(self, frame: str, columns: list[Value], spark: str) -> list[str]:
        del frame
        turned = self._random.sample(range(len(columns)), len(columns))
        made = ", ".join(f"{columns[number].text} AS o{number}" for number in turned)
        return [
            self._table_for(columns, spark),
            self._statement(spark, f"INSERT INTO {{table}} BY NAME SELECT {made} FROM written"),
        ]

    def _inserted_into_partition(self, frame: str, columns: list[Value], spark: str) -> list[str]:
        del frame
        table = f"CREATE TABLE {{table}} ({_fields(columns)}, part STRING) {_IN_TABLE} PARTITIONED BY (part)"
        made = ", ".join(each.text for each in columns)
        if self._random.random() < 0.5:
            insert = f"INSERT INTO {{table}} PARTITION (part = 'p') SELECT {made} FROM written"
        else:
            made += f", {self._expressions.value('text', columns, 1)}"
            insert = f"INSERT INTO {{table}} PARTITION (part) SELECT {made} FROM written"
        dynamic = f"{spark}.conf.set('hive.exec.dynamic.partition.mode', 'nonstrict')"
        return [dynamic, self._statement(spark, table), self._statement(spark, insert)]

    def _created(self, frame: str, columns: list[Value], spark: str) -> list[str]:
        del frame
        new = self._new(self._random.choice(("int", "text")))
        made = ", ".join(
            [*(each.text for each in columns), f"{self._expressions.value(new.type, columns)} AS {new.text}"]
        )
        return [self._statement(spark, f"CREATE TABLE {{table}} {_IN_TABLE} AS SELECT {made} FROM written")]

    def _to_directory(self, frame: str, columns: list[Value], spark: str) -> list[str]:
        del frame
        made = ", ".join(each.text for each in self._some(columns))
        return [
            self._statement(spark, f"INSERT OVERWRITE DIRECTORY '{{out}}' USING parquet SELECT {made} FROM written")
        ]

    def _table_for(self, columns: list[Value], spark: str) -> str:
        return self._statement(spark, f"CREATE TABLE {{table}} ({_fields(columns)}) {_IN_TABLE}")

    def _statement(self, spark: str, text: str) -> str:
        # By parameters of format, as an expression may have braces of its own; the names are the program's alone.
        parts = text.replace("{table}", "\0table\0").replace("{out}", "\0out\0").split("\0")
        return f"{spark}.sql({' + '.join(part if part in {'table', 'out'} else repr(part) for part in parts if part)})"


def _fields(columns: list[Value]) -> str:
    return ", ".join(f"o{number} {SQL_TYPES[each.type]}" for number, each in enumerate(columns))


class _StreamWriter(_WriteWriter):
    """Writes streaming queries: what Spark supports on a stream, with one stateful operator at most."""

    def __init__(self, random: Random) -> None:
        super().__init__(random)
        self._state = "none"
        self._streaming = False
        self._batch_shapes = self._shapes
        self._shapes = (
            self._added,
            self._selected,
            self._selected,
            self._filled,
            self._restructured,
            self._chosen,
            self._exploded,
            self._enriched,
        )

    def stream(self, deepest: int) -> str:
        """A query, and how it is started."""
        frame, columns = self._relation(self._random.randint(1, deepest))
        self._state = self._random.choice(("none", "none", "distinct", "groups"))
        if self._state == "distinct":
            keys = ", ".join(repr(each.text) for each in self._some([c for c in columns if c.type != "map"] or columns))
            frame, columns = self._line(f"{frame}.dropDuplicates([{keys}])", columns)
        elif self._state == "groups":
            frame, columns = self._summed(frame, columns)
        if self._state == "groups" or self._random.random() < 0.5:
            return self._defined(self._in_batches(frame, columns))
        return self._defined(self._as_sink(*self._narrowed(frame, columns)))

    def _table(self) -> Frame:
        """The first table of all is the stream; what it is joined with isn't."""
        frame, columns = super()._table()
        if not self._streaming:
            self._streaming = True
            self._lines[-1] = self._lines[-1].replace("spark.table('", f"spark.table('{STREAMED}")
        return frame, columns

    def _enriched(self, depth: int) -> Frame:
        (left, lefts), (right, rights) = self._relation(depth - 1), self._table()
        how = self._random.choice(("inner", "left", "left_semi"))
        on = f"{self._expr('int', lefts, 1)} == {self._expr('int', rights, 1)}"
        return self._line(f"{left}.join({right}, {on}, {how!r})", lefts if how == "left_semi" else [*lefts, *rights])

    def _summed(self, frame: str, columns: list[Value]) -> Frame:
        key, total, most, many = self._new("int"), self._new("int"), self._new("text"), self._new("int")
        made = (
            f"F.sum({self._expr('int', columns, 1)}).cast('int').alias({total.text!r})",
            self._most(columns, most),
            f"F.count('*').cast('int').alias({many.text!r})",
        )
        keyed = f"{frame}.withColumn({key.text!r}, {self._expr('int', columns, 1)})"
        return self._line(f"{keyed}.groupBy({key.text!r}).agg({', '.join(made)})", [key, total, most, many])

    def _as_sink(self, frame: str, columns: list[Value]) -> list[str]:
        writer = f"{frame}.writeStream{self._partitioned(columns)}"
        how = self._random.choice(
            ("format('parquet').start(out)", "format('orc').start(out)", "option('path', out).toTable(table)")
        )
        return [f"{writer}{_ONCE}.{how}.awaitTermination()"]

    def _in_batches(self, frame: str, columns: list[Value]) -> list[str]:
        before, self._lines = self._lines, []
        mode = "append" if self._state != "groups" else self._random.choice(("complete", "update"))
        batch: Frame = ("batch", columns)
        for _ in range(self._random.randint(0, 2)):
            shape = self._random.choice(self._batch_shapes)
            self._relation_below = batch
            batch = shape(1)
        batch = self._narrowed(*batch)
        body, self._lines = [*self._lines, *self._sink(*batch, "batch.sparkSession")], before
        start = f"{frame}.writeStream.outputMode({mode!r}){_ONCE}.foreachBatch(each).start().awaitTermination()"
        return ["def each(batch, number):", *(f"    {line}" for line in body), start]

    _relation_below: Frame | None = None

    def _relation(self, depth: int) -> Frame:
        """Within foreachBatch, a step's first frame is the batch, or what was made of it."""
        if self._relation_below is not None:
            below, self._relation_below = self._relation_below, None
            return below
        return super()._relation(depth)


_ONCE: Final = ".option('checkpointLocation', checkpoint).trigger(availableNow=True)"
