"""Operators that compute columns."""

from __future__ import annotations

from dataclasses import replace

from headwater_producers.spark.plan.column import CONSTANT, ValueLineage, clip, combine, influences
from headwater_producers.spark.plan.operators.operator import Operator, OperatorRule
from headwater_producers.spark.plan.relation import Attribute, Relation
from headwater_producers.spark.plan.structure import merge
from headwater_schemas.events import TransformationKind as Kind
from headwater_schemas.reasons import EXPAND


def project(operator: Operator) -> Relation:
    """Read SELECT."""
    return operator.child.with_output(operator.named("projectList"))


def aggregate(operator: Operator) -> Relation:
    """Read GROUP BY: the keys influence every column."""
    keys = influences(operator.read("groupingExpressions"), Kind.GROUP_DEPENDENCY)
    return operator.child.with_output(operator.named("aggregateExpressions"), keys)


def window(operator: Operator) -> Relation:
    """Read window functions: columns that are added to the child's columns."""
    child = operator.child
    return child.with_output([*_pairs(child), *operator.named("windowExpressions")])


def numbered(operator: Operator) -> Relation:
    """Read the default index of pandas API on Spark: a row number, added to the child's columns."""
    numbers = operator.attributes("sequenceAttr")
    number = ValueLineage(CONSTANT, text="attach_distributed_sequence()")
    return operator.child.with_output(
        [*((each, replace(number, type=each.type)) for each in numbers), *_pairs(operator.child)]
    )


def generate(operator: Operator) -> Relation:
    """Read `explode` and others, which add generated columns; the generator determines the number of rows."""
    child = operator.child
    generators = operator.read("generator")
    generator = generators[0] if generators else combine(child.ordered(), Kind.UNKNOWN, "generator")
    generated = [
        (attribute, generator.parts.get(str(index), generator))
        for index, attribute in enumerate(operator.attributes("generatorOutput"))
    ]
    return child.with_output([*_pairs(child), *generated], influences([generator], Kind.FILTER_DEPENDENCY))


def expand(operator: Operator) -> Relation:
    """Read several rows for each row (rollup, cube, unpivot, sliding windows): a column is one of its projections."""
    projections = operator.node.get("projections")
    if not isinstance(projections, list):
        projections = operator.reader.leaves.projections(operator.node)
    if not projections:
        operator.report(EXPAND)
        anything = combine(operator.child.ordered(), Kind.UNKNOWN, "expand")
        known = operator.child.columns
        return operator.child.with_output([(a, known.get(a.id, anything)) for a in operator.attributes()])
    rows = [operator.read_all(row) for row in projections]
    return operator.child.with_output(
        [(attribute, _one_of([row[i] for row in rows])) for i, attribute in enumerate(operator.attributes())]
    )


def _one_of(columns: list[ValueLineage]) -> ValueLineage:
    # Constants (nulls of a rollup, names of an unpivot) add nothing next to a column.
    varying = [column for column in columns if column.direct != CONSTANT or column.indirect]
    distinct = list({(column.direct, column.indirect): column for column in varying}.values())
    texts = list(dict.fromkeys(column.text for column in (distinct or columns)))
    text = texts[0] if len(texts) == 1 else clip(f"one of({', '.join(texts)})")
    return merge(distinct or columns[:1], text) if distinct else replace(columns[0], text=text)


def _pairs(relation: Relation) -> list[tuple[Attribute, ValueLineage]]:
    return [(attribute, relation.columns[attribute.id]) for attribute in relation.output]


COLUMNS: dict[str, OperatorRule] = {
    "Project": project,
    "Aggregate": aggregate,
    "Window": window,
    "AttachDistributedSequence": numbered,
    "Generate": generate,
    "Expand": expand,
}
