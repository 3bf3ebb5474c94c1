"""Small rows for the tables of conftest and of random_queries, and the same rows with one column changed.

Values are drawn so that conditions and joins hold for some rows and not for others. A leaf is a path to what has no
parts; beside those, the path of a map is its keys, of an array how long it is, and of a struct whether it is null.
"""

from __future__ import annotations

import datetime as dt
from copy import deepcopy
from random import Random
from typing import Any, Final

Path = tuple[str, ...]
Row = dict[str, Any]

MANY: Final = 14
"""Rows of a table."""

_WORDS = ("x", "y", "a", "b", "Ann", "Bob", "Adam", "Oslo", "z9")
_CITIES = ("Oslo", "x", "y", "Rome", "Bergen")
_AGES = (1, 2, 3, 4, 5, 8, 17, 18, 19, 20, 30, 31, 40, 61, 65, 70)
_AMOUNTS = (1.0, 2.0, 4.5, 5.0, 5.5, 7.0, 20.0, 99.0, 500.0, 1500.0)
_DATES = tuple(dt.date(year, month, 3) for year in (2001, 2026) for month in range(1, 8))
_TIMES = tuple(dt.datetime(2026, 1, day, hour, 7) for day in (1, 2, 3) for hour in (1, 5, 9))  # noqa: DTZ001 - a timestamp of the session's zone
_PAYLOADS = ('{"a": 1, "b": {"c": "q"}}', '{"a": 2, "x": "w"}', "5", "7", "a", "x", "12,t", '{"c": [3, 4]}', "q,r")

_FEW = (0, 1, 2, 3, None)
_LETTERS = ("a", "b", "ab", "c", None)

LEAVES: Final[dict[str, dict[Path, tuple[Any, ...]]]] = {
    "people": {
        ("id",): tuple(range(1, MANY + 1)),
        ("name",): (*_WORDS, None),
        ("email",): ("a@x", "b@y", "c@z", "x", "q@1"),
        ("city",): (*_CITIES, None),
        ("age",): _AGES,
        ("salary",): (*_AMOUNTS, None),
        ("born",): _DATES,
    },
    "orders": {
        ("id",): tuple(range(1, MANY + 1)),
        ("person_id",): tuple(range(1, 10)),
        ("amount",): _AMOUNTS,
        ("item",): (*_WORDS, None),
        ("at",): _TIMES,
    },
    "cities": {("city",): _CITIES, ("country",): ("NO", "IT", "x", "Oslo", "Norway")},
    "trips": {
        ("id",): (0, 1, 2, 3),
        ("address", "street"): _WORDS,
        ("address", "geo", "lat"): _AMOUNTS,
        ("address", "geo", "lon"): _AMOUNTS,
        ("tags",): (1, 2, 3),
        ("tags", "[]"): (*_WORDS, "5"),
        ("legs",): (1, 2, 3),
        ("legs", "[]", "origin"): _WORDS,
        ("legs", "[]", "dest"): _WORDS,
        ("marks",): ("x", "a", "5", "7"),
        ("marks", "{}"): tuple(range(9)),
        ("payload",): _PAYLOADS,
    },
    "alpha": {
        ("k",): (0, 1, 2, 3),
        ("n",): _FEW,
        ("t",): _LETTERS,
        ("s",): (),
        ("s", "x"): _FEW,
        ("s", "y"): _LETTERS,
        ("l",): (0, 1, 2, 3),
        ("l", "[]"): _FEW,
    },
    "beta": {
        ("k",): (0, 1, 2, 3),
        ("v",): _FEW,
        ("u",): _LETTERS,
        ("e",): (0, 1, 2, 2),
        ("e", "[]", "x"): _FEW,
        ("e", "[]", "y"): _LETTERS,
        ("m",): ("a", "b", "c"),
        ("m", "{}"): _FEW,
    },
}
"""Values of each leaf of each table; of a map's own path, its keys; of an array's, its length. As many values as rows
are drawn once each, so that an order by them is one."""

ROWS: Final[Path] = ()
"""The path of a table's rows as such: half of them are left out."""


def made(table: str, random: Random) -> list[Row]:
    """Rows of a table."""
    rows: list[Row] = [{} for _ in range(MANY)]
    for path in LEAVES[table]:
        _fill(rows, table, path, random)
    return rows


def perturbed(rows: list[Row], table: str, path: Path, random: Random) -> list[Row]:
    """Copy of the rows with one of their leaves drawn anew."""
    if path == ROWS:
        return random.sample(rows, len(rows) // 2)
    changed = deepcopy(rows)
    _fill(changed, table, path, random)
    return changed


def _fill(rows: list[Row], table: str, path: Path, random: Random) -> None:
    name, *steps = path
    values = LEAVES[table][path]
    once = random.sample(values, MANY) if len(values) == MANY else ()
    inside = [other[1:] for other in LEAVES[table] if other[0] == name and len(other) > 1]
    for number, row in enumerate(rows):
        old = row.get(name)
        match steps:
            case []:
                row[name] = _whole(
                    old,
                    tuple(once[number : number + 1]) or values,
                    {each: LEAVES[table][name, *each] for each in inside},
                    random,
                )
            case ["{}"]:
                row[name] = {key: random.choice(values) for key in old or {}}
            case ["[]"]:
                row[name] = [random.choice(values) for _ in (range(2 + number % 2) if old is None else old)]
            case ["[]", field]:
                row[name] = [item | {field: random.choice(values)} for item in ([{}, {}] if old is None else old)]
            case [*parents, field]:
                if old is None and path[:1] in LEAVES[table]:
                    continue
                inner = row.setdefault(name, {})
                for parent in parents:
                    inner = inner.setdefault(parent, {})
                inner[field] = random.choice(values)


def _whole(old: Any, values: tuple[Any, ...], inside: dict[Path, tuple[Any, ...]], random: Random) -> Any:
    if not inside:
        return random.choice(values)
    if ("{}",) in inside:
        return dict(zip(random.sample(values, 2), list((old or {}).values()) or [0, 0], strict=True))
    if values:
        items = [
            random.choice(inside["[]",])
            if ("[]",) in inside
            else {steps[-1]: random.choice(each) for steps, each in inside.items()}
            for _ in range(random.choice(values))
        ]
        return [*(old or []), *items][: len(items)]
    if random.random() < 0.25:
        return None
    return old or {steps[-1]: random.choice(each) for steps, each in inside.items()}
