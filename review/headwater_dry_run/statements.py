"""SQL statements in a dry run: a query reads served sources; a write is described and reported instead of run."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from py4j.java_gateway import is_instance_of

from headwater_dry_run.plans import frame_of
from headwater_dry_run.row_changes import RowChanges
from headwater_dry_run.sources import Sources
from headwater_dry_run.writing import Writes, matching
from headwater_producers.spark.jvm.scala import class_name, items
from headwater_producers.spark.jvm.versions import if_there

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Names of Spark's classes of parsed SQL statements (unresolved commands), by their effect.
_OF_SESSION: Final = frozenset(
    {
        "CreateViewCommand", "CreateTempViewUsing", "SetCommand", "SetCatalogAndNamespace", "ResetCommand",
        "CacheTable", "UncacheTable", "CacheTableAsSelect", "CreateFunctionCommand",
        "CreateUserDefinedFunctionCommand", "ShowTables", "ShowColumns", "DescribeRelation", "ExplainCommand",
        "SetVariable", "CreateVariable", "ShowCurrentNamespaceCommand", "ShowNamespaces", "CreateNamespace",
        "AddJarsCommand", "ClearCacheCommand",
    }
)  # fmt: skip
_MAKES_TABLE: Final = frozenset({"CreateTableAsSelect", "ReplaceTableAsSelect"})
_MAKES_EMPTY_TABLE: Final = frozenset({"CreateTable", "ReplaceTable"})
_REPLACES: Final = frozenset({"ReplaceTable", "ReplaceTableAsSelect"})
_CHANGES_ROWS: Final = frozenset({"MergeIntoTable", "UpdateTable", "DeleteFromTable"})
_CHANGES_TABLE: Final = _MAKES_EMPTY_TABLE | frozenset({"DropTable", "AddColumns", "DropColumns", "RenameColumn"})
_WITHOUT_QUERY: Final = frozenset(
    {
        "AddPartitions", "AlterColumn", "AlterColumns", "AnalyzeColumn", "AnalyzeTable", "Call", "CommentOnTable",
        "DropPartitions", "RefreshTable", "RenamePartitions", "RenameTable", "RepairTable", "SetTableLocation",
        "SetTableProperties", "SetTableSerDeProperties", "TruncatePartition", "TruncateTable",
        "UnsetTableProperties",
    }
)  # fmt: skip
"""Statements whose effect depends only on their text."""

_COMMAND_CLASSES: Final = tuple(
    f"org.apache.spark.sql.catalyst.plans.logical.{name}" for name in ("Command", "ParsedStatement", "InsertIntoDir")
)
"""Spark's classes of statements that aren't queries."""
_ONLY_SHOWS: Final = ("Show", "Describe", "Explain", "List")
_TRANSFORMS: Final = re.compile(
    r"(?i)\bPARTITIONED\s+BY\s*\((?=[^;]*?\b(?:years?|months?|days?|hours?|bucket|truncate)\s*\()(?:[^()]|\([^()]*\))*\)"
)
"""Partitioning that tables of the dry run's catalog don't support, so it is removed from the text. The partitioning is
read from the plan instead."""
_BELOW_WITH: Final = ("InsertIntoStatement", "MergeIntoTable")
"""Statements whose WITH can be moved into their query."""
# Statements of Delta's and Iceberg's parsers, which a dry run lacks: none of these statements changes a table's rows.
_OF_EXTENSIONS: Final = re.compile(r"(?is)\s*(OPTIMIZE|VACUUM|CALL|REORG|FSCK)\b.*")
_NOTHING: Final = ("Map()", "None", "optionlist()")


def run_statements(sources: Sources, writes: Writes) -> None:
    """Make `spark.sql` run queries on served sources, and describe writes instead of running them."""
    from pyspark.sql import SparkSession
    from pyspark.sql.sql_formatter import SQLStringFormatter

    run = SparkSession.sql

    def sql(session: Any, sqlQuery: str, args: Any = None, **named: Any) -> DataFrame:  # noqa: N803  PySpark's name
        formatter = SQLStringFormatter(session)
        text = formatter.format(sqlQuery, **named) if named else sqlQuery
        try:
            if _OF_EXTENSIONS.fullmatch(text):
                return _reported_by_text(writes, text, args)
            statement = _Statement(sources, writes, text, has_values=bool(args))
            return _run(statement, lambda text: run(session, text, args), args)
        finally:
            if named:
                formatter.clear()

    SparkSession.sql = sql  # type: ignore[method-assign,assignment]


class _Statement:
    """SQL statement.

    Args:
        has_values: True if it has parameters with values.
    """

    def __init__(self, sources: Sources, writes: Writes, text: str, *, has_values: bool = False) -> None:
        self.sources, self.writes, self.has_values = sources, writes, has_values
        self.plan = sources.session._jsparkSession.sessionState().sqlParser().parsePlan(text)
        self.text = text
        self.kind = class_name(self.plan)
        if self.kind == "UnresolvedWith" and (below := class_name(self.plan.child())) in _BELOW_WITH:
            self.kind = below

    def with_tables(self) -> str:
        """Create an empty table in Spark for each table that the statement names; return the text with their names."""
        text = self.text
        for name in sorted(self._relations(), key=len, reverse=True):
            served = self._table(name)
            if served is not None and served != ".".join(f"`{part}`" for part in name) and served != name[0]:
                text = _with_name(text, name, served)
        return text

    def _table(self, name: tuple[str, ...]) -> str | None:
        if len(name) == 1 and self.sources.session._jsparkSession.catalog().tableExists(name[0]):
            return name[0]
        return self.sources.table(".".join(f"`{part}`" for part in name))

    def _relations(self) -> set[tuple[str, ...]]:
        found: set[tuple[str, ...]] = set()
        ctes: set[str] = set()
        waiting = [self.plan]
        while waiting:
            plan = waiting.pop()
            kind = class_name(plan)
            if kind in ("UnresolvedRelation", "UnresolvedTable"):
                found.add(tuple(str(part) for part in items(plan.multipartIdentifier())))
            if kind == "UnresolvedWith":
                for pair in items(plan.cteRelations()):
                    ctes.add(str(pair._1()).lower())
                    waiting.append(pair._2())
            waiting += items(plan.children())
            waiting += [each for each in items(plan.innerChildren()) if hasattr(each, "children")]
            waiting += items(plan.subqueries())
        return {name for name in found if not (len(name) == 1 and name[0].lower() in ctes)}

    def is_command(self) -> bool:
        """Return True if the statement, or a part of it, has an effect; False for a pure query."""
        waiting = [self.plan]
        while waiting:
            plan = waiting.pop()
            if any(is_instance_of(_gateway(), plan, each) for each in _COMMAND_CLASSES):
                return True
            waiting += items(plan.children())
        return False

    def without_ctes(self) -> Any:
        """Return the statement below its WITH, with the WITH moved into its query."""
        if class_name(self.plan) != "UnresolvedWith":
            return self.plan
        jvm: Any = self.sources.session._jvm
        statement = self.plan.child()
        *others, query = items(statement.children())
        with_query = self.plan.withNewChildren(jvm.PythonUtils.toSeq([query]))
        return statement.withNewChildren(jvm.PythonUtils.toSeq([*others, with_query]))

    def frame(self, plan: Any) -> DataFrame:
        """Return the frame of a query in the statement."""
        return frame_of(self.sources.session, plan)


def _run(statement: _Statement, run: Any, values: Any) -> DataFrame:
    text, kind = statement.with_tables(), statement.kind
    described = {
        "InsertIntoStatement": _inserted,
        "InsertIntoDir": _inserted_into_folder,
        "CreateView": _view_created,
        **dict.fromkeys(_MAKES_TABLE, _table_created),
        **dict.fromkeys(_CHANGES_ROWS, _rows_changed),
    }
    if kind == "SetCatalogAndNamespace":
        return _database_set(statement)
    if kind == "CreateNamespace":
        return _empty_frame(statement.sources)
    if kind in _OF_SESSION or kind.startswith(_ONLY_SHOWS) or not statement.is_command():
        frame: DataFrame = run(text)
        return frame
    if kind in _WITHOUT_QUERY:
        return _reported_by_text(statement.writes, statement.text, values)
    if kind in _CHANGES_TABLE and not statement.has_values:
        return _schema_changed(statement, run, text)
    if kind in described and not statement.has_values:
        return described[kind](_parsed_with(statement, text))
    if statement.has_values:
        kind = f"{kind} with parameters"
    statement.sources.channel.problem(
        f"The script runs {kind}, which isn't compared: {' '.join(statement.text.split())[:80]}",
        "Review this statement by hand: the review doesn't compare it.",
    )
    return _empty_frame(statement.sources)


def _reported_by_text(writes: Writes, text: str, values: Any) -> DataFrame:
    # Parameters may be secrets.
    parameters = f" [parameters {hashlib.sha256(repr(values).encode()).hexdigest()[:8]}]" if values else ""
    writes.report_statement(f"{text}{parameters}")
    return _empty_frame(writes.sources)


def _parsed_with(statement: _Statement, text: str) -> _Statement:
    """Return the statement of the changed text."""
    return statement if text == statement.text else _Statement(statement.sources, statement.writes, text)


def _inserted(statement: _Statement) -> DataFrame:
    plan = statement.without_ctes()
    frame = statement.frame(plan.query())
    name = [str(part) for part in items(plan.table().multipartIdentifier())]
    target = statement.sources.source_of_parts(name)
    columns = [str(each) for each in items(plan.userSpecifiedCols())]
    if not plan.byName():
        # By position: the columns get the table's names, without partition columns that have a fixed value.
        table = statement.sources.session.table(".".join(f"`{part}`" for part in name))
        fixed = {str(pair._1()).lower() for pair in items(plan.partitionSpec().toSeq()) if pair._2().isDefined()}
        columns = columns or [each for each in table.schema.fieldNames() if each.lower() not in fixed]
        frame = frame.toDF(*matching(".".join(name), columns, len(frame.columns)))
    mode = statement.writes.overwriting() if plan.overwrite() else "append"
    parts = [
        f"{name}={value.get()}" if value.isDefined() else str(name)
        for name, value in ((pair._1(), pair._2()) for pair in items(plan.partitionSpec().toSeq()))
    ]
    statement.writes.report(frame, target, mode=f"{mode} PARTITION ({', '.join(parts)})" if parts else mode)
    return _empty_frame(statement.sources)


def _inserted_into_folder(statement: _Statement) -> DataFrame:
    plan = statement.plan
    location = plan.storage().locationUri()
    path = str(location.get().toString()) if location.isDefined() else None
    format_ = str(plan.provider().get()).lower() if plan.provider().isDefined() else None
    target = statement.writes.target(format_, path, {})
    statement.writes.report(statement.frame(plan.child()), target, format_=format_, mode="overwrite")
    return _empty_frame(statement.sources)


def _table_created(statement: _Statement) -> DataFrame:
    plan = statement.plan
    frame = statement.frame(plan.query())
    name = plan.name()
    parts = [str(part) for part in items(name.nameParts())] if hasattr(name, "nameParts") else []
    partitions = [str(each.toString()) for each in items(plan.partitioning())]
    mode = "replace" if statement.kind in _REPLACES else "create"
    format_, options = _format_and_options_digest(plan)
    target = statement.sources.source_of_parts(parts)
    statement.writes.report(frame, target, format_=format_, mode=mode, options=options, partitioned_by=partitions)
    return _empty_frame(statement.sources)


def _rows_changed(statement: _Statement) -> DataFrame:
    """Report MERGE, UPDATE, DELETE."""
    plan = statement.without_ctes()
    table = plan.targetTable() if statement.kind == "MergeIntoTable" else plan.table()
    relation = next(each for each in items(table.collectLeaves()))
    parts = [str(part) for part in items(relation.multipartIdentifier())]
    RowChanges(statement.writes).report(plan, statement.sources.source_of_parts(parts))
    return _empty_frame(statement.sources)


def _database_set(statement: _Statement) -> DataFrame:
    """Handle USE: set the current database, to which names without a database then belong."""
    name = next(iter(items(statement.plan.children())))
    parts = [str(part) for part in items(if_there(name, "nameParts") or name.multipartIdentifier())]
    statement.sources.use(parts)
    return _empty_frame(statement.sources)


def _view_created(statement: _Statement) -> DataFrame:
    """Report a view of the catalog, which readers use like a table."""
    plan = statement.plan
    frame = statement.frame(plan.query())
    if names := [str(pair._1()) for pair in items(plan.userSpecifiedColumns())]:
        frame = frame.toDF(*names)
    parts = [str(part) for part in items(plan.child().nameParts())]
    statement.writes.report(frame, statement.sources.source_of_parts(parts), mode="view")
    return _empty_frame(statement.sources)


def _schema_changed(statement: _Statement, run: Any, text: str) -> DataFrame:
    """Run DDL on the dry run's own catalog, whose tables have their own format and location."""
    plan = statement.plan
    plain = re.sub(r"(?i)\b(USING)\s+\w+", r"\1 parquet", text)
    plain = re.sub(r"(?i)\bLOCATION\s+('[^']*'|\"[^\"]*\")", "", plain)
    plain = re.sub(r"(?i)\b(TBLPROPERTIES|OPTIONS)\s*\([^)]*\)", "", plain)
    plain = _TRANSFORMS.sub("", plain)
    identifier = next((each for each in items(plan.children()) if class_name(each) == "UnresolvedIdentifier"), None)
    parts = [] if identifier is None else [str(part) for part in items(identifier.nameParts())]
    if parts:
        plain = _with_name(plain, parts, statement.sources.made(parts))
    if statement.kind not in _MAKES_EMPTY_TABLE or not parts:
        statement.writes.report_statement(statement.text)
        frame: DataFrame = run(plain)
        return frame
    frame = run(plain)
    # The table has no rows, but columns and partitioning to compare.
    format_, options = _format_and_options_digest(plan)
    statement.writes.report(
        statement.sources.session.table(".".join(f"`{part}`" for part in parts)).limit(0),
        statement.sources.source_of_parts(parts),
        format_=format_,
        mode="replace" if statement.kind in _REPLACES else "create",
        options=options,
        partitioned_by=[str(each.toString()) for each in items(plan.partitioning())],
    )
    return frame


def _with_name(text: str, name: Sequence[str], new_name: str) -> str:
    """Replace the name of a table in the text."""
    parts = r"\s*\.\s*".join(f"`?{re.escape(part)}`?" for part in name)
    return re.sub(rf"(?i)(?<![\w`.]){parts}(?![\w`])", lambda _: new_name, text)


def _format_and_options_digest(plan: Any) -> tuple[str | None, dict[str, str]]:
    """Return a table's format, and a digest of its properties and location, which may hold secrets."""
    spec = plan.tableSpec()
    format_ = str(spec.provider().get()).lower() if spec.provider().isDefined() else None
    options = spec.optionExpression() if class_name(spec) == "UnresolvedTableSpec" else spec.options()
    texts = [str(each.toString()) for each in (spec.properties(), options, spec.location())]
    if all(each in _NOTHING for each in texts):
        return format_, {}
    return format_, {"properties": f"properties={hashlib.sha256(repr(texts).encode()).hexdigest()[:8]}"}


def _gateway() -> Any:
    from pyspark import SparkContext

    return SparkContext._gateway


def _empty_frame(sources: Sources) -> DataFrame:
    return sources.session.createDataFrame([], "nothing STRING")
