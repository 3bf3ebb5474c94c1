"""Small rows for the tables of conftest, and the same rows with one column changed.

Values are drawn so that the cases' conditions and joins hold for some rows and not for others. Arrays keep their
lengths and maps their number of keys: how many rows an `explode` makes is no column's lineage.
"""

from __future__ import annotations

import datetime as dt
from copy import deepcopy
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from random import Random

Path = tuple[str, ...]
Row = dict[str, Any]

MANY: Final = 14
"""Rows of a table."""

_WORDS = ("x", "y", "a", "b", "Ann", "Bob", "Adam", "Oslo", "z9")
_CITIES = ("Oslo", "x", "y", "Rome", "Bergen")
_AGES = (1, 2, 3, 4, 5, 8, 17, 18, 19, 20, 30, 31, 40, 61, 65, 70)
_AMOUNTS = (1.0, 2.0, 4.5, 5.0, 5.5, 7.0, 20.0, 99.0, 500.0, 1500.0)
_DATES = tuple(dt.date(year, month, 3) for year in (2001, 2025, 2026) for month in (1, 5, 6))
_TIMES = tuple(dt.datetime(2026, 1, day, hour, 7) for day in (1, 2, 3) for hour in (1, 5, 9))  # noqa: DTZ001 - a timestamp of the session's zone
_PAYLOADS = ('{"a": 1, "b": {"c": "q"}}', '{"a": 2, "x": "w"}', "5", "7", "a", "x", "12,t", '{"c": [3, 4]}', "q,r")

LEAVES: Final[dict[str, dict[Path, tuple[Any, ...]]]] = {
    "people": {
        ("id",): tuple(range(1, 10)),
        ("name",): (*_WORDS, None),
        ("email",): ("a@x", "b@y", "c@z", "x", "q@1"),
        ("city",): (*_CITIES, None),
        ("age",): _AGES,
        ("salary",): (*_AMOUNTS, None),
        ("born",): _DATES,
    },
    "orders": {
        ("id",): tuple(range(1, 10)),
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
        ("tags", "[]"): (*_WORDS, "5"),
        ("legs", "[]", "origin"): _WORDS,
        ("legs", "[]", "dest"): _WORDS,
        ("marks",): ("x", "a", "5", "7"),
        ("marks", "{}"): tuple(range(9)),
        ("payload",): _PAYLOADS,
    },
}
"""What each leaf of each table may be; of a map's own path, its keys."""


def made(table: str, random: Random) -> list[Row]:
    """Rows of a table."""
    rows: list[Row] = [{} for _ in range(MANY)]
    for path in LEAVES[table]:
        _fill(rows, table, path, random)
    return rows


def perturbed(rows: list[Row], table: str, path: Path, random: Random) -> list[Row]:
    """The same rows, one of their leaves drawn anew."""
    changed = deepcopy(rows)
    _fill(changed, table, path, random)
    return changed


def _fill(rows: list[Row], table: str, path: Path, random: Random) -> None:
    values = LEAVES[table][path]
    for number, row in enumerate(rows):
        match path:
            case ("marks",):
                old = list(row.get("marks", {}).values()) or [0, 0]
                row["marks"] = dict(zip(random.sample(values, 2), old, strict=True))
            case ("marks", _):
                row["marks"] = {key: random.choice(values) for key in row["marks"]}
            case (name, "[]"):
                row[name] = [random.choice(values) for _ in range(2 + number % 2)]
            case (name, "[]", field):
                row[name] = [leg | {field: random.choice(values)} for leg in row.get(name, [{}, {}])]
            case (*parents, field):
                inner = row
                for name in parents:
                    inner = inner.setdefault(name, {})
                inner[field] = random.choice(values)
