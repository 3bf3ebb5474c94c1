"""Recursive common table expressions: an anchor, and a step that reads the output of the previous step."""

from __future__ import annotations

from dataclasses import replace

from headwater_producers.spark.plan.binding import bind, bind_influences
from headwater_producers.spark.plan.column import DirectSource, ValueLineage, Variable, clip
from headwater_producers.spark.plan.operators.operator import Operator, OperatorRule
from headwater_producers.spark.plan.relation import Attribute, Relation, side_by_side
from headwater_producers.spark.plan.structure import merge, same_sources
from headwater_schemas.events import TransformationKind as Kind

EXTRA_ROUNDS = 8
"""Extra rounds, beyond one for each column. After one round per column, each source has reached all columns that it
can reach; in the extra rounds only the kinds of transformation still change."""


def loop_reference(operator: Operator) -> Relation:
    """Read the step's reference to the previous round: variables, which the enclosing loop binds."""
    attributes = operator.attributes()
    number = operator.node.get("loopId")
    operator.reader.loops.setdefault(number, []).append(tuple(a.id for a in attributes))
    return Relation().with_output(
        (a, ValueLineage(frozenset({DirectSource(Variable(a.id), Kind.COPY, whole=True)}), text=a.name, type=a.type))
        for a in attributes
    )


def union_loop(operator: Operator) -> Relation:
    """Read the loop: a column comes from the anchor's and the step's columns; repeated until no round adds a source."""
    anchor, step = operator.children
    references = operator.reader.loops.pop(operator.node.get("id"), [])
    columns, step_columns = anchor.ordered(), step.ordered()

    def variables() -> dict[int, ValueLineage]:
        return {number: column for ids in references for number, column in zip(ids, columns, strict=False)}

    texts = [clip(f"union({a.text}, {b.text})") for a, b in zip(columns, step_columns, strict=True)]
    for _ in range(len(columns) + EXTRA_ROUNDS):
        bound = [bind(column, variables()) for column in step_columns]
        after = [merge(pair, text) for *pair, text in zip(columns, bound, texts, strict=True)]
        if all(same_sources(*pair) for pair in zip(after, columns, strict=True)):
            break
        columns = after
    both = side_by_side([anchor, step])
    output = zip(_attributes(operator, anchor.output), columns, strict=True)
    return Relation(rows=both.rows, influences=bind_influences(both.influences, variables())).with_output(output)


def _attributes(operator: Operator, of_anchor: tuple[Attribute, ...]) -> tuple[Attribute, ...]:
    """Return the anchor's attributes with the loop's own ids, which exist since Spark 4.1."""
    given = operator.node.get("outputAttrIds")
    ids = [int(each["id"]) for each in given] if isinstance(given, list) else []
    if len(ids) != len(of_anchor):
        return of_anchor
    return tuple(replace(attribute, id=number) for attribute, number in zip(of_anchor, ids, strict=True))


RECURSION: dict[str, OperatorRule] = {"UnionLoop": union_loop, "UnionLoopRef": loop_reference}
