"""`Call` and `ExpressionScope`, which rules for expressions get as arguments; tables of rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from headwater_producers.spark.plan.column import ValueLineage, combine
from headwater_producers.spark.plan.relation import Relation
from headwater_producers.spark.plan.text import Literals, expression_text
from headwater_producers.spark.plan.tree import Nodes, PlanNode
from headwater_schemas.events import DatasetRef
from headwater_schemas.events import TransformationKind as Kind


@dataclass(frozen=True, slots=True)
class ExpressionScope:
    """Scope in which an expression is evaluated.

    Attributes:
        columns: columns that its attributes may refer to, by expression id.
        rows: datasets over whose rows it is evaluated.
        outer: the scope around a correlated subquery.
        subquery: function that reads a subquery's plan, whose `OuterReference`s refer to the given scope.
        report: function called with a sentence about a part that wasn't understood.
        literals: display of literals in texts.
    """

    columns: Mapping[int, ValueLineage]
    rows: frozenset[DatasetRef]
    subquery: Callable[[Nodes, ExpressionScope], Relation]
    report: Callable[[str], None]
    outer: ExpressionScope | None = None
    literals: Literals = Literals.SHOWN

    def find(self, attribute: int | None) -> ValueLineage | None:
        """Return the attribute's column, in this scope or an outer one."""
        scope: ExpressionScope | None = self
        while scope is not None:
            if attribute is not None and attribute in scope.columns:
                return scope.columns[attribute]
            scope = scope.outer
        return None


@dataclass(frozen=True, slots=True)
class Call:
    """Expression with the columns of its arguments."""

    node: PlanNode
    arguments: tuple[ValueLineage, ...]
    scope: ExpressionScope

    @property
    def text(self) -> str:
        """Text of the expression."""
        return expression_text(self.node, self.arguments)

    def step(
        self, kind: Kind, arguments: Iterable[ValueLineage] | None = None, *, masking: bool = False
    ) -> ValueLineage:
        """Return the column of a value computed from all or some of the arguments in one step of `kind`."""
        return combine(self.arguments if arguments is None else arguments, kind, self.text, masking=masking)


Rule = Callable[[Call], ValueLineage]


def rules(rule: Rule, names: str) -> dict[str, Rule]:
    """Make a table with a rule for each of the classes in `names`, separated by blanks."""
    return dict.fromkeys(names.split(), rule)
