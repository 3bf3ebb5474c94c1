"""Rules for operators, by class: one table, a file for each family.

A rule takes an `Operator` (the node, its children's relations, and readers for its expressions) and gives the relation
of its output. An operator without a rule is reported, and each of its columns may come from every column below.
"""

from __future__ import annotations

from headwater_producers.spark.plan.operators.reader import PlanReader, is_write

__all__ = ["PlanReader", "is_write"]
