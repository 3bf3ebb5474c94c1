"""Delta's commands that write a table without a query of the user's."""

from __future__ import annotations

from spark.sources.cases import Case, Family, sql

MAINTENANCE = Family(
    "Maintenance",
    sql(
        "CREATE TABLE kept (id INT, s STRUCT<a: STRING, b: INT>) USING delta",
        "INSERT INTO kept VALUES (1, struct('a', 1))",
        "INSERT INTO kept VALUES (2, struct('b', 2))",
    ),
    (
        Case("OPTIMIZE", sql("OPTIMIZE kept")),
        Case(
            "OPTIMIZE … ZORDER BY", sql("INSERT INTO kept VALUES (3, struct('c', 3))", "OPTIMIZE kept ZORDER BY (id)")
        ),
        Case("RESTORE TABLE … TO VERSION AS OF", sql("RESTORE TABLE kept TO VERSION AS OF 1")),
        Case("CREATE TABLE … SHALLOW CLONE", sql("CREATE TABLE cloned SHALLOW CLONE kept"), columns=True),
        Case(
            "CREATE OR REPLACE TABLE … SHALLOW CLONE … VERSION AS OF",
            sql("CREATE OR REPLACE TABLE cloned_again SHALLOW CLONE kept VERSION AS OF 1"),
        ),
        Case("SHALLOW CLONE to a path", sql("CREATE TABLE delta.`{folder}/cloned-path` SHALLOW CLONE kept")),
    ),
)
