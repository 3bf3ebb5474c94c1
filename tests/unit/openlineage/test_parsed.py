"""Columns in the text of a query; and any text is read in little time or not at all."""

from __future__ import annotations

import time

import pytest

from headwater_openlineage.parsed import Table, dialect_of, edges_of

ORDERS = Table("postgres://db:5432", "shop.public.orders", ("id", "customer", "amount"))
CUSTOMERS = Table("postgres://db:5432", "shop.public.customers", ("id", "name"))
TOTALS = Table("postgres://db:5432", "shop.public.totals", ("name", "total"))
INSERT = """
    INSERT INTO totals (name, total)
    SELECT c.name, sum(o.amount) FROM public.orders o JOIN customers c ON o.customer = c.id
    WHERE o.amount > 0 GROUP BY c.name
"""
WITH = """
    WITH t AS (SELECT customer, amount * 2 AS double FROM orders)
    SELECT customer AS name, max(double) AS total FROM t GROUP BY customer
"""
RECURSIVE = """
    WITH RECURSIVE r AS (SELECT id FROM orders UNION ALL SELECT id FROM r)
    SELECT id AS name FROM r
"""
UNKNOWN = Table("postgres://db:5432", "shop.public.unknown")


def edges(query: str, *outputs: Table, dialect: str = "postgres") -> list[str]:
    """`output column ← table.column SUBTYPE`, the influences in brackets."""
    found = edges_of(query, dialect, (ORDERS, CUSTOMERS), outputs or (TOTALS,))
    texts = []
    for edge in found:
        name = edge.input.name.rpartition(".")[2]
        text = f"{edge.output_column or '*'} ← {name}.{edge.input_column or '*'} {edge.subtype}"
        texts.append(text if edge.direct else f"[{text}]")
    return texts


QUERIES: list[tuple[str, list[str]]] = [
    (
        INSERT,
        [
            "name ← customers.name IDENTITY",
            "total ← orders.amount AGGREGATION",
            "[* ← orders.amount FILTER]",
            "[* ← customers.name GROUP_BY]",
            "[* ← orders.customer JOIN]",
            "[* ← customers.id JOIN]",
        ],
    ),
    (
        "INSERT INTO totals SELECT customer, amount + 1 FROM orders",
        ["name ← orders.customer IDENTITY", "total ← orders.amount TRANSFORMATION"],
    ),
    ("CREATE TABLE shop.public.totals AS SELECT name FROM customers", ["name ← customers.name IDENTITY"]),
    ("CREATE VIEW totals AS SELECT NAME FROM Customers", ["name ← customers.name IDENTITY"]),
    (
        WITH,
        ["name ← orders.customer IDENTITY", "total ← orders.amount AGGREGATION"],
    ),
    (
        "SELECT id AS name FROM orders UNION ALL SELECT id FROM customers",
        ["name ← orders.id IDENTITY", "name ← customers.id IDENTITY"],
    ),
    ("SELECT name, total FROM (SELECT c.*, 1 AS total FROM customers c) x", ["name ← customers.name IDENTITY"]),
    ("DROP TABLE x; INSERT INTO totals (name) SELECT name FROM customers", ["name ← customers.name IDENTITY"]),
    ("INSERT INTO totals (name) SELECT name FROM other_table", []),
    ("INSERT INTO other_table (name) SELECT name FROM customers", []),
    ("SELECT wrong AS nothing FROM customers", []),
    (RECURSIVE, ["name ← orders.id IDENTITY"]),
    ("UPDATE totals SET total = 1", []),
    ("this is no SQL (", []),
    ("", []),
]


def test_columns_of_a_query(subtests: pytest.Subtests) -> None:
    for query, wanted in QUERIES:
        with subtests.test(query):
            assert edges(query) == wanted


def test_all_columns_of_a_table_without_a_schema_are_the_table() -> None:
    [edge] = edges_of("SELECT * FROM unknown", "postgres", (UNKNOWN,), (TOTALS,))
    assert (edge.output_column, edge.input, edge.input_column) == (None, UNKNOWN, None)


def test_a_table_that_could_be_two_is_neither() -> None:
    other = Table("postgres://db:5432", "shop.private.orders")
    assert edges_of("SELECT id AS name FROM orders", "postgres", (ORDERS, other), (TOTALS,)) == ()
    [edge] = edges_of("SELECT id AS name FROM public.orders", "postgres", (ORDERS, other), (TOTALS,))
    assert edge.input == ORDERS


def test_a_select_alone_is_of_the_only_output() -> None:
    assert edges("SELECT name FROM customers", TOTALS, UNKNOWN) == []


DIALECTS: list[tuple[str | None, list[str], str | None, str]] = [
    ("snowflake", ["postgres://db:5432"], "DBT", "snowflake"),
    ("SparkSQL", [], None, "spark"),
    (None, ["s3://lake", "mssql://db:1433"], "AIRFLOW", "tsql"),
    (None, ["bigquery"], None, "bigquery"),
    (None, ["s3://lake"], "SPARK", "spark"),
    ("of my own", [], None, ""),
]


def test_the_dialect_is_named_or_that_of_the_platform(subtests: pytest.Subtests) -> None:
    for named, namespaces, integration, dialect in DIALECTS:
        with subtests.test(named=named, namespaces=namespaces):
            assert dialect_of(named, namespaces, integration) == dialect


LONG_QUERIES: dict[str, str] = {
    "sum": "INSERT INTO totals (name) SELECT " + "+".join(f"x{i}" for i in range(5_000)) + " FROM orders",
    "parentheses": "INSERT INTO totals (name) SELECT " + "(" * 10_000 + "id" + ")" * 10_000 + " FROM orders",
    "subqueries": "SELECT "
    + ", ".join(f"(SELECT max(c{i}) FROM orders) AS c{i}" for i in range(1_000))
    + " FROM orders",
    "list": "SELECT id AS name FROM orders WHERE id IN (" + ", ".join(map(str, range(9_000))) + ")",
    "values": "INSERT INTO totals VALUES " + ", ".join(["(1, 2)"] * 7_000),
    "statements": "SELECT 1;" * 5_000,
    "long": "SELECT '" + "x" * 200_000 + "'",
}


@pytest.mark.nightly
def test_no_text_takes_long(subtests: pytest.Subtests) -> None:
    for case, query in LONG_QUERIES.items():
        with subtests.test(case):
            began = time.process_time()
            edges(query)
            assert time.process_time() - began < 15  # seconds; a loaded machine takes ten times what it does alone


def test_many_columns_are_read() -> None:
    wide = Table("postgres://db:5432", "shop.public.wide")
    query = "SELECT " + ", ".join(f"coalesce(x{i}, y{i}) AS c{i}" for i in range(200)) + " FROM orders_of_last_year"
    source = Table("postgres://db:5432", "shop.public.orders_of_last_year")
    assert len(edges_of(query, "postgres", (source,), (wide,))) == 400
