"""Random queries over two small tables, each the same for its seed.

A query is nested two to five deep, of joins, set operations, groups, windows, generators, pivots and subqueries, with
expressions of `random_expressions`. `perturbation.py` runs and judges them.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

from spark.plan.random_expressions import Expressions, Value
from spark.plan.random_grammar import AGGREGATES, GENERATORS, SQL_TYPES, WINDOWS

TABLES: Final = {
    "alpha": (("k", "int"), ("n", "int"), ("t", "text"), ("s", "pair"), ("l", "ints")),
    "beta": (("k", "int"), ("v", "int"), ("u", "text"), ("e", "pairs"), ("m", "map")),
}
"""Columns and their types, as `random_expressions` calls them; `perturbed_rows` has their values."""

COMPARABLE: Final = ("int", "text", "pair", "ints")
"""Types of which two rows' values can be compared: no maps."""

Query = tuple[str, list[Value]]


def random_query(seed: int) -> str:
    """One query."""
    return _Drawing(Random(seed)).query()


class _Drawing:
    """Draws one query. Every column has a name of its own, so that none needs to say whose it is."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._names = 0
        self._expressions = Expressions(random)
        self._shapes: tuple[Callable[[int], Query], ...] = (
            self._selected,
            self._selected,
            self._joined,
            self._joined,
            self._united,
            self._grouped,
            self._grouped,
            self._windowed,
            self._generated,
            self._kept,
            self._looked_up,
            self._lateral,
            self._pivoted,
            self._unpivoted,
            self._distinct,
            self._top,
            self._twice,
        )

    def query(self) -> str:
        """The whole."""
        text, _ = self._relation(self._random.randint(2, 5))
        return text

    def _relation(self, depth: int) -> Query:
        if depth <= 0:
            return self._table()
        return self._random.choice(self._shapes)(depth)

    def _table(self) -> Query:
        table = self._random.choice(list(TABLES))
        columns = self._random.sample(TABLES[table], self._random.randint(3, 5))
        named = [(name, self._new(type_)) for name, type_ in columns]
        return f"SELECT {_list(named)} FROM {table}", [value for _, value in named]

    def _selected(self, depth: int) -> Query:
        text, columns = self._relation(depth - 1)
        made = self._made(columns, self._random.randint(1, 3))
        where = f" WHERE {self._value('bool', columns)}" if self._random.random() < 0.4 else ""
        kept = [(each.text, each) for each in self._some(columns)]
        return self._of([*kept, *made], f"({text}){where}")

    def _joined(self, depth: int) -> Query:
        (left, lefts), (right, rights) = self._relation(depth - 1), self._relation(depth - 2)
        kind = self._random.choice(("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN"))
        on = f"{self._value('int', lefts, 1)} = {self._value('int', rights, 1)}"
        if self._random.random() < 0.3:
            on += f" AND {self._value('bool', [*lefts, *rights], 1)}"
        columns = lefts if kind.startswith("LEFT ") and "JOIN" not in kind[5:9] else [*lefts, *rights]
        kept = [(each.text, each) for each in self._some(columns)]
        return self._of(kept, f"({left}) {kind} ({right}) ON {on}")

    def _united(self, depth: int) -> Query:
        (left, lefts), (right, rights) = self._relation(depth - 1), self._relation(depth - 2)
        how = self._random.choice(("UNION ALL", "UNION", "INTERSECT", "EXCEPT", "EXCEPT ALL"))
        types = [self._random.choice(COMPARABLE) for _ in range(self._random.randint(1, 3))]
        ours = [(self._cast(type_, lefts), self._new(type_)) for type_ in types]
        theirs = ", ".join(self._cast(type_, rights) for type_ in types)
        return f"SELECT {_list(ours)} FROM ({left}) {how} SELECT {theirs} FROM ({right})", [v for _, v in ours]

    def _grouped(self, depth: int) -> Query:
        text, columns = self._relation(depth - 1)
        keys = [(self._value(t, columns, 1), self._new(t)) for t in self._random.choices(("int", "text"), k=2)]
        inner, given = self._of([*keys, *((c.text, c) for c in columns)], f"({text})")
        names = [key for _, key in keys]
        made = [(way, self._new(type_)) for way, type_ in (self._aggregate(given) for _ in range(2))]
        by = self._random.choice(("{}, {}", "{}, {}", "ROLLUP ({}, {})", "CUBE ({}, {})", "GROUPING SETS (({}), ({}))"))
        having = f" HAVING {self._aggregate(given, 'int')[0]} > 1" if self._random.random() < 0.3 else ""
        grouped = f"({inner}) GROUP BY {by.format(*(key.text for key in names))}{having}"
        return self._of([*((key.text, key) for key in names), *made], grouped)

    def _aggregate(self, columns: list[Value], type_: str | None = None) -> tuple[str, str]:
        way, result = self._random.choice(AGGREGATES)
        if type_ not in (None, result):
            return self._aggregate(columns, type_)
        return self._expressions.filled(way, columns, 1), result

    def _windowed(self, depth: int) -> Query:
        text, columns = self._relation(depth - 1)
        way, type_ = self._random.choice(WINDOWS)
        made = (self._expressions.filled(way, columns, 1), self._new(type_))
        inner, given = self._of([*((c.text, c) for c in columns), made], f"({text})")
        if type_ == "int" and self._random.random() < 0.5:
            # The first rows of each group.
            return self._of([(c.text, c) for c in self._some(columns)], f"({inner}) WHERE {made[1].text} <= 1")
        return inner, given

    def _generated(self, depth: int) -> Query:
        text, columns = self._relation(depth - 1)
        way, types = self._random.choice(GENERATORS)
        new = [self._new(type_) for type_ in types]
        names = ", ".join(each.text for each in new)
        view = f"({text}) LATERAL VIEW {self._expressions.filled(way, columns, 1)} g{self._names} AS {names}"
        return self._of([(c.text, c) for c in [*self._some(columns), *new]], view)

    def _kept(self, depth: int) -> Query:
        (text, columns), (other, others) = self._relation(depth - 1), self._relation(depth - 2)
        same = f"{self._value('int', others, 1)} = {self._value('int', columns, 0)}"
        condition = self._random.choice(
            (
                f"EXISTS (SELECT 1 FROM ({other}) WHERE {same})",
                f"NOT EXISTS (SELECT 1 FROM ({other}) WHERE {same})",
                f"{self._value('int', columns, 1)} IN (SELECT {self._value('int', others, 1)} FROM ({other}))",
                f"{self._value('text', columns, 1)} NOT IN (SELECT {self._value('text', others, 1)} FROM ({other}))",
                f"{self._value('int', columns, 1)} > (SELECT count(*) FROM ({other}) WHERE {same})",
            )
        )
        return self._of([(c.text, c) for c in self._some(columns)], f"({text}) WHERE {condition}")

    def _looked_up(self, depth: int) -> Query:
        (text, columns), (other, others) = self._relation(depth - 1), self._relation(depth - 2)
        type_ = self._random.choice(("int", "text", "pair"))
        same = f"{self._value('int', others, 1)} = {self._value('int', columns, 0)}"
        found = f"(SELECT max({self._value(type_, others, 1)}) FROM ({other}) WHERE {same})"
        return self._of([*((c.text, c) for c in self._some(columns)), (found, self._new(type_))], f"({text})")

    def _lateral(self, depth: int) -> Query:
        (text, columns), (other, others) = self._relation(depth - 1), self._relation(depth - 2)
        new = self._new("int")
        inner = f"SELECT {self._value('int', [*columns, *others], 1)} AS {new.text} FROM ({other})"
        inner += f" WHERE {self._value('int', others, 1)} = {self._value('int', columns, 0)}"
        return self._of([(c.text, c) for c in [*self._some(columns), new]], f"({text}), LATERAL ({inner})")

    def _pivoted(self, depth: int) -> Query:
        text, columns = self._relation(depth - 1)
        inner = [(self._value(type_, columns, 1), self._new(type_)) for type_ in ("text", "int", "int")]
        given, (key, on, value) = self._of(inner, f"({text})")
        new = [self._new("int"), self._new("int")]
        names = ", ".join(f"{number} AS {each.text}" for number, each in enumerate(new))
        return f"SELECT * FROM ({given}) PIVOT (max({value.text}) FOR {on.text} IN ({names}))", [key, *new]

    def _unpivoted(self, depth: int) -> Query:
        text, columns = self._relation(depth - 1)
        inner = [(self._value("int", columns, 1), self._new("int")) for _ in range(3)]
        given, (key, one, other) = self._of(inner, f"({text})")
        value, name = self._new("int"), self._new("text")
        pivot = f"UNPIVOT ({value.text} FOR {name.text} IN ({one.text}, {other.text}))"
        return f"SELECT * FROM ({given}) {pivot}", [key, name, value]

    def _distinct(self, depth: int) -> Query:
        text, columns = self._relation(depth - 1)
        made = [(self._value(type_, columns, 1), self._new(type_)) for type_ in self._random.choices(COMPARABLE, k=2)]
        made_text, values = self._of(made, f"({text})")
        return made_text.replace("SELECT", "SELECT DISTINCT", 1), values

    def _top(self, depth: int) -> Query:
        text, columns = self._relation(depth - 1)
        order = f"{self._value('int', columns, 1)}, {self._value('text', columns, 1)} DESC"
        return self._of([(c.text, c) for c in self._some(columns)], f"({text}) ORDER BY {order} LIMIT 5")

    def _twice(self, depth: int) -> Query:
        text, columns = self._relation(depth - 1)
        name = f"w{self._names}"
        other = [(c.text, self._new(c.type)) for c in self._some(columns)]
        on = f"{self._value('int', columns, 1)} = {self._value('int', [v for _, v in other], 1)}"
        joined = f"(SELECT * FROM {name}) JOIN (SELECT {_list(other)} FROM {name}) ON {on}"
        kept = [(c.text, c) for c in [*self._some(columns), *(v for _, v in other)]]
        inner, values = self._of(kept, joined)
        return f"WITH {name} AS ({text}) {inner}", values

    def _made(self, columns: list[Value], count: int) -> list[tuple[str, Value]]:
        types = self._random.choices(list(SQL_TYPES), k=count)
        return [(self._value(type_, columns), self._new(type_)) for type_ in types]

    def _of(self, made: list[tuple[str, Value]], source: str) -> Query:
        return f"SELECT {_list(made)} FROM {source}", [value for _, value in made]

    def _cast(self, type_: str, columns: list[Value]) -> str:
        return f"CAST({self._value(type_, columns)} AS {SQL_TYPES[type_]})"

    def _value(self, type_: str, columns: list[Value], depth: int | None = None) -> str:
        return self._expressions.value(type_, columns, depth)

    def _some(self, columns: list[Value]) -> list[Value]:
        return self._random.sample(columns, self._random.randint(min(2, len(columns)), min(4, len(columns))))

    def _new(self, type_: str) -> Value:
        self._names += 1
        return Value(f"c{self._names}", type_)


def _list(made: list[tuple[str, Value]]) -> str:
    return ", ".join(text if text == value.text else f"{text} AS {value.text}" for text, value in made)
