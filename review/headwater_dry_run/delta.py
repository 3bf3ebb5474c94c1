"""Delta's Python API, `DeltaTable`, in a dry run, with or without Delta's package and jars.

Methods have the names and parameters of Delta's methods.
"""

# ruff: noqa: A002, N803, ARG002, ARG003

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, Final, NoReturn

from headwater_dry_run.merging import Actions, Merging
from headwater_dry_run.plans import frame_of
from headwater_dry_run.sources import ScriptSource

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_MODULE: Final = "delta.tables"
_PACKAGE: Final = "delta"


def serve_delta(merging: Merging) -> None:
    """Serve this module's classes to scripts that import `delta.tables`."""
    DryDeltaTable.merging = merging
    tables = {"DeltaTable": DryDeltaTable, "DeltaMergeBuilder": DeltaMerge, "DeltaTableBuilder": DeltaTableBuilder}
    sys.meta_path.insert(0, _Served(_MODULE, tables))
    # Searched last: the package itself, if installed, or a folder of the script with this name comes first.
    package = {"DeltaTable": DryDeltaTable, "configure_spark_with_delta_pip": lambda builder, *_, **__: builder}
    sys.meta_path.append(_Served(_PACKAGE, package))


class DryDeltaTable:
    """Dry-run `DeltaTable`, with its methods for reading and writing."""

    merging: ClassVar[Merging]

    def __init__(self, source: ScriptSource, plan: Any) -> None:
        self._source, self._plan = source, plan

    @classmethod
    def forPath(cls, sparkSession: Any, path: str, hadoopConf: Any = None) -> DryDeltaTable:
        """Return the table at a path."""
        source = cls.merging.sources.path(path)
        return cls(source, cls.merging.plan(cls.merging.sources.frame(source, None)))

    @classmethod
    def forName(cls, sparkSession: Any, tableOrViewName: str) -> DryDeltaTable:
        """Return the table with a name."""
        frame = cls.merging.sources.session.table(tableOrViewName)
        return cls(cls.merging.sources.source_of_name(tableOrViewName), cls.merging.plan(frame))

    @classmethod
    def isDeltaTable(cls, sparkSession: Any, identifier: str) -> bool:
        """Return True: the review covers the job's usual run, in which the table exists."""
        return True

    @classmethod
    def create(cls, sparkSession: Any = None) -> DeltaTableBuilder:
        """Start the builder of a table."""
        return DeltaTableBuilder(cls.merging, "create")

    @classmethod
    def replace(cls, sparkSession: Any = None) -> DeltaTableBuilder:
        """Start the builder of a table that replaces another."""
        return DeltaTableBuilder(cls.merging, "replace")

    createIfNotExists, createOrReplace = create, replace  # noqa: N815  Delta's names

    def toDF(self) -> DataFrame:
        """Return the table's rows."""
        return frame_of(self.merging.sources.session, self._plan)

    def alias(self, aliasName: str) -> DryDeltaTable:
        """Return the table under another name, for conditions."""
        return DryDeltaTable(self._source, self.merging.plan(self.toDF().alias(aliasName)))

    def merge(self, source: DataFrame, condition: Any) -> DeltaMerge:
        """Start the builder of a MERGE."""
        on = self.merging.expression(condition)
        return DeltaMerge(self.merging, self._source, self._plan, self.merging.plan(source), on)

    def delete(self, condition: Any = None) -> None:
        """Report a DELETE of some rows, or of all."""
        where = self.merging.expression("true" if condition is None else condition)
        self.merging.report(self.merging.made("DeleteFromTable", self._plan, where), self._source)

    def update(self, condition: Any = None, set: Mapping[str, Any] | None = None) -> None:
        """Report an UPDATE of some rows, or of all."""
        where = self.merging.option(None if condition is None else self.merging.expression(condition))
        statement = self.merging.made("UpdateTable", self._plan, self.merging.assignments(set or {}), where)
        self.merging.report(statement, self._source)

    def optimize(self) -> Compaction:
        """Start the builder of an OPTIMIZE, which keeps the rows."""
        return Compaction()

    def vacuum(self, retentionHours: float | None = None) -> None:
        """Do nothing: vacuum only removes unused files, never rows."""

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"DeltaTable.{name} needs a Delta table, and a dry run has none")


class DeltaMerge(Actions):
    """Builder that `DeltaTable.merge` returns."""

    def whenMatchedUpdate(self, condition: Any = None, set: Any = None) -> DeltaMerge:
        """Add a branch: matched rows get values, by column."""
        return self._with(self.matched, "UpdateAction", condition, set)

    def whenMatchedUpdateAll(self, condition: Any = None) -> DeltaMerge:
        """Add a branch: matched rows get the source's values in all columns."""
        return self._with(self.matched, "UpdateStarAction", condition)

    def whenMatchedDelete(self, condition: Any = None) -> DeltaMerge:
        """Add a branch: matched rows are deleted."""
        return self._with(self.matched, "DeleteAction", condition)

    def whenNotMatchedInsert(self, condition: Any = None, values: Any = None) -> DeltaMerge:
        """Add a branch: unmatched source rows are inserted, with values by column."""
        return self._with(self.not_matched, "InsertAction", condition, values)

    def whenNotMatchedInsertAll(self, condition: Any = None) -> DeltaMerge:
        """Add a branch: unmatched source rows are inserted, with all columns."""
        return self._with(self.not_matched, "InsertStarAction", condition)

    def whenNotMatchedBySourceUpdate(self, condition: Any = None, set: Any = None) -> DeltaMerge:
        """Add a branch: target rows without a source row get values, by column."""
        return self._with(self.not_matched_by_source, "UpdateAction", condition, set)

    def whenNotMatchedBySourceDelete(self, condition: Any = None) -> DeltaMerge:
        """Add a branch: target rows without a source row are deleted."""
        return self._with(self.not_matched_by_source, "DeleteAction", condition)

    def execute(self) -> None:
        """Report the MERGE that the script would run."""
        self.run()

    def _with(self, actions: list[Any], name: str, condition: Any, values: Any = None) -> DeltaMerge:
        self.add(actions, name, condition, values)
        return self


class DeltaTableBuilder:
    """Builder that `DeltaTable.create` and its siblings return."""

    def __init__(self, merging: Merging, mode: str) -> None:
        from pyspark.sql.types import StructType

        self._merging, self._mode = merging, mode
        self._target: ScriptSource | None = None
        self._schema = StructType()
        self._partitioning: list[str] = []

    def tableName(self, identifier: str) -> DeltaTableBuilder:
        """Set the table's name in the catalog."""
        self._target = self._merging.sources.source_of_name(identifier)
        return self

    def location(self, location: str) -> DeltaTableBuilder:
        """Set the table's path, which identifies a table without a name."""
        self._target = self._target or self._merging.sources.path(location)
        return self

    def addColumn(self, colName: str, dataType: Any, nullable: bool = True, **_: Any) -> DeltaTableBuilder:  # noqa: FBT001, FBT002
        """Add a column."""
        self._schema = self._schema.add(colName, dataType, nullable)
        return self

    def addColumns(self, cols: Any) -> DeltaTableBuilder:
        """Add the columns of a schema, or of a list of fields."""
        for each in cols:
            self._schema = self._schema.add(each)
        return self

    def partitionedBy(self, *cols: Any) -> DeltaTableBuilder:
        """Set the partition columns."""
        self._partitioning = _names(cols)
        return self

    def clusterBy(self, *cols: Any) -> DeltaTableBuilder:
        """Set the clustering columns."""
        self._partitioning = [f"cluster_by({', '.join(_names(cols))})"]
        return self

    def comment(self, comment: str) -> DeltaTableBuilder:
        """Ignore a comment: it changes neither rows nor columns."""
        return self

    def property(self, key: str, value: str) -> DeltaTableBuilder:
        """Ignore a property of the table: it changes neither rows nor columns."""
        return self

    def execute(self) -> DryDeltaTable:
        """Report the table that the script would create."""
        if self._target is None:
            raise ValueError("the table has neither a name nor a path")
        frame = self._merging.sources.session.createDataFrame([], self._schema)
        self._merging.writes.report(
            frame.limit(0), self._target, format_="delta", mode=self._mode, partitioned_by=self._partitioning
        )
        return DryDeltaTable(self._target, self._merging.plan(frame))


def _names(columns: Sequence[Any]) -> list[str]:
    """Flatten columns, given as arguments or as lists."""
    return [name for each in columns for name in ([each] if isinstance(each, str) else each)]


class Compaction:
    """Builder that `DeltaTable.optimize` returns."""

    def where(self, partitionFilter: str) -> Compaction:
        """Return the builder: a choice of partitions doesn't change rows."""
        return self

    def executeCompaction(self) -> None:
        """Do nothing: compaction keeps the rows."""

    def executeZOrderBy(self, *cols: Any) -> None:
        """Do nothing: Z-ordering keeps the rows."""


class _Served(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Import finder and loader that provides one module with this content."""

    def __init__(self, name: str, content: Mapping[str, Any]) -> None:
        self._name, self._content = name, dict(content)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self._name:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package="." not in fullname)

    def exec_module(self, module: ModuleType) -> None:
        vars(module).update(self._content)
