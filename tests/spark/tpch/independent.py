"""Column lineage of a query as sqlglot reads it: parsed, qualified and followed without any of Spark."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import sqlglot
from sqlglot import exp
from sqlglot.lineage import lineage
from sqlglot.optimizer import build_scope, find_all_in_scope
from sqlglot.optimizer.qualify import qualify

if TYPE_CHECKING:
    from sqlglot.optimizer.scope import Scope

DIALECT = "spark"
CLAUSES = ("where", "group", "having", "order")

Schema = dict[str, dict[str, str]]
"""Type by column by table."""


def schema_of(statements: str) -> Schema:
    """The tables that `CREATE TABLE` statements make."""
    tables = {}
    for statement in sqlglot.parse(statements, dialect=DIALECT):
        if isinstance(statement, exp.Create):
            columns = statement.this.expressions
            tables[statement.this.this.name] = {c.name: c.args["kind"].sql(DIALECT) for c in columns}
    return tables


def direct(query: str, schema: Schema) -> dict[str, set[str]]:
    """`table.column` that each output is computed from, by sqlglot's own lineage."""
    return {
        output: {
            f"{node.expression.name}.{node.name.rpartition('.')[2]}"
            for node in root.walk()
            if isinstance(node.expression, exp.Table)
        }
        for output, root in lineage(None, query, schema, dialect=DIALECT).items()
    }


def indirect(query: str, schema: Schema) -> set[str]:
    """`table.column` that any clause beside SELECT's list names, in whatever subquery, and conditions of CASE.

    A `table` alone is one of several in FROM without a condition between them: all their rows meet. sqlglot's lineage
    has no word for these; its scopes tell which table a column in a clause belongs to.
    """
    parsed = sqlglot.parse_one(query, dialect=DIALECT)
    root = build_scope(qualify(parsed, dialect=DIALECT, schema=dict(schema)))
    assert root is not None
    return {name for scope in root.traverse() for name in _of_scope(scope)}


def _of_scope(scope: Scope) -> Iterator[str]:
    select = _select(scope)
    joins = select.args.get("joins") or []
    clauses = [select.args[name] for name in CLAUSES if select.args.get(name)]
    clauses += [join.args["on"] for join in joins if join.args.get("on")]
    clauses += [case.this for case in find_all_in_scope(select, exp.If)]
    for clause in clauses:
        yield from _columns(scope, clause)
    if any(not join.args.get("on") for join in joins):
        yield from _rows(scope)
    for subquery in scope.subquery_scopes:
        # The values that WHERE and HAVING compare with; EXISTS compares none.
        if not isinstance(subquery.expression.parent, exp.Exists):
            for output in _select(subquery).selects:
                yield from _columns(subquery, output)


def _rows(scope: Scope) -> Iterator[str]:
    for _, source in scope.selected_sources.values():
        if isinstance(source, exp.Table):
            yield source.name
        else:
            yield from _rows(source)


def _columns(scope: Scope, expression: exp.Expr) -> Iterator[str]:
    for column in find_all_in_scope(expression, exp.Column):
        yield from _sources(scope, column)


def _sources(scope: Scope, column: exp.Column) -> Iterator[str]:
    if not column.table:  # ORDER BY an alias
        yield from _columns(scope, _output(scope, column.name))
        return
    where: Scope | None = scope
    while where is not None and column.table not in where.sources:
        where = where.parent  # a correlated subquery
    assert where is not None
    source = where.sources[column.table]
    if isinstance(source, exp.Table):
        yield f"{source.name}.{column.name}"
    else:
        yield from _columns(source, _output(source, column.name))


def _output(scope: Scope, name: str) -> exp.Expr:
    return next(select for select in _select(scope).selects if select.alias_or_name == name)


def _select(scope: Scope) -> exp.Select:
    assert isinstance(scope.expression, exp.Select)
    return scope.expression
