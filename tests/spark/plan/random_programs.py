"""Random programs of the DataFrame API over the tables of `random_queries`, each the same for its seed.

A program is Python, a frame a line, of what SQL has no words for, or makes other plans of: `withColumn` and `drop`,
joins by name, `Window`, `groupBy` with `pivot`, `unionByName` with columns missing, `when` and `otherwise`, fields put
into structs and taken out, `na`, `dropDuplicates`, a frame that is used twice. Expressions are `random_expressions`'.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING, Any, Final

from spark.plan.random_expressions import Expressions, Value
from spark.plan.random_grammar import SQL_TYPES
from spark.plan.random_queries import COMPARABLE, TABLES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MARK: Final = "# a program\n"
"""First line of a program; no query has it."""

Frame = tuple[str, list[Value]]


def random_program(seed: int, deepest: int) -> str:
    """One program of at most so many steps below each other; its last line is the frame `result`."""
    return ProgramWriter(Random(seed)).program(deepest)


def names_of_program(spark: SparkSession, program: str) -> dict[str, Any]:
    """Run a program's lines; all that they define."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812  the name every PySpark program uses

    names: dict[str, Any] = {"spark": spark, "F": F, "Window": Window}
    exec(program, names)
    return names


def frame_of_program(spark: SparkSession, program: str) -> DataFrame:
    """Run a program's lines; its frame."""
    result: DataFrame = names_of_program(spark, program)["result"]
    return result


class ProgramWriter:
    """Writes one program. Every column has a name of its own, so that none needs to say whose it is."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._names = 0
        self._lines: list[str] = []
        self._expressions = Expressions(random)
        self._shapes: tuple[Callable[[int], Frame], ...] = (
            self._added,
            self._added,
            self._selected,
            self._joined,
            self._joined,
            self._joined_by_name,
            self._grouped,
            self._pivoted,
            self._windowed,
            self._exploded,
            self._united,
            self._distinct,
            self._top,
            self._filled,
            self._restructured,
            self._chosen,
            self._melted,
            self._twice,
        )

    def program(self, deepest: int) -> str:
        """The whole."""
        frame, _ = self._relation(self._random.randint(1, deepest))
        return MARK + "\n".join([*self._lines, f"result = {frame}"])

    def _relation(self, depth: int) -> Frame:
        if depth <= 0:
            return self._table()
        return self._random.choice(self._shapes)(depth)

    def _table(self) -> Frame:
        table = self._random.choice(list(TABLES))
        columns = self._random.sample(TABLES[table], self._random.randint(3, 5))
        named = [(name, self._new(type_)) for name, type_ in columns]
        made = ", ".join(f"F.col({name!r}).alias({value.text!r})" for name, value in named)
        return self._line(f"spark.table({table!r}).select({made})", [value for _, value in named])

    def _added(self, depth: int) -> Frame:
        frame, columns = self._relation(depth - 1)
        new = self._new(self._random.choice(list(SQL_TYPES)))
        text = f"{frame}.withColumn({new.text!r}, {self._expr(new.type, columns)})"
        gone = self._random.choice(columns)
        if len(columns) > 2 and self._random.random() < 0.5:
            return self._line(f"{text}.drop({gone.text!r})", [*(each for each in columns if each is not gone), new])
        return self._line(text, [*columns, new])

    def _selected(self, depth: int) -> Frame:
        frame, columns = self._relation(depth - 1)
        kept, new = self._some(columns), self._new(self._random.choice(list(SQL_TYPES)))
        made = [*(f"F.col({each.text!r})" for each in kept), f"{self._expr(new.type, columns)}.alias({new.text!r})"]
        where = f".where({self._expr('bool', columns)})" if self._random.random() < 0.5 else ""
        return self._line(f"{frame}{where}.select({', '.join(made)})", [*kept, new])

    def _joined(self, depth: int) -> Frame:
        (left, lefts), (right, rights) = self._relation(depth - 1), self._relation(depth - 2)
        how = self._random.choice(("inner", "left", "right", "full", "left_semi", "left_anti"))
        on = f"{self._expr('int', lefts, 1)} == {self._expr('int', rights, 1)}"
        if self._random.random() < 0.3:
            on = f"({on}) & {self._expr('bool', [*lefts, *rights], 1)}"
        columns = lefts if how in {"left_semi", "left_anti"} else [*lefts, *rights]
        return self._line(f"{left}.join({right}, {on}, {how!r})", columns)

    def _joined_by_name(self, depth: int) -> Frame:
        (left, lefts), (right, rights) = self._relation(depth - 1), self._relation(depth - 2)
        key = self._new("int")
        ours = f"{left}.withColumn({key.text!r}, {self._expr('int', lefts, 1)})"
        theirs = f"{right}.withColumn({key.text!r}, {self._expr('int', rights, 1)})"
        how = self._random.choice(("inner", "left", "outer"))
        return self._line(f"{ours}.join({theirs}, [{key.text!r}], {how!r})", [key, *lefts, *rights])

    def _grouped(self, depth: int) -> Frame:
        frame, columns = self._relation(depth - 1)
        key, total, most, many = self._new("int"), self._new("int"), self._new("text"), self._new("int")
        grouping = self._random.choice(("groupBy", "rollup", "cube"))
        made = (
            f"F.sum({self._expr('int', columns, 1)}).cast('int').alias({total.text!r})",
            self._most(columns, most),
            f"F.count_distinct({self._expr('text', columns, 1)}).cast('int').alias({many.text!r})",
        )
        keyed = f"{frame}.withColumn({key.text!r}, {self._expr('int', columns, 1)})"
        return self._line(f"{keyed}.{grouping}({key.text!r}).agg({', '.join(made)})", [key, total, most, many])

    def _most(self, columns: list[Value], new: Value) -> str:
        # By the value, too: which of two equals is the one depends on the rows' order, which is nobody's lineage.
        value = self._expr("text", columns, 1)
        by = f"F.struct({self._expr('int', columns, 1)}, {value})"
        return f"F.max_by({value}, {by}).alias({new.text!r})"

    def _pivoted(self, depth: int) -> Frame:
        frame, columns = self._relation(depth - 1)
        key, on, value = self._new("text"), self._new("int"), self._new("int")
        made = ", ".join(f"{self._expr(each.type, columns, 1)}.alias({each.text!r})" for each in (key, on, value))
        new = [self._new("int"), self._new("int")]
        pivoted = f"{frame}.select({made}).groupBy({key.text!r}).pivot({on.text!r}, [0, 1]).agg(F.max({value.text!r}))"
        names = ", ".join(repr(each.text) for each in (key, *new))
        return self._line(f"{pivoted}.toDF({names})", [key, *new])

    def _windowed(self, depth: int) -> Frame:
        frame, columns = self._relation(depth - 1)
        new = self._new("int")
        window = f"Window.partitionBy({self._expr('int', columns, 1)}).orderBy({self._expr('text', columns, 1)})"
        value = self._random.choice(
            (
                "F.row_number()",
                f"F.lag({self._expr('int', columns, 1)}, 1)",
                f"F.max({self._expr('int', columns, 1)})",
                "F.rank()",
            )
        )
        if self._sorted_by_a_window and ("row_number" in value or "lag" in value):
            value = "F.rank()"
        made = f"{frame}.withColumn({new.text!r}, {value}.over({window}))"
        return self._line(made + (f".where(F.col({new.text!r}) <= 1)" if "()" in value else ""), [*columns, new])

    def _exploded(self, depth: int) -> Frame:
        frame, columns = self._relation(depth - 1)
        kept = self._some(columns)
        names = ", ".join(f"F.col({each.text!r})" for each in kept)
        way = self._random.choice(("explode", "explode_outer"))
        new = self._new("int")
        made = f"F.{way}({self._expr('ints', columns, 1)}).alias({new.text!r})"
        return self._line(f"{frame}.select({names}, {made})", [*kept, new])

    def _united(self, depth: int) -> Frame:
        (left, lefts), (right, rights) = self._relation(depth - 1), self._relation(depth - 2)
        new = [self._new(self._random.choice(COMPARABLE)) for _ in range(3)]
        sides = [
            f"{frame}.select({', '.join(f'{self._cast(each.type, columns)}.alias({each.text!r})' for each in some)})"
            for frame, columns, some in ((left, lefts, new), (right, rights, new[:2]))
        ]
        # In one partition, as the tables are: see `plan_again`.
        return self._line(f"{sides[0]}.unionByName({sides[1]}, allowMissingColumns=True).coalesce(1)", new)

    def _distinct(self, depth: int) -> Frame:
        frame, columns = self._relation(depth - 1)
        new = [self._new(self._random.choice(COMPARABLE)) for _ in range(2)]
        made = ", ".join(f"{self._expr(each.type, columns, 1)}.alias({each.text!r})" for each in new)
        how = self._random.choice(("distinct()", f"dropDuplicates([{new[0].text!r}])"))
        if self._sorted_by_a_window:
            how = "distinct()"
        return self._line(f"{frame}.select({made}).{how}", new)

    def _top(self, depth: int) -> Frame:
        frame, columns = self._relation(depth - 1)
        order = f"{self._expr('int', columns, 1)}.desc(), {self._expr('text', columns, 1)}"
        limit = "" if self._sorted_by_a_window else ".limit(5)"
        return self._line(f"{frame}.orderBy({order}){limit}", columns)

    def _filled(self, depth: int) -> Frame:
        frame, columns = self._relation(depth - 1)
        new = self._new("int")
        made = f"{frame}.withColumn({new.text!r}, {self._expr('int', columns, 1)})"
        how = self._random.choice(
            (f"na.fill(7, [{new.text!r}])", f"na.drop(subset=[{new.text!r}])", f"na.replace(1, 9, [{new.text!r}])")
        )
        return self._line(f"{made}.{how}", [*columns, new])

    def _restructured(self, depth: int) -> Frame:
        frame, columns = self._relation(depth - 1)
        old, new, field = self._new("pair"), self._new("pair"), self._new("int")
        first = f"{frame}.withColumn({old.text!r}, {self._expr('pair', columns, 1)})"
        put = f"F.col({old.text!r}).withField('x', {self._expr('int', columns, 1)})"
        taken = f"F.col({new.text!r}).getField('x')"
        return self._line(
            f"{first}.withColumn({new.text!r}, {put}).withColumn({field.text!r}, {taken})", [*columns, old, new, field]
        )

    def _chosen(self, depth: int) -> Frame:
        frame, columns = self._relation(depth - 1)
        new = self._new(self._random.choice(("int", "text")))
        first, second, other = (self._expr(new.type, columns, 1) for _ in range(3))
        one, two = self._expr("bool", columns, 1), self._expr("bool", columns, 1)
        chosen = f"F.when({one}, {first}).when({two}, {second}).otherwise(F.coalesce({other}, {first}))"
        return self._line(f"{frame}.withColumns({{{new.text!r}: {chosen}}})", [*columns, new])

    def _melted(self, depth: int) -> Frame:
        frame, columns = self._relation(depth - 1)
        key, one, two = self._new("int"), self._new("int"), self._new("int")
        name, value = self._new("text"), self._new("int")
        made = ", ".join(f"{self._expr('int', columns, 1)}.alias({each.text!r})" for each in (key, one, two))
        melted = f".unpivot([{key.text!r}], [{one.text!r}, {two.text!r}], {name.text!r}, {value.text!r})"
        return self._line(f"{frame}.select({made}){melted}", [key, name, value])

    def _twice(self, depth: int) -> Frame:
        frame, columns = self._relation(depth - 1)
        other = [self._new(each.type) for each in columns]
        renamed = f"{frame}.toDF({', '.join(repr(each.text) for each in other)})"
        on = f"{self._expr('int', columns, 1)} == {self._expr('int', other, 1)}"
        return self._line(f"{frame}.join({renamed}, {on}, 'left')", [*columns, *other])

    @property
    def _sorted_by_a_window(self) -> bool:
        """True when a window has sorted the rows: the first of equals then depends on its order, and a row
        that is picked out of equals would change with that; it is nobody's lineage."""
        return any("Window." in line for line in self._lines)

    def _line(self, text: str, columns: list[Value]) -> Frame:
        name = f"f{len(self._lines)}"
        self._lines.append(f"{name} = {text}")
        return name, columns

    def _expr(self, type_: str, columns: list[Value], depth: int | None = None) -> str:
        text = self._expressions.value(type_, columns, depth)
        return f"F.col({text!r})" if text.isidentifier() else f"F.expr({text!r})"

    def _cast(self, type_: str, columns: list[Value]) -> str:
        return f"{self._expr(type_, columns, 1)}.cast({SQL_TYPES[type_]!r})"

    def _some(self, columns: list[Value]) -> list[Value]:
        return self._random.sample(columns, self._random.randint(min(2, len(columns)), min(4, len(columns))))

    def _new(self, type_: str) -> Value:
        self._names += 1
        return Value(f"c{self._names}", type_)
