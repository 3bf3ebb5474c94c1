"""Names of Spark's classes of parsed SQL statements (unresolved commands), grouped by their effect."""

from __future__ import annotations

from typing import Final

OF_SESSION: Final = frozenset(
    {
        "CreateViewCommand",
        "CreateTempViewUsing",
        "SetCommand",
        "SetCatalogAndNamespace",
        "ResetCommand",
        "CacheTable",
        "UncacheTable",
        "CacheTableAsSelect",
        "CreateFunctionCommand",
        "CreateUserDefinedFunctionCommand",
        "ShowTables",
        "ShowColumns",
        "DescribeRelation",
        "ExplainCommand",
        "SetVariable",
        "CreateVariable",
        "ShowCurrentNamespaceCommand",
        "ShowNamespaces",
        "CreateNamespace",
        "AddJarsCommand",
        "ClearCacheCommand",
    }
)
MAKES_TABLE: Final = frozenset({"CreateTableAsSelect", "ReplaceTableAsSelect"})
MAKES_EMPTY_TABLE: Final = frozenset({"CreateTable", "ReplaceTable"})
REPLACES: Final = frozenset({"ReplaceTable", "ReplaceTableAsSelect"})
CHANGES_ROWS: Final = frozenset({"MergeIntoTable", "UpdateTable", "DeleteFromTable"})
CHANGES_TABLE: Final = MAKES_EMPTY_TABLE | frozenset({"DropTable", "AddColumns", "DropColumns", "RenameColumn"})
WITHOUT_QUERY: Final = frozenset(
    {
        "AddPartitions",
        "AlterColumn",
        "AlterColumns",
        "AnalyzeColumn",
        "AnalyzeTable",
        "Call",
        "CommentOnTable",
        "DropPartitions",
        "RefreshTable",
        "RenamePartitions",
        "RenameTable",
        "RepairTable",
        "SetTableLocation",
        "SetTableProperties",
        "SetTableSerDeProperties",
        "TruncatePartition",
        "TruncateTable",
        "UnsetTableProperties",
    }
)
"""Statements whose effect depends only on their text."""
