"""JDBC connector: tables and queries of other databases."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from headwater_producers.spark.connectors.connector import Connector
from headwater_producers.spark.connectors.connector_questions import JvmCommand, JvmLeaf
from headwater_producers.spark.connectors.context import SessionContext
from headwater_producers.spark.jvm.scala import class_name, items, setting
from headwater_producers.spark.plan.column import DirectSource, FieldRef, ValueLineage
from headwater_producers.spark.plan.description import PlanInput, PlanOutput, SourceKind
from headwater_producers.spark.plan.foreign_query import foreign_tables, read_foreign
from headwater_producers.spark.plan.foreign_values import ForeignRelation
from headwater_producers.spark.plan.leaves import Leaf
from headwater_producers.spark.plan.relation import Relation
from headwater_producers.spark.plan.written import LIFECYCLES, WrittenOutputs
from headwater_schemas import naming
from headwater_schemas.events import SchemaDefinition
from headwater_schemas.events import TransformationKind as Kind

_RELATION: Final = "JDBCRelation"
_PROVIDER: Final = "JdbcRelationProvider"
# (SELECT …) alias, as Spark wraps the option `query`, or as users write `dbtable`.
_QUERY = re.compile(r"\s*\(\s*(?P<query>(?:SELECT|WITH)\b.*)\)\s*(?:AS\s+)?\w*\s*", re.DOTALL | re.IGNORECASE)


class Jdbc(Connector):
    """Connector of tables and queries behind JDBC."""

    classes = frozenset({_RELATION, _PROVIDER})

    def read(self, leaf: JvmLeaf) -> Leaf | None:
        return _read_relation(leaf)

    def write(self, command: JvmCommand) -> WrittenOutputs | None:
        url, table = setting(command.options, "url"), setting(command.options, "dbtable")
        if not url or not table:
            return None
        output = PlanOutput(
            dataset=naming.jdbc(url, table),
            kind=SourceKind.JDBC,
            type="TABLE",
            mode=command.mode,
            format="jdbc",
            lifecycle=LIFECYCLES.get(command.mode),
        )
        return WrittenOutputs((output,))


def _read_relation(leaf: JvmLeaf) -> Leaf:
    options = leaf.subject.jdbcOptions()
    url, table = str(options.url()), str(options.tableOrQuery())
    schema = leaf.schema()
    query = _QUERY.fullmatch(table)
    if query is None:
        return Leaf(inputs=(_table(url, table, schema),))
    names = foreign_tables(query["query"], _scheme(url)) or _tables_of(query["query"], leaf.context)
    inputs = tuple(_table(url, name, None) for name in names)
    if not inputs:
        return Leaf(problem="the query that a JDBC source runs couldn't be read")
    output = [replace(attribute, type=None) for attribute in leaf.attributes()]
    rows = frozenset(i.dataset for i in inputs)
    read = _read(query["query"], url, [attribute.name for attribute in output], leaf.context)
    if read is not None and len(read.columns) == len(output) and read.rows <= rows:
        pairs = [(attribute, column) for attribute, (_, column) in zip(output, read.columns, strict=True)]
        relation = replace(Relation().with_output(pairs), influences=read.influences, rows=read.rows)
        return Leaf(inputs=inputs, relation=relation)
    # Only the database knows the table of each column of the query.
    anything = ValueLineage(frozenset(DirectSource(FieldRef(i.dataset), Kind.EXTERNAL) for i in inputs))
    pairs = [(attribute, replace(anything, text=attribute.name)) for attribute in output]
    return Leaf(inputs=inputs, relation=replace(Relation().with_output(pairs), rows=rows))


def _scheme(url: str) -> str:
    return url.strip().lower().removeprefix("jdbc:").partition(":")[0]


def _read(query: str, url: str, names: list[str], context: SessionContext) -> ForeignRelation | None:
    literals = context.settings.literal_texts
    return read_foreign(query, _scheme(url), lambda name: naming.jdbc(url, name), names=names, literals=literals)


def _table(url: str, table: str, schema: SchemaDefinition | None) -> PlanInput:
    return PlanInput(dataset=naming.jdbc(url, table), kind=SourceKind.JDBC, type="TABLE", schema=schema)


def _tables_of(query: str, context: SessionContext) -> list[str]:
    """List the tables that a query names, with Spark's own parser, which accepts most databases' SQL."""
    waiting = [context.session._jsparkSession.sessionState().sqlParser().parsePlan(query)]
    found: dict[str, None] = {}
    defined: set[str] = set()
    while waiting:
        plan = waiting.pop()
        match class_name(plan):
            case "UnresolvedRelation":
                found.setdefault(str(plan.multipartIdentifier().mkString(".")))
            case "UnresolvedWith":
                for definition in items(plan.cteRelations()):
                    defined.add(str(definition._1()))
                    waiting.append(definition._2())
        waiting += [*items(plan.children()), *items(plan.subqueries())]
    return [name for name in found if name not in defined]
