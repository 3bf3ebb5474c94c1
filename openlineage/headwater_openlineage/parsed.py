"""Column lineage parsed from the text of a `sql` facet, if the producer reported none. Requires sqlglot.

The result is marked as incomplete and parsed: the executed text may differ, views hide tables, and a name may mean a
table that isn't in the document. A table is matched with the document's dataset whose name ends with the table's name.
A table that matches several datasets, or none, gives no edge.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from sqlglot import exp
    from sqlglot.optimizer.scope import Scope

_MOST_CHARACTERS: Final = 50_000
"""Maximum number of characters of a parsed text: a longer text would take seconds."""
_MOST_STEPS: Final = 100_000
"""Maximum sum of the depths of a statement's nodes. sqlglot walks from each column up to its SELECT several times: a
sum of thousands of columns would take minutes."""

_DIALECTS: Final = {
    # scheme of a namespace or name in a facet: sqlglot's dialect
    "awsathena": "athena",
    "athena": "athena",
    "bigquery": "bigquery",
    "clickhouse": "clickhouse",
    "databricks": "databricks",
    "duckdb": "duckdb",
    "hive": "hive",
    "mariadb": "mysql",
    "mssql": "tsql",
    "mysql": "mysql",
    "oracle": "oracle",
    "postgres": "postgres",
    "postgresql": "postgres",
    "presto": "presto",
    "redshift": "redshift",
    "snowflake": "snowflake",
    "spark": "spark",
    "sparksql": "spark",
    "sqlite": "sqlite",
    "sqlserver": "tsql",
    "teradata": "teradata",
    "trino": "trino",
    "tsql": "tsql",
}


@dataclass(frozen=True, slots=True)
class Table:
    """Dataset of the document that a query may use.

    Attributes:
        namespace, name: identity of the dataset.
        columns: names of its columns; empty if the document lacks its schema.
    """

    namespace: str
    name: str
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ParsedEdge:
    """An edge between columns of tables of the document; a column of None is the table as a whole.

    Attributes:
        output, input: the tables.
        output_column, input_column: names of columns.
        subtype: subtype of the transformation; None if the text doesn't show it.
        direct: True if the value comes from the input; False if the input only influences it.
    """

    output: Table
    output_column: str | None
    input: Table
    input_column: str | None
    subtype: str | None
    direct: bool = True


def dialect_of(named: str | None, namespaces: Sequence[str], integration: str | None) -> str:
    """Return sqlglot's name of a job's SQL dialect, from the facet, else its datasets' namespaces, else its engine."""
    schemes = [namespace.partition(":")[0] for namespace in namespaces]
    for candidate in (named, *schemes, integration):
        found = _DIALECTS.get((candidate or "").lower())
        if found is not None:
            return found
    return ""


def edges_of(query: str, dialect: str, inputs: tuple[Table, ...], outputs: tuple[Table, ...]) -> tuple[ParsedEdge, ...]:
    """Read the edges in the text of a query. Never raises: a text that can't be parsed gives no edges.

    Args:
        query: one or several statements.
        dialect: sqlglot's name of the dialect; empty: SQL in general.
        inputs: tables that the query may read.
        outputs: tables that the query may write. If there is only one, a statement that is a SELECT counts as writing
            this table.
    """
    try:
        import sqlglot
    except ImportError:
        return ()
    if len(query) > _MOST_CHARACTERS:
        return ()
    logger = logging.getLogger("sqlglot")
    before = logger.level
    try:
        logger.setLevel(logging.CRITICAL)  # otherwise sqlglot logs warnings about unparsable text
        statements = sqlglot.parse(query, dialect=dialect)
        reader = _Reader(dialect, inputs, outputs)
        return tuple(dict.fromkeys(edge for each in statements if each is not None for edge in reader.statement(each)))
    except Exception:  # noqa: BLE001 - any failure of the parser, recursion included
        return ()
    finally:
        logger.setLevel(before)


@dataclass(frozen=True, slots=True)
class _Reader:
    dialect: str
    inputs: tuple[Table, ...]
    outputs: tuple[Table, ...]

    def statement(self, statement: exp.Expr) -> Iterator[ParsedEdge]:
        from sqlglot import exp
        from sqlglot.optimizer import build_scope
        from sqlglot.optimizer.qualify import qualify

        if _is_costly(statement):
            return
        target, names, query = self._written(statement)
        if target is None or not isinstance(query, exp.Query):
            return
        with_ = statement.args.get("with_") or statement.args.get("with")
        if with_ is not None and query is not statement and not query.args.get("with_"):
            query.set("with_", with_.copy())
        tables = [table for table in query.find_all(exp.Table) if isinstance(table.this, exp.Identifier)]
        matched = {id(table): found for table in tables if (found := self._match(table, self.inputs)) is not None}
        schema: dict[str, Any] = {}
        for table in tables:
            if id(table) in matched:
                # The whole name as a single part, because sqlglot's schema needs names of equal depth.
                found = matched[id(table)]
                alias = table.alias or table.name
                table.replace(exp.alias_(exp.to_table(f'"{self.inputs.index(found)}"'), alias, table=True))
                if found.columns:
                    schema[str(self.inputs.index(found))] = dict.fromkeys(found.columns, "unknown")
        qualified = qualify(
            query,
            dialect=self.dialect,
            schema=schema,
            validate_qualify_columns=False,
            identify=False,
        )
        root = build_scope(qualified)
        if root is not None:
            yield from self._columns(root, target, names)
            yield from self._influences(root, target)

    def _written(self, statement: exp.Expr) -> tuple[Table | None, list[str], exp.Expr | None]:
        """Return the table that a statement writes, the columns that it names, and the query of its rows."""
        from sqlglot import exp

        if isinstance(statement, exp.Insert | exp.Create):
            target = statement.this
            names: list[str] = []
            if isinstance(target, exp.Schema):
                names = [column.name for column in target.expressions]
                target = target.this
            query = statement.expression
            if isinstance(query, exp.Subquery):
                query = query.unnest()
            table = self._match(target, self.outputs) if isinstance(target, exp.Table) else None
            if table is not None and not names and isinstance(statement, exp.Insert):
                names = list(table.columns)  # by position
            return table, names, query
        if isinstance(statement, exp.Query) and len(self.outputs) == 1:
            return self.outputs[0], [], statement
        return None, [], None

    def _match(self, table: exp.Table, datasets: Sequence[Table]) -> Table | None:
        """Return the only dataset whose name ends with the table's name."""
        wanted = [part.name.lower() for part in table.parts]
        found = [each for each in datasets if each.name.lower().replace("/", ".").split(".")[-len(wanted) :] == wanted]
        return found[0] if len(found) == 1 else None

    def _columns(self, root: Scope, target: Table, names: Sequence[str]) -> Iterator[ParsedEdge]:
        from sqlglot import exp

        values = _Values(self._source)
        selects = root.expression.selects  # type: ignore[attr-defined]
        if any(select.is_star for select in selects):
            for scope in root.traverse():
                for source in scope.sources.values():
                    if isinstance(source, exp.Table) and (table := self._source(source)) is not None:
                        yield ParsedEdge(target, None, table, None, None)
            return
        for index, select in enumerate(selects):
            name = _column_of(target, names[index] if index < len(names) else select.alias_or_name)
            if name is None:
                continue
            value = values.of(root, index)
            for table, column in value.leaves:
                yield ParsedEdge(target, name, table, column, value.subtype)

    def _influences(self, root: Scope, target: Table) -> Iterator[ParsedEdge]:
        from sqlglot import exp

        for scope in root.traverse():
            if not isinstance(scope.expression, exp.Select):
                continue
            clauses = [
                (subtype, clause)
                for name, subtype in (
                    ("where", "FILTER"),
                    ("having", "FILTER"),
                    ("group", "GROUP_BY"),
                    ("order", "SORT"),
                )
                if (clause := scope.expression.args.get(name)) is not None
            ]
            joins = scope.expression.args.get("joins") or ()
            clauses += [("JOIN", join.args["on"]) for join in joins if join.args.get("on") is not None]
            for subtype, clause in clauses:
                for column in clause.find_all(exp.Column):
                    source = scope.sources.get(column.table)
                    if not column.table and len(scope.selected_sources) == 1:
                        [(_, source)] = scope.selected_sources.values()
                    if isinstance(source, exp.Table) and (table := self._source(source)) is not None:
                        yield ParsedEdge(target, None, table, column.name, subtype, direct=False)

    def _source(self, table: exp.Table) -> Table | None:
        return self.inputs[int(table.name)] if table.name.isdigit() and int(table.name) < len(self.inputs) else None


def _is_costly(statement: exp.Expr) -> bool:
    """Return True if the depths of all nodes of a statement add up to more than `_MOST_STEPS`."""
    waiting, steps = [(statement, 0)], 0
    while waiting and steps <= _MOST_STEPS:
        node, depth = waiting.pop()
        steps += depth
        waiting += [(inner, depth + 1) for inner in node.iter_expressions()]
    return steps > _MOST_STEPS


def _column_of(table: Table, name: str) -> str | None:
    """Return a column in the spelling of the table's schema; None if the schema is known and lacks the column."""
    if not table.columns:
        return name
    return next((column for column in table.columns if column.lower() == name.lower()), None)


@dataclass(frozen=True, slots=True)
class _Value:
    """Sources of a query's column: columns of tables, and the strongest transformation of them."""

    leaves: tuple[tuple[Table, str], ...]
    subtype: str


_IDENTITY: Final = _Value((), "IDENTITY")
_STRENGTH: Final = ("IDENTITY", "TRANSFORMATION", "AGGREGATION")


@dataclass(slots=True)
class _Values:
    """Columns of nested queries, each resolved once.

    Attributes:
        source: dataset behind each table of the query.
    """

    source: Callable[[Any], Table | None]
    _resolved: dict[tuple[int, int], _Value] = field(default_factory=dict)
    _names: dict[int, dict[str, int]] = field(default_factory=dict)

    def of(self, scope: Scope, index: int) -> _Value:
        """Return the column at an index of a scope's selection."""
        key = (id(scope), index)
        if key not in self._resolved:
            self._resolved[key] = _IDENTITY  # a recursive query ends here
            branches = scope.set_operation_scopes
            if branches:
                self._resolved[key] = _merged([self.of(branch, index) for branch in branches], "IDENTITY")
            else:
                self._resolved[key] = self._selected(scope, index)
        return self._resolved[key]

    def _selected(self, scope: Scope, index: int) -> _Value:
        from sqlglot import exp

        selects = scope.expression.selects  # type: ignore[attr-defined]
        if index >= len(selects):
            return _IDENTITY
        expression = selects[index].unalias()
        below = [self._column(scope, column) for column in expression.find_all(exp.Column)]
        return _merged(below, _subtype(expression))

    def _column(self, scope: Scope, column: exp.Column) -> _Value:
        from sqlglot import exp

        source = scope.sources.get(column.table)
        if not column.table and len(scope.selected_sources) == 1:
            [(_, source)] = scope.selected_sources.values()
        if isinstance(source, exp.Table):
            table = self.source(source)
            return _IDENTITY if table is None else _Value(((table, column.name),), "IDENTITY")
        if source is None:
            return _IDENTITY
        index = self._index(source, column.name)
        return _IDENTITY if index is None else self.of(source, index)

    def _index(self, scope: Scope, name: str) -> int | None:
        if id(scope) not in self._names:
            named = scope.expression.named_selects  # type: ignore[attr-defined]
            self._names[id(scope)] = {each: index for index, each in reversed(list(enumerate(named)))}
        return self._names[id(scope)].get(name)


def _merged(values: Sequence[_Value], subtype: str) -> _Value:
    leaves = tuple(dict.fromkeys(leaf for value in values for leaf in value.leaves))
    return _Value(leaves, max((subtype, *(value.subtype for value in values)), key=_STRENGTH.index))


def _subtype(expression: exp.Expr) -> str:
    from sqlglot import exp

    if expression.find(exp.AggFunc) is not None:
        return "AGGREGATION"
    return "IDENTITY" if isinstance(expression, exp.Column) else "TRANSFORMATION"
