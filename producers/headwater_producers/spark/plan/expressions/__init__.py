"""Rules for expressions, by class: one table, a file for each family.

A rule takes a `Call` (the expression, its arguments' columns, its scope) and gives the column of its value. An
expression without a rule is computed from all its arguments: DERIVE if it is Spark's own, EXTERNAL if it isn't.
"""

from __future__ import annotations

from headwater_producers.spark.plan.expressions.call import Call, ExpressionScope, Rule
from headwater_producers.spark.plan.expressions.reader import read_expression

__all__ = ["Call", "ExpressionScope", "Rule", "read_expression"]
