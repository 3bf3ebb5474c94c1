"""Catalog connector: Spark's own commands on catalogs.

They are DDL, tables and views created from a query, and inserts into tables of V1 sources.
"""

from __future__ import annotations

from headwater_producers.spark.connectors.catalog.ddl import DDL
from headwater_producers.spark.connectors.catalog.writes import (
    insert_into_source,
    v1_table_as_select,
    view,
    view_altered,
)
from headwater_producers.spark.connectors.connector import Connector
from headwater_producers.spark.connectors.connector_questions import JvmCommand
from headwater_producers.spark.plan.description import DdlChange
from headwater_producers.spark.plan.written import WrittenOutputs


class Catalogs(Connector):
    """Connector of catalogs' tables and views, of any format."""

    classes = frozenset(
        {
            *DDL,
            "AlterViewAsCommand",
            "CreateDataSourceTableAsSelectCommand",
            "CreateViewCommand",
            "InsertIntoDataSourceCommand",
        }
    )

    def write(self, command: JvmCommand) -> WrittenOutputs | None:
        match command.name:
            case "CreateDataSourceTableAsSelectCommand":
                return v1_table_as_select(command, command.plan.table())
            case "CreateViewCommand":
                return view(command)
            case "AlterViewAsCommand":
                return view_altered(command)
            case "InsertIntoDataSourceCommand":
                return insert_into_source(command)
        return None

    def change(self, command: JvmCommand) -> tuple[DdlChange, ...] | None:
        rule = DDL.get(command.name)
        return rule(command) if rule is not None else None
