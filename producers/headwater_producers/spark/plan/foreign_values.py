"""Lineage of the values of a foreign query, as far as the query's text shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from headwater_producers.spark.plan.column import (
    CONSTANT,
    DirectSource,
    FieldRef,
    Indirect,
    ValueLineage,
    clip,
    combine,
    influences,
)
from headwater_producers.spark.plan.structure import merge, part
from headwater_producers.spark.plan.text import Literals, literal_text
from headwater_schemas.events import DatasetRef
from headwater_schemas.events import TransformationKind as Kind

if TYPE_CHECKING:
    from sqlglot import exp
    from sqlglot.optimizer.scope import Scope

# sqlglot's classes by name, because it may not be installed. Without a rule an expression is DERIVE of its arguments.
_SAME = ("Alias", "Paren", "Ordered", "Where", "Having", "Qualify")
_CONSTANTS = ("Literal", "Null", "Boolean", "DataType", "Var")
_HASHES = ("MD5", "MD5Digest", "SHA", "SHA2")
_UNREAD = ("Star", "Placeholder", "Parameter", "UDTF", "Lambda", "Bracket", "Dot")

STAR = "*"
"""Placeholder for all columns of a table, whose names only the database knows."""


class UnreadError(Exception):
    """Column whose source isn't clear from the text."""


@dataclass(frozen=True, slots=True)
class ForeignRelation:
    """Columns and rows of a foreign query.

    Attributes:
        columns: names and lineage, in the order of the SELECT list; `STAR` for all columns of a table.
    """

    columns: tuple[tuple[str, ValueLineage], ...]
    influences: frozenset[Indirect]
    rows: frozenset[DatasetRef]


class Relations(Protocol):
    """Reader of the whole query.

    Attributes:
        dialect: sqlglot's name of the query's SQL dialect.
        literals: display of literals in texts.
    """

    dialect: str | None
    literals: Literals

    def relation(self, scope: Scope, names: Sequence[str] = ()) -> ForeignRelation:
        """Read the query of a scope; known `names` of its columns resolve a `*`."""

    def table(self, table: exp.Table) -> DatasetRef:
        """Name a table."""


@dataclass(frozen=True, slots=True)
class ValueReader:
    """Reader of the expressions of one SELECT.

    Attributes:
        scope: sqlglot's `Scope`, which resolves aliases of FROM.
    """

    scope: Any
    rows: frozenset[DatasetRef]
    relations: Relations

    def column(self, expression: exp.Expr) -> ValueLineage:
        """Return the lineage of an expression's value.

        Raises:
            UnreadError: the text doesn't show the lineage.
        """
        names = [base.__name__ for base in type(expression).__mro__]
        for name in names:
            rule = _RULES.get(name)
            if rule is not None:
                return rule(self, expression)
        return self.step(expression, Kind.DERIVE)

    def all_of(self, expressions: Iterable[Any]) -> list[ValueLineage]:
        """Return the columns of those arguments that are present."""
        return [self.column(expression) for expression in expressions if expression is not None]

    def text(self, expression: exp.Expr) -> str:
        """Render the expression as SQL, with literals hidden as in other texts."""
        from sqlglot import exp

        def shown_node(node: exp.Expr) -> exp.Expr:
            if not isinstance(node, exp.Literal):
                return node
            kind = "string" if node.is_string else None
            return exp.Var(this=literal_text(node.this, kind, self.relations.literals))

        shown = expression.unalias().copy().transform(shown_node)
        return clip(shown.sql(dialect=self.relations.dialect, comments=False))

    def step(self, expression: exp.Expr, kind: Kind, *, masking: bool = False) -> ValueLineage:
        """Combine all arguments into a value in one step; without arguments, a constant."""
        found = combine(self.all_of(expression.iter_expressions()), kind, self.text(expression), masking=masking)
        return found if found.direct or found.indirect else replace(found, direct=CONSTANT)


def star_of(table: DatasetRef) -> ValueLineage:
    """Return all columns of a table: the part of any name is the column of that name."""
    return ValueLineage(frozenset({DirectSource(FieldRef(table, ()), Kind.COPY, whole=True)}))


def named_stars(
    columns: Sequence[tuple[str, ValueLineage]], names: Sequence[str]
) -> tuple[tuple[str, ValueLineage], ...]:
    """Expand a `STAR` among the columns, with the names of all columns of the result.

    Raises:
        UnreadError: there are several stars, with an unknown boundary between them, or too few names.
    """
    stars = [index for index, (name, _) in enumerate(columns) if name == STAR]
    if not stars or not names:
        return tuple(columns)
    if len(stars) > 1 or len(names) < len(columns) - 1:
        raise UnreadError
    (start,) = stars
    after = columns[start + 1 :]
    meant = names[start : len(names) - len(after)]
    star = columns[start][1]
    return (*columns[:start], *((name, replace(part(star, name), text=name)) for name in meant), *after)


def clause_items(clause: Any) -> list[Any]:
    """List the items of a clause: GROUP BY and ORDER BY are lists; WHERE and HAVING hold one condition."""
    if clause is None:
        return []
    return list(clause.expressions) or [clause]


def _same(reader: ValueReader, expression: exp.Expr) -> ValueLineage:
    return reader.column(expression.this)


def _constant(reader: ValueReader, expression: exp.Expr) -> ValueLineage:
    return ValueLineage(CONSTANT, text=reader.text(expression))


def _unread(_reader: ValueReader, _expression: exp.Expr) -> ValueLineage:
    raise UnreadError


def _cast(reader: ValueReader, expression: exp.Expr) -> ValueLineage:
    return combine([reader.column(expression.this)], Kind.CAST, reader.text(expression))


def _count(reader: ValueReader, expression: exp.Expr) -> ValueLineage:
    from sqlglot import exp

    counted = [a for a in (expression.this, *expression.expressions) if not isinstance(a, exp.Star)]
    result = combine(reader.all_of(counted), Kind.AGGREGATE, reader.text(expression), masking=True)
    of_rows = frozenset(DirectSource(FieldRef(d), Kind.AGGREGATE, masking=True) for d in reader.rows)
    return result if any(True for _ in result.sources) else replace(result, direct=of_rows)


def _case(reader: ValueReader, expression: exp.Expr) -> ValueLineage:
    branches = expression.args["ifs"]
    values = reader.all_of([*(branch.args["true"] for branch in branches), expression.args.get("default")])
    conditions = reader.all_of([expression.this, *(branch.this for branch in branches)])
    chosen = combine(values, Kind.DERIVE, reader.text(expression))
    return replace(chosen, indirect=chosen.indirect | influences(conditions, Kind.CONDITIONAL))


def _filtered(reader: ValueReader, expression: exp.Expr) -> ValueLineage:
    function, condition = reader.column(expression.this), reader.column(expression.expression)
    by = influences([condition], Kind.FILTER_DEPENDENCY)
    return replace(function, indirect=function.indirect | by, text=reader.text(expression))


def _window(reader: ValueReader, expression: exp.Expr) -> ValueLineage:
    function = reader.column(expression.this)
    order = clause_items(expression.args.get("order"))
    keys = reader.all_of([*(expression.args.get("partition_by") or ()), *order])
    by = influences(keys, Kind.WINDOW_DEPENDENCY)
    if not by and not any(True for _ in function.sources):
        # A row's number among all rows.
        function = replace(function, direct=frozenset(DirectSource(FieldRef(d), Kind.AGGREGATE) for d in reader.rows))
    return replace(function, indirect=function.indirect | by, text=reader.text(expression))


def _reference(reader: ValueReader, expression: exp.Expr) -> ValueLineage:
    from sqlglot import exp

    name, alias = expression.name, expression.text("table")
    source = _named(reader.scope, alias) if alias else _only(reader.scope)
    if not alias and isinstance(expression.find_ancestor(exp.Order, exp.Select), exp.Order):
        named = [select for select in reader.scope.expression.selects if select.alias_or_name == name]
        if named:
            return reader.column(named[0])
    if isinstance(source, exp.Table):
        field = FieldRef(reader.relations.table(source), (name,))
        return ValueLineage(frozenset({DirectSource(field, Kind.COPY)}), text=name)
    columns = () if source is None else reader.relations.relation(source).columns
    found = [c for n, c in columns if n == name] or [part(c, name) for n, c in columns if n == STAR]
    if len(found) != 1:
        raise UnreadError
    return found[0]


def _named(scope: Any, alias: str) -> Any:
    while scope is not None and alias not in scope.sources:
        scope = scope.parent  # the query around a correlated subquery
    return scope.sources[alias] if scope is not None else None


def _only(scope: Any) -> Any:
    # A name without a table belongs to the only table; but in a subquery it may belong to the outer query.
    sources = [source for _, source in scope.selected_sources.values()]
    return sources[0] if len(sources) == 1 and not scope.is_subquery else None


def _subquery(reader: ValueReader, expression: exp.Expr) -> ValueLineage:
    from sqlglot import exp

    query = expression if isinstance(expression, exp.Select) else expression.this
    inner = [reader.relations.relation(s) for s in reader.scope.subquery_scopes if s.expression is query]
    if len(inner) != 1:
        raise UnreadError
    by = inner[0].influences
    if isinstance(expression, exp.Exists):
        rows = frozenset(Indirect(FieldRef(d), Kind.FILTER_DEPENDENCY, text="exists") for d in inner[0].rows)
        return ValueLineage(CONSTANT, by or rows, text="exists(subquery)")
    value = merge([column for _, column in inner[0].columns], reader.text(expression))
    return replace(value, indirect=value.indirect | by)


_RULES: dict[str, Callable[[ValueReader, exp.Expr], ValueLineage]] = {
    "Column": _reference,
    "Cast": _cast,
    "Count": _count,
    "AggFunc": lambda reader, expression: reader.step(expression, Kind.AGGREGATE),
    # A function that sqlglot doesn't know: perhaps user-defined.
    "Anonymous": lambda reader, expression: reader.step(expression, Kind.EXTERNAL),
    "Case": _case,
    "Filter": _filtered,
    "Window": _window,
    **dict.fromkeys(_SAME, _same),
    **dict.fromkeys(_CONSTANTS, _constant),
    **dict.fromkeys(_HASHES, lambda reader, expression: reader.step(expression, Kind.HASH, masking=True)),
    **dict.fromkeys(_UNREAD, _unread),
    **dict.fromkeys(("Subquery", "Exists", "Select"), _subquery),
}
