"""Tables and queries behind JDBC."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from headwater_producers.spark.plan.column import Column, Direct, Field
from headwater_producers.spark.plan.description import PlanInput, SourceKind
from headwater_producers.spark.plan.jvm.scala import class_name, items
from headwater_producers.spark.plan.leaves import Leaf
from headwater_producers.spark.plan.relation import Attribute, Relation
from headwater_schemas import naming
from headwater_schemas.events import SchemaDefinition
from headwater_schemas.events import TransformationKind as Kind

if TYPE_CHECKING:
    from headwater_producers.spark.plan.jvm.context import Context
    from headwater_producers.spark.plan.jvm.leaf import JvmLeaf

# (SELECT …) alias, as Spark wraps the option `query`, or as users write `dbtable`.
_QUERY = re.compile(r"\s*\(\s*(?P<query>(?:SELECT|WITH)\b.*)\)\s*(?:AS\s+)?\w*\s*", re.DOTALL | re.IGNORECASE)


def source(leaf: JvmLeaf, relation: Any) -> Leaf:
    """What a JVM `JDBCRelation` reads."""
    options = relation.jdbcOptions()
    url, table = str(options.url()), str(options.tableOrQuery())
    schema = leaf.schema()
    query = _QUERY.fullmatch(table)
    if query is None:
        return Leaf(inputs=(_table(url, table, schema),))
    # Which of the query's columns come from which of its tables is the database's to know.
    names = _tables_of(query["query"], leaf.context)
    inputs = tuple(_table(url, name, None) for name in names)
    if not inputs:
        return Leaf(problem="the query that a JDBC source runs couldn't be read")
    anything = Column(frozenset(Direct(Field(i.dataset), Kind.EXTERNAL) for i in inputs))
    pairs = [
        (Attribute(int(a.exprId().id()), str(a.name())), replace(anything, text=str(a.name())))
        for a in items(leaf.plan.output())
    ]
    rows = frozenset(i.dataset for i in inputs)
    return Leaf(inputs=inputs, relation=replace(Relation().with_output(pairs), rows=rows))


def _table(url: str, table: str, schema: SchemaDefinition | None) -> PlanInput:
    return PlanInput(dataset=naming.jdbc(url, table), kind=SourceKind.JDBC, type="TABLE", schema=schema)


def _tables_of(query: str, context: Context) -> list[str]:
    """The tables that a query names, by Spark's own parser: most of what is asked of a database is SQL to it too."""
    plan = context.session._jsparkSession.sessionState().sqlParser().parsePlan(query)
    found: dict[str, None] = {}
    for root in (plan, *items(plan.subqueriesAll())):
        for leaf in items(root.collectLeaves()):
            if class_name(leaf) == "UnresolvedRelation":
                found.setdefault(str(leaf.multipartIdentifier().mkString(".")))
    return list(found)
