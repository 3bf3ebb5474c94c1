from __future__ import annotations

from headwater_producers.spark.events.plans import has_lineage, join_lineages
from headwater_schemas.events import ColumnEdge, ColumnLineage, DatasetRef, Expression
from headwater_schemas.identity import plan_digest
from headwater_schemas.redacted_values import redacted

A, B, C = (DatasetRef("n", name) for name in "abc")
TO_B = ColumnLineage(
    datasets=(A, B),
    edges=(ColumnEdge(output=1, output_field="y", input=0, input_field="x", expression="e"),),
    expressions=(Expression("e", "x + 1"),),
)
TO_C = ColumnLineage(datasets=(C, A), edges=(ColumnEdge(output=0, output_field="z", input=1, input_field="x"),))


def arrows(lineage: ColumnLineage) -> set[tuple[str, str | None, str, str | None]]:
    return {
        (lineage.datasets[edge.input].name, edge.input_field, lineage.datasets[edge.output].name, edge.output_field)
        for edge in lineage.edges
        if edge.input is not None
    }


def test_edges_keep_their_ends_when_lineages_are_joined() -> None:
    joined = join_lineages([TO_B, TO_C])
    assert arrows(joined) == {("a", "x", "b", "y"), ("a", "x", "c", "z")}
    assert joined.datasets == (A, B, C)
    assert joined.expressions == TO_B.expressions
    assert joined.complete


def test_the_order_of_writes_does_not_change_the_digest() -> None:
    one, other = join_lineages([TO_B, TO_C, TO_B]), join_lineages([TO_C, TO_B])
    assert one == other
    assert plan_digest(one) == plan_digest(other)


def test_an_incomplete_part_makes_the_whole_incomplete() -> None:
    partly = ColumnLineage(datasets=(C,), complete=False, incomplete_reason="too large")
    joined = join_lineages([TO_B, partly])
    assert not joined.complete
    assert joined.incomplete_reason == "too large"


def test_what_is_worth_saying() -> None:
    assert has_lineage(TO_B)
    assert has_lineage(ColumnLineage(datasets=(C,), complete=False))
    assert not has_lineage(ColumnLineage(datasets=(C,)))
    assert not has_lineage(ColumnLineage(complete=False))


def test_secrets_in_expressions_go_and_the_digest_stays() -> None:
    secret = ColumnLineage(expressions=(Expression("e", "aes_encrypt(x, 'password=hunter2')"),))
    cleaned = redacted(secret)
    assert "hunter2" not in cleaned.expressions[0].text
    assert plan_digest(cleaned) == plan_digest(secret)
