"""Expression reader: the table of all rules, applied bottom-up."""

from __future__ import annotations

from headwater_producers.spark.plan.column import CONSTANT, ValueLineage
from headwater_producers.spark.plan.expressions.aggregates import AGGREGATES, aggregate
from headwater_producers.spark.plan.expressions.basic import BASIC
from headwater_producers.spark.plan.expressions.call import Call, ExpressionScope, Rule
from headwater_producers.spark.plan.expressions.collections import COLLECTIONS
from headwater_producers.spark.plan.expressions.conditional import CONDITIONAL
from headwater_producers.spark.plan.expressions.encoded import ENCODED
from headwater_producers.spark.plan.expressions.external import EXTERNAL, external
from headwater_producers.spark.plan.expressions.generators import GENERATORS
from headwater_producers.spark.plan.expressions.hashes import HASHES
from headwater_producers.spark.plan.expressions.lambdas import LAMBDAS, any_of
from headwater_producers.spark.plan.expressions.structured import STRUCTURED
from headwater_producers.spark.plan.expressions.subqueries import SUBQUERIES
from headwater_producers.spark.plan.tree import Nodes, PlanNode, fold
from headwater_schemas.events import TransformationKind as Kind

RULES: dict[str, Rule] = {
    **BASIC,
    **STRUCTURED,
    **COLLECTIONS,
    **ENCODED,
    **CONDITIONAL,
    **AGGREGATES,
    **HASHES,
    **LAMBDAS,
    **GENERATORS,
    **SUBQUERIES,
    **EXTERNAL,
}

_SPARK = "org.apache.spark.sql."
_AGGREGATE = f"{_SPARK}catalyst.expressions.aggregate."


def read_expression(nodes: Nodes, scope: ExpressionScope) -> ValueLineage:
    """Return the lineage of an expression's value.

    Raises:
        ValueError: `nodes` isn't one whole tree.
    """

    def visit(node: PlanNode, arguments: tuple[ValueLineage, ...]) -> ValueLineage:
        call = Call(node, arguments, scope)
        rule = RULES.get(node.name) or _by_package(node)
        return rule(call)

    return fold(nodes, visit)


def _by_package(node: PlanNode) -> Rule:
    name = str(node.get("class"))
    if name.startswith(_AGGREGATE):
        return aggregate
    # Spark's own expressions are functions of their arguments; all others are black boxes.
    return _derive if name.startswith(_SPARK) else external


def _derive(call: Call) -> ValueLineage:
    # A higher-order function has its lambda in the field `function`.
    if call.node.get("function") is not None and any(argument.parameters for argument in call.arguments):
        return any_of(call)
    # Every value needs a source: without arguments, a constant.
    return call.step(Kind.DERIVE) if call.arguments else ValueLineage(CONSTANT, text=call.text)
