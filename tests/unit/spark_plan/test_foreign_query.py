"""Queries that other databases run: what the text shows of their columns, and that nothing is guessed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from headwater_producers.spark.plan.column import DirectSource, FieldRef, Indirect
from headwater_producers.spark.plan.foreign_query import foreign_tables, read_foreign
from headwater_producers.spark.plan.text import Literals
from headwater_schemas.events import DatasetRef

if TYPE_CHECKING:
    import pytest


def table(name: str) -> DatasetRef:
    return DatasetRef("db", name)


def reported(one: DirectSource | Indirect) -> str:
    where = "nothing"
    if isinstance(one.field, FieldRef):
        where = ".".join([one.field.dataset.name, *(one.field.path or ())])
    return f"{where} {one.kind}{' masked' if one.masking else ''}"


def read(query: str, scheme: str = "postgresql", *names: str) -> dict[str, list[str]] | None:
    relation = read_foreign(query, scheme, table, names=names or ("a", "b"))
    if relation is None:
        return None
    found = {
        name: sorted([reported(d) for d in column.direct] + [reported(i) for i in column.indirect])
        for name, column in relation.columns
    }
    return found | {"*": sorted(reported(i) for i in relation.influences)}


REPORTED: list[tuple[str, dict[str, list[str]]]] = [
    (
        "SELECT id, upper(name) AS n FROM people WHERE age > 3",
        {"id": ["people.id COPY"], "n": ["people.name DERIVE"], "*": ["people.age FILTER_DEPENDENCY"]},
    ),
    (
        "SELECT p.id, o.amount::int AS x FROM people p JOIN sales.orders o ON p.id = o.person ORDER BY x",
        {
            "id": ["people.id COPY"],
            "x": ["sales.orders.amount CAST"],
            "*": [
                "people.id JOIN_DEPENDENCY",
                "sales.orders.amount SORT_DEPENDENCY",
                "sales.orders.person JOIN_DEPENDENCY",
            ],
        },
    ),
    (
        """WITH q AS (SELECT city, sum(amount) AS s, count(*) AS n, md5(mail) AS h FROM t GROUP BY city, mail)
            SELECT q.*, mine(s) AS f, CASE WHEN s > 1 THEN city ELSE 'x' END AS c FROM q""",
        {
            "city": ["t.city COPY"],
            "s": ["t.amount AGGREGATE"],
            "n": ["t AGGREGATE masked"],
            "h": ["t.mail HASH masked"],
            "f": ["t.amount EXTERNAL"],
            "c": ["t.amount CONDITIONAL", "t.city DERIVE"],
            "*": ["t.city GROUP_DEPENDENCY", "t.mail GROUP_DEPENDENCY"],
        },
    ),
    (
        "SELECT a FROM t UNION ALL SELECT b FROM u",
        {"a": ["t.a COPY", "u.b COPY"], "*": []},
    ),
    (
        "SELECT a FROM t EXCEPT SELECT b FROM u",
        {"a": ["t.a COPY"], "*": ["t.a JOIN_DEPENDENCY", "u.b JOIN_DEPENDENCY"]},
    ),
    (
        """SELECT t.a, (SELECT max(u.v) FROM u WHERE u.k = t.k) AS m FROM t
            WHERE EXISTS (SELECT 1 FROM w WHERE w.x = t.x)""",
        {
            "a": ["t.a COPY"],
            "m": ["t.k FILTER_DEPENDENCY", "u.k FILTER_DEPENDENCY", "u.v AGGREGATE"],
            "*": ["t.x FILTER_DEPENDENCY", "w.x FILTER_DEPENDENCY"],
        },
    ),
    (
        "SELECT rank() OVER (PARTITION BY a ORDER BY b) AS r, row_number() OVER () AS n FROM t",
        {
            "r": ["nothing CONSTANT", "t.a WINDOW_DEPENDENCY", "t.b WINDOW_DEPENDENCY"],
            "n": ["t AGGREGATE"],
            "*": [],
        },
    ),
]


def test_what_the_text_reports(subtests: pytest.Subtests) -> None:
    for query, expected in REPORTED:
        with subtests.test(query):
            assert read(query) == expected


NOT_GUESSED: list[str] = [
    "SELECT * FROM people NATURAL JOIN orders",
    "SELECT people.*, orders.* FROM people JOIN orders ON people.id = orders.person",
    "SELECT * FROM a UNION ALL SELECT * FROM b",
    "SELECT * EXCEPT (id) FROM people",
    "SELECT id, amount FROM people JOIN orders ON id = person",
    "SELECT a FROM t WHERE EXISTS (SELECT 1 FROM w WHERE x = y)",
    "SELECT a FROM t, LATERAL unnest(t.list) AS u(b)",
    "WITH RECURSIVE r AS (SELECT a FROM t UNION ALL SELECT a + 1 FROM r) SELECT a FROM r",
    "SELECT DISTINCT ON (a) a, b FROM t",
    "SELECT x FROM t PIVOT (sum(a) FOR b IN (1, 2))",
    "SELECT a FROM t WHERE a > ?",
    "DELETE FROM t",
    "this is no query (",
]


def test_what_the_text_does_not_tell_is_not_guessed(subtests: pytest.Subtests) -> None:
    for query in NOT_GUESSED:
        with subtests.test(query):
            assert read(query) is None


STARS: list[tuple[str, tuple[str, ...], dict[str, list[str]]]] = [
    ("SELECT * FROM t", ("a", "b"), {"a": ["t.a COPY"], "b": ["t.b COPY"], "*": []}),
    (
        "SELECT 1 AS one, t.*, upper(u.x) AS x FROM t JOIN u ON t.k = u.k",
        ("one", "a", "b", "x"),
        {
            "one": ["nothing CONSTANT"],
            "a": ["t.a COPY"],
            "b": ["t.b COPY"],
            "x": ["u.x DERIVE"],
            "*": ["t.k JOIN_DEPENDENCY", "u.k JOIN_DEPENDENCY"],
        },
    ),
    (
        "WITH q AS (SELECT t.*, u.n + 1 AS more FROM t, u) SELECT more, a FROM q",
        ("more", "a"),
        {"more": ["u.n DERIVE"], "a": ["t.a COPY"], "*": ["t JOIN_DEPENDENCY", "u JOIN_DEPENDENCY"]},
    ),
    (
        "SELECT DISTINCT * FROM (SELECT a AS z, t.* FROM t) AS q",
        ("z", "b"),
        {"z": ["t.a COPY"], "b": ["t.b COPY"], "*": ["t.a GROUP_DEPENDENCY", "t.b GROUP_DEPENDENCY"]},
    ),
    (
        "SELECT * FROM t UNION ALL SELECT x, y FROM u",
        ("a", "b"),
        {"a": ["t.a COPY", "u.x COPY"], "b": ["t.b COPY", "u.y COPY"], "*": []},
    ),
    (
        "SELECT a FROM t WHERE EXISTS (SELECT * FROM w WHERE w.x = t.x)",
        ("a",),
        {"a": ["t.a COPY"], "*": ["t.x FILTER_DEPENDENCY", "w.x FILTER_DEPENDENCY"]},
    ),
]


def test_a_star_of_one_table_is_reported_by_the_names_of_the_result(subtests: pytest.Subtests) -> None:
    for query, names, expected in STARS:
        with subtests.test(query=query, names=names):
            assert read(query, "postgresql", *names) == expected


def test_names_are_those_of_the_database() -> None:
    query = 'SELECT Name, "Name" AS q FROM People'
    assert read(query) == {"name": ["People.name COPY"], "q": ["People.Name COPY"], "*": []}
    assert read("SELECT Name FROM People", "oracle") == {"NAME": ["People.NAME COPY"], "*": []}
    assert read("SELECT [Id] FROM [dbo].[People]", "sqlserver") == {"Id": ["dbo.People.Id COPY"], "*": []}


def test_tables_are_those_that_no_with_defines() -> None:
    query = "WITH q AS (SELECT a FROM sales.t) SELECT a FROM q WHERE EXISTS (SELECT 1 FROM w WHERE w.x = q.a)"
    assert set(foreign_tables(query, "postgresql") or ()) == {"sales.t", "w"}
    assert foreign_tables("this is no query (", "postgresql") is None


def test_literals_can_be_hidden() -> None:
    relation = read_foreign("SELECT concat(a, 'secret') AS c FROM t", "mysql", table, literals=Literals.HIDDEN)
    assert relation is not None
    assert "secret" not in relation.columns[0][1].text
    shown = read_foreign("SELECT concat(a, '2026-01-01') AS c FROM t WHERE b > 'x'", "mysql", table)
    assert shown is not None
    assert "<date>" in shown.columns[0][1].text
    assert {i.text for i in shown.influences} == {"b > 'x'"}


def test_without_sqlglot_nothing_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sqlglot", None)
    assert read("SELECT a FROM t") is None
