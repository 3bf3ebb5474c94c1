"""Orders copied by a task with inlets and outlets, their totals made by SQL, and a report that fails."""

from __future__ import annotations

import datetime as dt

from airflow.providers.common.sql.operators.sql import SQLExecuteQueryOperator
from airflow.providers.openlineage.sqlparser import DatabaseInfo
from airflow.providers.sqlite.hooks.sqlite import SqliteHook
from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG, Asset, task


class ShopHook(SqliteHook):
    """SQLite's hook knows no namespace of its own; this is what a hook of Airflow that does has."""

    def get_openlineage_database_info(self, connection):
        return DatabaseInfo(scheme="sqlite", authority="shop.db", database="shop", is_information_schema_cross_db=True)

    def get_openlineage_database_dialect(self, connection):
        return "sqlite"

    def get_openlineage_default_schema(self):
        return "main"


class ShopOperator(SQLExecuteQueryOperator):
    """SQL through that hook."""

    def get_db_hook(self):
        return ShopHook("shop")


with DAG(
    "shop",
    schedule=None,
    start_date=dt.datetime(2026, 11, 20, tzinfo=dt.UTC),
    tags=["sales", "tier:gold"],
    description="Totals of the day.",
    default_args={"owner": "ann"},
):
    land = BashOperator(
        task_id="land",
        bash_command="echo landed",
        inlets=[Asset("file:///landing/orders.csv")],
        outlets=[Asset("file:///lake/orders.csv")],
        doc_md="Copies the orders.",
    )
    totals = ShopOperator(
        task_id="totals",
        conn_id="shop",
        sql="CREATE TABLE totals AS SELECT customer, sum(amount) AS total FROM orders GROUP BY customer",
    )

    @task(outlets=[Asset("file:///lake/report.csv")])
    def report() -> None:
        """Fails after the others."""
        raise ValueError("no report today")

    land >> totals >> report()
