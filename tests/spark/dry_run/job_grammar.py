"""Random jobs, each the same for its seed, and mutations of them: some that change what a job writes, some that don't.

A job reads tables, takes steps (filters, joins, groups, windows …) and writes. A mutation is of one step, a column or
the end. What it does isn't assumed: both versions are run on rows, and their outputs compared.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Final

TABLES: Final = {
    "shop.orders": "id BIGINT, customer INT, amount INT, price DOUBLE, state STRING, day DATE",
    "shop.customers": "customer INT, country STRING, segment STRING, born INT",
    "shop.items": "id BIGINT, sku STRING, quantity INT, amount INT",
}
OUT: Final = "/lake/out"
_JOINS: Final = ("inner", "left", "full", "left_semi", "left_anti")
_SUMS: Final = ("sum", "max", "min", "count", "avg")


@dataclass(frozen=True, slots=True)
class Step:
    """A line of a job: `frame` becomes what it says.

    Attributes:
        kind: of step.
        text: with `{frame}` for the frame before.
        columns: number columns and text columns afterwards.
    """

    kind: str
    text: str
    columns: tuple[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Job:
    """A job.

    Attributes:
        steps: in order, the first one reads.
        kept: columns that it writes; None: all.
        end: how it writes.
    """

    steps: tuple[Step, ...]
    kept: tuple[str, ...] | None = None
    end: str = ".write.mode('overwrite').parquet(OUT)"

    @property
    def script(self) -> str:
        """Its text; `spark`, `F`, `Window` and `OUT` are defined before."""
        lines = [f"frame = {step.text.format(frame='frame')}" for step in self.steps]
        select = "" if self.kept is None else f".select({', '.join(map(repr, self.kept))})"
        return "\n".join([*lines, f"frame{select}{self.end}"]) + "\n"

    @property
    def frame(self) -> str:
        """Script that assigns to `result` the frame it would write."""
        *lines, last = self.script.removesuffix("\n").split("\n")
        return "\n".join([*lines, f"result = {last.removesuffix(self.end)}"]) + "\n"


@dataclass(frozen=True, slots=True)
class Mutation:
    """A job and another version of it.

    Attributes:
        name: what was done.
        equal: whether it was meant to change nothing.
    """

    name: str
    old: Job
    new: Job
    equal: bool


def random_job(random: Random) -> Job:
    """A job of two to five steps."""
    job = _Writer(random).job()
    numbers, texts = job.steps[-1].columns
    return replace(job, kept=tuple(dict.fromkeys((*numbers, *texts))))


class _Writer:
    def __init__(self, random: Random) -> None:
        self._random = random
        self._names = 0

    def job(self) -> Job:
        steps = [Step("read", "spark.table('shop.orders')", (("id", "customer", "amount", "price"), ("state",)))]
        ways: dict[str, Callable[[Step], Step]] = {
            "filter": self._filter,
            "derive": self._derive,
            "text": self._text,
            "join": self._join,
            "window": self._window,
            "union": self._union,
        }
        for _ in range(self._random.randint(1, 3)):
            steps.append(ways[self._random.choice(list(ways))](steps[-1]))
        if self._random.random() < 0.6:
            steps.append(self._group(steps[-1]))
            if self._random.random() < 0.4:
                steps.append(self._filter(steps[-1]))
        elif self._random.random() < 0.3:
            steps.append(Step("distinct", "{frame}.distinct()", steps[-1].columns))
        return Job(tuple(steps))

    def _new(self) -> str:
        self._names += 1
        return f"c{self._names}"

    def _filter(self, last: Step) -> Step:
        number, word = self._random.choice(last.columns[0]), self._random.choice(("<", ">", "<=", "!="))
        text = f"{{frame}}.where(F.col('{number}') {word} {self._random.randint(2, 6)})"
        return Step("filter", text, last.columns)

    def _derive(self, last: Step) -> Step:
        name = self._new()
        one, other = (self._random.choice(last.columns[0]) for _ in range(2))
        word, by = self._random.choice("+-*"), self._random.randint(2, 5)
        made = self._random.choice(
            (
                f"F.col('{one}') {word} F.col('{other}') * {by}",
                f"F.when(F.col('{one}') > {by}, F.col('{other}')).otherwise({by})",
                f"F.coalesce(F.col('{one}'), F.lit({by})) {word} F.col('{other}')",
            )
        )
        text = f"{{frame}}.withColumn('{name}', {made})"
        return Step("derive", text, ((*last.columns[0], name), last.columns[1]))

    def _text(self, last: Step) -> Step:
        if not last.columns[1]:
            return self._derive(last)
        name, of = self._new(), self._random.choice(last.columns[1])
        made = self._random.choice(("upper", "lower", "length", "reverse"))
        text = f"{{frame}}.withColumn('{name}', F.concat(F.{made}('{of}'), F.lit('-{self._random.randint(2, 9)}')))"
        return Step("text", text, (last.columns[0], (*last.columns[1], name)))

    def _join(self, last: Step) -> Step:
        if "customer" not in last.columns[0]:
            return self._derive(last)
        how = self._random.choice(_JOINS)
        number, country, segment = self._new(), self._new(), self._new()
        table = (
            f"spark.table('shop.customers').select('customer', F.col('born').alias('{number}'), "
            f"F.col('country').alias('{country}'), F.col('segment').alias('{segment}'))"
        )
        more = how not in {"left_semi", "left_anti"}
        numbers = (*last.columns[0], number) if more else last.columns[0]
        texts = (*last.columns[1], country, segment) if more else last.columns[1]
        return Step("join", f"{{frame}}.join({table}, 'customer', '{how}')", (numbers, texts))

    def _window(self, last: Step) -> Step:
        name, by = self._new(), self._random.choice((*last.columns[0], *last.columns[1]))
        of, how = self._random.choice(last.columns[0]), self._random.choice(("sum", "max", "min", "count"))
        text = f"{{frame}}.withColumn('{name}', F.{how}('{of}').over(Window.partitionBy('{by}')))"
        return Step("window", text, ((*last.columns[0], name), last.columns[1]))

    def _union(self, last: Step) -> Step:
        number = self._random.choice(last.columns[0])
        text = f"{{frame}}.unionByName({{frame}}.where(F.col('{number}') > {self._random.randint(2, 6)}))"
        return Step("union", text, last.columns)

    def _group(self, last: Step) -> Step:
        keys = tuple(self._random.sample((*last.columns[0], *last.columns[1]), self._random.randint(1, 2)))
        made, names = [], []
        for _ in range(self._random.randint(1, 3)):
            name, of = self._new(), self._random.choice(last.columns[0])
            made.append(f"F.{self._random.choice(_SUMS)}('{of}').alias('{name}')")
            names.append(name)
        text = f"{{frame}}.groupBy({', '.join(map(repr, keys))}).agg({', '.join(made)})"
        numbers = tuple(key for key in keys if key in last.columns[0])
        return Step("group", text, ((*numbers, *names), tuple(key for key in keys if key in last.columns[1])))


def mutated(job: Job, random: Random, *, equal: bool) -> Mutation:
    """A version that is meant to change nothing, or something."""
    ways = _EQUAL if equal else _CHANGES
    for name in random.sample(list(ways), len(ways)):
        new = ways[name](job, random)
        if new is not None and new.script != job.script:
            return Mutation(name, job, new, equal)
    raise AssertionError("a job that nothing can be done to")


def _steps(job: Job, kind: str) -> list[int]:
    return [place for place, step in enumerate(job.steps) if step.kind == kind]


def _with(job: Job, place: int, *texts: str) -> Job:
    columns = job.steps[place].columns
    made = tuple(Step(job.steps[place].kind, text, columns) for text in texts)
    return replace(job, steps=(*job.steps[:place], *made, *job.steps[place + 1 :]))


def _replacing(kind: str, *pairs: tuple[str, str]) -> Callable[[Job, Random], Job | None]:
    """The first of these texts that a step of the kind has is replaced."""

    def mutate(job: Job, random: Random) -> Job | None:
        places = _steps(job, kind)
        for place in random.sample(places, len(places)):
            text = job.steps[place].text
            for before, after in pairs:
                if before in text:
                    return _with(job, place, text.replace(before, after, 1))
        return None

    return mutate


def _dropped(kind: str) -> Callable[[Job, Random], Job | None]:
    def mutate(job: Job, random: Random) -> Job | None:
        places = _steps(job, kind)
        if not places:
            return None
        place = random.choice(places)
        return replace(job, steps=(*job.steps[:place], *job.steps[place + 1 :]))

    return mutate


def _another_constant(kind: str) -> Callable[[Job, Random], Job | None]:
    pairs = [(f"{before}{number})", f"{before}{number + 1})") for number in range(2, 7) for before in (" ", "(")]
    return _replacing(kind, *pairs)


def _kept(change: Callable[[tuple[str, ...], Random], tuple[str, ...] | None]) -> Callable[[Job, Random], Job | None]:
    def mutate(job: Job, random: Random) -> Job | None:
        kept = None if job.kept is None else change(job.kept, random)
        return None if kept is None else replace(job, kept=kept)

    return mutate


def _one_less(kept: tuple[str, ...], random: Random) -> tuple[str, ...] | None:
    gone = random.choice(kept)
    return tuple(each for each in kept if each != gone) if len(kept) > 1 else None


def _one_missing(kept: tuple[str, ...], random: Random) -> tuple[str, ...]:
    return (*kept, "missing")


def _reordered(kept: tuple[str, ...], random: Random) -> tuple[str, ...] | None:
    return tuple(random.sample(kept, len(kept))) if len(kept) > 1 else None


def _last(text: str) -> Callable[[Job, Random], Job | None]:
    """A step more at the end, of the first column that is written."""

    def mutate(job: Job, random: Random) -> Job | None:
        last = job.steps[-1]
        numbers = last.columns[0]
        if not numbers:
            return None
        step = Step("last", text.replace("COLUMN", random.choice(numbers)), last.columns)
        return replace(job, steps=(*job.steps, step))

    return mutate


def _renamed(job: Job, random: Random) -> Job | None:
    if not job.kept:
        return None
    name = random.choice(job.kept)
    step = Step("last", f"{{frame}}.withColumnRenamed('{name}', '{name}_new')", job.steps[-1].columns)
    kept = tuple(f"{each}_new" if each == name else each for each in job.kept)
    return replace(job, steps=(*job.steps, step), kept=kept)


_CHANGES: Final[dict[str, Callable[[Job, Random], Job | None]]] = {
    "filter's constant": _another_constant("filter"),
    "filter's operator": _replacing("filter", (" <= ", " < "), (" < ", " <= "), (" > ", " >= "), (" != ", " == ")),
    "filter dropped": _dropped("filter"),
    "filter added": _last("{frame}.where(F.col('COLUMN') > 3)"),
    "join's kind": _replacing(
        "join", ("'inner'", "'left'"), ("'left'", "'inner'"), ("'full'", "'left'"), ("left_semi", "left_anti")
    ),
    "expression's constant": _another_constant("derive"),
    "expression's operator": _replacing("derive", (" + ", " - "), (" - ", " + "), (" > ", " < ")),
    "text's function": _replacing("text", ("upper", "lower"), ("lower", "upper"), ("length", "reverse")),
    "text's constant": _replacing("text", *((f"'-{n}'", f"'+{n}'") for n in range(2, 10))),
    "aggregate": _replacing(
        "group", ("F.sum(", "F.max("), ("F.min(", "F.max("), ("F.avg(", "F.sum("), ("F.count(", "F.sum(")
    ),
    "window's aggregate": _replacing("window", ("F.sum(", "F.max("), ("F.max(", "F.min("), ("F.count(", "F.max(")),
    "window's key": _replacing("window", ("partitionBy('", "partitionBy('id', '")),
    "union's filter": _another_constant("union"),
    "union dropped": _dropped("union"),
    "distinct dropped": _dropped("distinct"),
    "distinct added": _last("{frame}.distinct()"),
    "column removed": _kept(_one_less),
    "column renamed": _renamed,
    "column retyped": _last("{frame}.withColumn('COLUMN', F.col('COLUMN').cast('string'))"),
    "column that isn't there": _kept(_one_missing),
    "nulls filled": _last("{frame}.na.fill(7, ['COLUMN'])"),
}  # fmt: skip


def _filter_as_sql(job: Job, random: Random) -> Job | None:
    for place in _steps(job, "filter"):
        column, word, value = job.steps[place].text.removeprefix("{frame}.where(F.col('").removesuffix(")").split(" ")
        return _with(job, place, f"{{frame}}.where('{column[:-2]} {word} {value}')")
    return None


def _twice(job: Job, random: Random) -> Job | None:
    for place in _steps(job, "filter"):
        text = job.steps[place].text
        return _with(job, place, text, text)
    return None


def _turned(job: Job, random: Random) -> Job | None:
    for place in _steps(job, "derive"):
        text = job.steps[place].text
        if ")) + F.col('" in text:
            head, _, tail = text.partition(", F.coalesce(")
            inner, _, other = tail.partition(")) + ")
            return _with(job, place, f"{head}, {other.removesuffix(')')} + F.coalesce({inner})))")
    return None


def _selected(job: Job, random: Random) -> Job | None:
    for place in (*_steps(job, "derive"), *_steps(job, "text")):
        name, _, made = job.steps[place].text.removeprefix("{frame}.withColumn('").partition("', ")
        return _with(job, place, f"{{frame}}.select('*', ({made.removesuffix(')')}).alias('{name}'))")
    return None


_EQUAL: Final[dict[str, Callable[[Job, Random], Job | None]]] = {
    "columns in another order": _kept(_reordered),
    "sorted": _last("{frame}.orderBy('COLUMN')"),
    "in more files": _last("{frame}.repartition(3)"),
    "cached": _last("{frame}.cache()"),
    "unused column": _last("{frame}.withColumn('unused', F.col('COLUMN') + 1).drop('unused')"),
    "true filter": _last("{frame}.where(F.lit(1) == F.lit(1))"),
    "through SQL": _last("({frame}.createOrReplaceTempView('seen'), spark.sql('SELECT * FROM seen'))[1]"),
    "renamed and back": _last("{frame}.withColumnRenamed('COLUMN', 'other').withColumnRenamed('other', 'COLUMN')"),
    "filter written as SQL": _filter_as_sql,
    "filter twice": _twice,
    "constant computed": _replacing(
        "filter", *((f" {number})", f" F.lit({number - 1}) + F.lit(1))") for number in range(2, 7))
    ),
    "operands of a sum": _turned,
    "select in place of withColumn": _selected,
    "union's filter as SQL": _replacing("union", *((f") > {n})", f").__gt__({n}))") for n in range(2, 7))),
}
