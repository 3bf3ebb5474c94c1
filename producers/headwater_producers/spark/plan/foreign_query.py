"""Foreign queries: column lineage of SQL that another database runs, read by sqlglot if installed.

If the text has an unknown construct, or is ambiguous (a column that may belong to either of two tables), the whole
query counts as unread: a partial reading would be a guess. A `*` of one table needs the names of the result's columns.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from headwater_producers.spark.plan.column import FieldRef, Indirect, ValueLineage, influences
from headwater_producers.spark.plan.foreign_values import (
    STAR,
    ForeignRelation,
    UnreadError,
    ValueReader,
    clause_items,
    named_stars,
    star_of,
)
from headwater_producers.spark.plan.structure import merge
from headwater_producers.spark.plan.text import Literals
from headwater_schemas.events import DatasetRef
from headwater_schemas.events import TransformationKind as Kind

if TYPE_CHECKING:
    from sqlglot import exp
    from sqlglot.optimizer.scope import Scope

_AS_WRITTEN = ", normalization_strategy=case_sensitive"
DIALECTS = {
    "postgresql": "postgres",
    "redshift": "redshift",
    "mysql": "mysql",
    "mariadb": "mysql",
    "sqlserver": f"tsql{_AS_WRITTEN}",
    "oracle": "oracle",
    "snowflake": "snowflake",
    "trino": "trino",
    "teradata": f"teradata{_AS_WRITTEN}",
    "clickhouse": "clickhouse",
    "sqlite": f"sqlite{_AS_WRITTEN}",
    "databricks": "databricks",
}
"""sqlglot's dialects by the scheme of a JDBC URL; queries for other schemes are read as general SQL. An unquoted column
gets the database's case: lower in Postgres, upper in Oracle, unchanged in SQL Server. A table keeps the case in which
the query spells it, like a table that is read without a query."""

WRITTEN = "written"
"""Key under which a table node keeps its name as the query spells it: sqlglot normalizes names."""

_CLAUSES = {
    "where": Kind.FILTER_DEPENDENCY,
    "having": Kind.FILTER_DEPENDENCY,
    "qualify": Kind.FILTER_DEPENDENCY,
    "group": Kind.GROUP_DEPENDENCY,
    "order": Kind.SORT_DEPENDENCY,
}
_KNOWN_CLAUSES = frozenset(
    {*_CLAUSES, "expressions", "from_", "from", "joins", "with_", "with", "distinct", "limit", "offset"}
)


def read_foreign(
    query: str,
    scheme: str,
    dataset: Callable[[str], DatasetRef],
    *,
    names: Sequence[str] = (),
    literals: Literals = Literals.SHOWN,
) -> ForeignRelation | None:
    """Return the relation of a foreign query; None if sqlglot isn't installed or the query can't be read.

    Args:
        query: one SELECT, WITH and set operations included.
        scheme: scheme of the JDBC URL: `postgresql`.
        names: names of the query's columns in the database; they show the columns behind a `*`.
        literals: display of literals in texts.
    """
    try:
        import sqlglot
        from sqlglot import exp
        from sqlglot.optimizer import build_scope
        from sqlglot.optimizer.qualify import qualify
    except ImportError:
        return None
    dialect = DIALECTS.get(scheme, _AS_WRITTEN)
    logger = logging.getLogger("sqlglot")
    before = logger.level
    try:
        # sqlglot would print warnings about SQL that it can't parse to the job's standard error.
        logger.setLevel(logging.CRITICAL)
        parsed = sqlglot.parse_one(query, dialect=dialect)
        if not isinstance(parsed, exp.Query):
            return None
        for table in parsed.find_all(exp.Table):
            table.meta[WRITTEN] = ".".join(part.name for part in table.parts)
        qualified = qualify(parsed, dialect=dialect, validate_qualify_columns=False, identify=False)
        root = build_scope(qualified)
        return _Reader(dialect, dataset, literals).relation(root, names) if root is not None else None
    except Exception:
        # Any error of sqlglot, or of this reader: the caller reports the whole query as unread.
        return None
    finally:
        logger.setLevel(before)


def foreign_tables(query: str, scheme: str) -> tuple[str, ...] | None:
    """Return the tables in a query, in its spelling, each once; None if sqlglot is missing or can't parse it."""
    try:
        import sqlglot
        from sqlglot import exp

        parsed = sqlglot.parse_one(query, dialect=DIALECTS.get(scheme, _AS_WRITTEN))
    except Exception:
        return None
    defined = {cte.alias for cte in parsed.find_all(exp.CTE)}
    tables = (table for table in parsed.find_all(exp.Table) if isinstance(table.this, exp.Identifier))
    names = (".".join(part.name for part in table.parts) for table in tables)
    return tuple(dict.fromkeys(name for name in names if name not in defined))


@dataclass(slots=True)
class _Reader:
    dialect: str | None
    dataset: Callable[[str], DatasetRef]
    literals: Literals

    def relation(self, scope: Scope, names: Sequence[str] = ()) -> ForeignRelation:
        """Read the query of a scope; known `names` of its columns resolve a `*`."""
        from sqlglot import exp

        statement = scope.expression
        if isinstance(statement, exp.SetOperation):
            first, *others = scope.set_operation_scopes
            # The first branch's columns give the names.
            return self._united(scope, [self.relation(first, names), *map(self.relation, others)])
        if not isinstance(statement, exp.Select) or set(_given(statement)) - _KNOWN_CLAUSES:
            raise UnreadError
        below = {alias: self._source(source) for alias, (_, source) in scope.selected_sources.items()}
        found = frozenset[Indirect]().union(*(relation.influences for relation in below.values()))
        rows = frozenset[DatasetRef]().union(*(relation.rows for relation in below.values()))
        values = ValueReader(scope, rows, self)
        given = [column for select in statement.selects for column in self._selected(select, values, below)]
        columns = named_stars(given, names)
        for name, kind in _CLAUSES.items():
            clause = statement.args.get(name)
            if clause is not None:
                found |= influences(map(values.column, clause_items(clause)), kind)
        distinct = statement.args.get("distinct")
        if distinct:
            if distinct.args.get("on"):
                raise UnreadError
            found |= influences((column for _, column in columns), Kind.GROUP_DEPENDENCY)
        for join in statement.args.get("joins") or ():
            if join.args.get("using") or join.args.get("method"):
                raise UnreadError
            on = join.args.get("on")
            crossed = frozenset(Indirect(FieldRef(d), Kind.JOIN_DEPENDENCY, text="cross join") for d in rows)
            found |= influences([values.column(on)], Kind.JOIN_DEPENDENCY) if on is not None else crossed
        return ForeignRelation(columns, found, rows)

    @staticmethod
    def _selected(
        select: exp.Expr, values: ValueReader, below: Mapping[str, ForeignRelation]
    ) -> list[tuple[str, ValueLineage]]:
        from sqlglot import exp

        if not select.is_star:
            return [(select.alias_or_name, values.column(select))]
        if any(_given(select.find(exp.Star) or select)):
            raise UnreadError  # * EXCEPT (…), * REPLACE (…)
        alias = select.text("table")
        chosen = [below[alias]] if alias else list(below.values())
        return [column for relation in chosen for column in relation.columns]

    def _united(self, scope: Scope, branches: list[ForeignRelation]) -> ForeignRelation:
        from sqlglot import exp

        first = branches[0]
        if any(name == STAR for branch in branches for name, _ in branch.columns):
            raise UnreadError  # columns are united by position, and a star's positions are unknown
        if any(len(branch.columns) != len(first.columns) for branch in branches):
            raise UnreadError
        columns = tuple(
            (name, merge([branch.columns[i][1] for branch in branches], f"union({name})"))
            for i, (name, _) in enumerate(first.columns)
        )
        found = frozenset[Indirect]().union(*(branch.influences for branch in branches))
        rows = frozenset[DatasetRef]().union(*(branch.rows for branch in branches))
        if not isinstance(scope.expression, exp.Union):
            compared = (column for branch in branches for _, column in branch.columns)
            return replace(first, influences=found | influences(compared, Kind.JOIN_DEPENDENCY))
        if scope.expression.args.get("distinct"):
            found |= influences((column for _, column in columns), Kind.GROUP_DEPENDENCY)
        return ForeignRelation(columns, found, rows)

    def _source(self, source: Any) -> ForeignRelation:
        from sqlglot import exp

        if not isinstance(source, exp.Table):
            return self.relation(source)
        if not isinstance(source.this, exp.Identifier):
            raise UnreadError  # a table function
        table = self.table(source)
        # Only the database knows the table's columns.
        return ForeignRelation(((STAR, star_of(table)),), frozenset(), frozenset({table}))

    def table(self, table: exp.Table) -> DatasetRef:
        """Name a table."""
        return self.dataset(str(table.meta[WRITTEN]))


def _given(statement: exp.Expr) -> list[str]:
    return [name for name, value in statement.args.items() if value]
