"""SQL: a query reads what is served; a statement that writes is described and reported, and not run."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any

from headwater_producers.spark.connectors.catalog.statements import CHANGES_ROWS, CHANGES_TABLE, MAKES_TABLE, OF_SESSION
from headwater_producers.spark.dry_run.sources import Source, Sources
from headwater_producers.spark.dry_run.writing import Writes, table_source
from headwater_producers.spark.jvm.scala import class_name, items

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def run_statements(sources: Sources, writes: Writes) -> None:
    """From now on `spark.sql` runs queries on what is served, and no statement that writes."""
    from pyspark.sql import SparkSession

    run = SparkSession.sql

    def sql(session: Any, sqlQuery: str, args: Any = None, **named: Any) -> DataFrame:  # noqa: N803  PySpark's name
        if args or named:
            # Placeholders need values before the statement can be parsed.
            names = set(re.findall(r"[\w.]+", sqlQuery))
            for name in sorted(each for each in names if "." in each):
                sources.table(name)
            return run(session, sqlQuery, args, **named)
        return _run(_Statement(sources, writes, sqlQuery), lambda text: run(session, text))

    SparkSession.sql = sql  # type: ignore[method-assign,assignment]


class _Statement:
    """A statement.

    Args:
        sources: what is read.
        writes: what is written is reported to.
        text: as the script has it.
    """

    def __init__(self, sources: Sources, writes: Writes, text: str) -> None:
        self.sources, self.writes = sources, writes
        self.state = sources.session._jsparkSession.sessionState()
        self.plan = self.state.sqlParser().parsePlan(text)
        self.text = text
        self.kind = class_name(self.plan)

    def with_tables(self) -> str:
        """The text, every table that it names being there."""
        text = self.text
        for name in sorted(self._relations(), key=len, reverse=True):
            served = self._table(name)
            if len(name) > 2 and served is not None:
                parts = r"\s*\.\s*".join(f"`?{re.escape(part)}`?" for part in name)
                text = re.sub(rf"(?i)(?<![\w`.]){parts}(?![\w`])", served, text)
        return text

    def _table(self, name: tuple[str, ...]) -> str | None:
        if len(name) == 1 and self.sources.session._jsparkSession.catalog().tableExists(name[0]):
            return name[0]
        return self.sources.table(".".join(name))

    def _relations(self) -> set[tuple[str, ...]]:
        found: set[tuple[str, ...]] = set()
        ctes: set[str] = set()
        waiting = [self.plan]
        while waiting:
            plan = waiting.pop()
            kind = class_name(plan)
            if kind == "UnresolvedRelation":
                found.add(tuple(str(part) for part in items(plan.multipartIdentifier())))
            if kind == "UnresolvedWith":
                for pair in items(plan.cteRelations()):
                    ctes.add(str(pair._1()).lower())
                    waiting.append(pair._2())
            waiting += items(plan.children())
            waiting += [each for each in items(plan.innerChildren()) if hasattr(each, "children")]
            waiting += self._subqueries(plan)
        return {name for name in found if not (len(name) == 1 and name[0].lower() in ctes)}

    def _subqueries(self, plan: Any) -> list[Any]:
        return list(items(plan.subqueries()))

    def frame(self, plan: Any) -> DataFrame:
        """The frame of a query in the statement."""
        from pyspark.sql import DataFrame

        jvm: Any = self.sources.session._jvm
        package = jvm.org.apache.spark.sql
        dataset = getattr(package, "classic", package).Dataset
        return DataFrame(dataset.ofRows(self.sources.session._jsparkSession, plan), self.sources.session)


def _run(statement: _Statement, run: Any) -> DataFrame:
    text, kind = statement.with_tables(), statement.kind
    if kind == "InsertIntoStatement":
        return _inserted(_again(statement, text))
    if kind in MAKES_TABLE:
        return _made(_again(statement, text))
    if kind in CHANGES_ROWS:
        return _changed(_again(statement, text))
    if kind in CHANGES_TABLE:
        return _schema_changed(statement, run, text)
    if kind in OF_SESSION or not (_is_command(kind) or kind.endswith(("Statement", "Table", "View", "Partitions"))):
        frame: DataFrame = run(text)
        return frame
    statement.sources.channel.problem(
        f"The script runs {kind}, which isn't compared: {' '.join(statement.text.split())[:80]}",
        "Review what it does by itself.",
    )
    return _nothing(statement.sources)


def _again(statement: _Statement, text: str) -> _Statement:
    return statement if text == statement.text else _Statement(statement.sources, statement.writes, text)


def _inserted(statement: _Statement) -> DataFrame:
    plan = statement.plan
    frame = statement.frame(plan.query())
    target = _source(items(plan.table().multipartIdentifier()))
    columns = [str(each) for each in items(plan.userSpecifiedCols())]
    if not columns and not plan.byName():
        # By position: the columns' names are those of the table.
        table = statement.sources.session.table(".".join(f"`{p}`" for p in items(plan.table().multipartIdentifier())))
        names = table.schema.fieldNames()
        columns = list(names) if len(names) == len(frame.columns) else []
    if columns and len(columns) == len(frame.columns):
        frame = frame.toDF(*columns)
    mode = "overwrite" if plan.overwrite() else "append"
    partition = str(plan.partitionSpec().toString())
    statement.writes.report(frame, target, mode=mode if partition == "Map()" else f"{mode} {partition}")
    return _nothing(statement.sources)


def _made(statement: _Statement) -> DataFrame:
    plan = statement.plan
    frame = statement.frame(plan.query())
    name = plan.name()
    parts = items(name.nameParts()) if hasattr(name, "nameParts") else []
    partitions = [str(each.toString()) for each in items(plan.partitioning())]
    mode = "create" if statement.kind == "CreateTableAsSelect" else "replace"
    statement.writes.report(frame, _source(parts), mode=mode, partitioned_by=partitions)
    return _nothing(statement.sources)


def _changed(statement: _Statement) -> DataFrame:
    """MERGE, UPDATE, DELETE: the same as long as the analyzed statement is."""
    name = next(iter(statement._relations()), ())
    relation = next(
        (each for each in items(statement.plan.collectLeaves()) if class_name(each) == "UnresolvedRelation"), None
    )
    if relation is not None:
        name = tuple(str(part) for part in items(relation.multipartIdentifier()))
    analyzed = statement.state.analyzer().execute(statement.plan)
    text = re.sub(r"#\d+L?|@[0-9a-f]{4,}", "", str(analyzed.toString()))
    digest = hashlib.sha256(text.replace(str(statement.sources.scratch), "").encode()).hexdigest()[:16]
    table = statement.sources.session.table(".".join(f"`{part}`" for part in name))
    statement.writes.report(table, _source(name), mode=f"{statement.kind} {digest}")
    return _nothing(statement.sources)


def _schema_changed(statement: _Statement, run: Any, text: str) -> DataFrame:
    """DDL runs on the dry run's own catalog, with tables of its own kind and place."""
    plain = re.sub(r"(?i)\b(USING)\s+\w+", r"\1 parquet", text)
    plain = re.sub(r"(?i)\bLOCATION\s+('[^']*'|\"[^\"]*\")", "", plain)
    plain = re.sub(r"(?i)\b(TBLPROPERTIES|OPTIONS)\s*\([^)]*\)", "", plain)
    for database in re.findall(r"(?i)TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?`?(\w+)`?\.", plain):
        statement.sources.session._jsparkSession.sql(f"CREATE DATABASE IF NOT EXISTS `{database}`")
    statement.sources.channel.report("ddl", {"text": " ".join(text.split())})
    frame: DataFrame = run(plain)
    return frame


def _source(parts: Any) -> Source:
    return table_source(".".join(str(part) for part in parts).replace("__", "."))


def _is_command(kind: str) -> bool:
    return kind.endswith("Command")


def _nothing(sources: Sources) -> DataFrame:
    return sources.session.createDataFrame([], "nothing STRING")
