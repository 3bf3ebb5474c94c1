"""Plans that no Spark is needed for: unknown operators and expressions, leaves that nothing is known of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater_producers.spark.plan.description import PlanInput, SourceKind
from headwater_producers.spark.plan.edges import OutputField, OutputFields, column_lineage
from headwater_producers.spark.plan.leaves import Leaf
from headwater_producers.spark.plan.operators import PlanReader
from headwater_producers.spark.plan.tree import Nodes, PlanNode
from headwater_schemas.events import DatasetRef
from headwater_schemas.events import TransformationKind as Kind

if TYPE_CHECKING:
    import pytest

T = DatasetRef("file", "/t")
VIEW = DatasetRef("hive://m:9083", "default.v")
OUT = DatasetRef("file", "/out")
LOGICAL = "org.apache.spark.sql.catalyst.plans.logical."
EXPRESSIONS = "org.apache.spark.sql.catalyst.expressions."


class OneTable:
    """Every leaf reads T."""

    def find(self, node: PlanNode, view: str | None) -> Leaf:
        if node.name == "Mystery":
            return Leaf(problem="what a Mystery reads isn't known")
        return Leaf(inputs=(PlanInput(dataset=T, kind=SourceKind.FILE),))

    def view(self, node: PlanNode) -> PlanInput | None:
        return None if node.get("isTempView") else PlanInput(dataset=VIEW, kind=SourceKind.TABLE, type="VIEW")

    def projections(self, node: PlanNode) -> list[list[Nodes]] | None:
        return None


def attribute(name: str, number: int) -> dict[str, Any]:
    return {
        "class": f"{EXPRESSIONS}AttributeReference",
        "num-children": 0,
        "name": name,
        "dataType": "string",
        "exprId": {"id": number},
    }


def expression(name: str, children: int) -> dict[str, Any]:
    return {"class": EXPRESSIONS + name, "num-children": children}


def literal(value: str) -> dict[str, Any]:
    return {**expression("Literal", 0), "value": value, "dataType": "string"}


def alias(name: str, number: int, *expression: dict[str, Any]) -> list[dict[str, Any]]:
    head = {"class": f"{EXPRESSIONS}Alias", "num-children": 1, "name": name, "exprId": {"id": number}}
    return [head, *expression]


def operator(name: str, children: int, **fields: Any) -> dict[str, Any]:
    return {"class": name if "." in name else LOGICAL + name, "num-children": children, **fields}


def leaf(name: str = "LogicalRelation") -> dict[str, Any]:
    return operator(name, 0, output=[[attribute("a", 1)], [attribute("b", 2)]])


def read(nodes: list[dict[str, Any]]) -> tuple[list[tuple[str | None, str | None, Kind]], PlanReader]:
    reader = PlanReader(OneTable())
    relation = reader.read(nodes)
    fields = tuple(OutputField(a.name, c) for a, c in zip(relation.output, relation.ordered(), strict=True))
    lineage = column_lineage([OutputFields(OUT, fields)], relation.influences, reader.problems)
    assert lineage.complete is not bool(reader.problems)
    return [(edge.output_field, edge.input_field, edge.kind) for edge in lineage.edges], reader


def test_an_unknown_operator_makes_everything_possible_and_says_so() -> None:
    edges, reader = read([operator("Shuffle2030", 1), leaf()])
    assert edges == [("a", "a", Kind.UNKNOWN), ("b", "b", Kind.UNKNOWN)]
    assert list(reader.problems) == ["operator Shuffle2030 isn't known"]


def test_columns_an_unknown_operator_makes_may_come_from_any_below() -> None:
    edges, _ = read([operator("com.example.Score", 1, output=[[attribute("score", 9)]]), leaf()])
    assert edges == [("score", "a", Kind.UNKNOWN), ("score", "b", Kind.UNKNOWN)]


def test_an_expression_of_spark_that_no_table_names_is_derived() -> None:
    sounding = expression("Soundex2030", 1)
    edges, reader = read([operator("Project", 1, projectList=[alias("s", 9, sounding, attribute("a", 1))]), leaf()])
    assert edges == [("s", "a", Kind.DERIVE)]
    assert not reader.problems


def test_nullif_of_spark_4_3_chooses_by_both_and_passes_on_the_first() -> None:
    equal = [expression("EqualTo", 2), attribute("a", 1), attribute("b", 2)]
    value = [expression("NullIf", 1), expression("NullIfResult", 2), *equal, attribute("a", 1)]
    edges, _ = read([operator("Project", 1, projectList=[alias("n", 9, *value)]), leaf()])
    assert edges == [("n", "a", Kind.DERIVE), ("n", "a", Kind.CONDITIONAL), ("n", "b", Kind.CONDITIONAL)]


def test_keys_are_in_no_text_however_they_are_written(subtests: pytest.Subtests) -> None:
    key = literal("SEKRIT")
    for name, kind in (("Hmac", Kind.HASH), ("AesEncrypt", Kind.MASK)):
        for written in ([key], [expression("Unhex", 1), key], [expression("Concat", 2), key, key]):
            with subtests.test(name, key=written[0]["class"]):
                value = [expression(name, 3), attribute("a", 1), *written, literal("SHA-256")]
                reader = PlanReader(OneTable())
                relation = reader.read([operator("Project", 1, projectList=[alias("h", 9, *value)]), leaf()])
                (column,) = relation.ordered()
                assert [(source.kind, source.masking) for source in column.sources] == [(kind, True)]
                assert column.text.endswith("(a, ?, ?)")


def test_anybody_elses_expression_is_a_black_box() -> None:
    hashing = {"class": "com.example.Geohash", "num-children": 1}
    edges, _ = read([operator("Project", 1, projectList=[alias("g", 9, hashing, attribute("a", 1))]), leaf()])
    assert edges == [("g", "a", Kind.EXTERNAL)]


def test_a_leaf_that_nothing_is_known_of_is_no_silence() -> None:
    edges, reader = read([operator("Project", 1, projectList=[[attribute("a", 1)]]), leaf("Mystery")])
    assert edges == [("a", None, Kind.UNKNOWN)]
    assert list(reader.problems) == ["what a Mystery reads isn't known"]


def test_an_attribute_from_nowhere_may_be_any_of_those_below() -> None:
    edges, reader = read([operator("Project", 1, projectList=[[attribute("x", 77)]]), leaf()])
    assert edges == [("x", "a", Kind.UNKNOWN), ("x", "b", Kind.UNKNOWN)]
    assert list(reader.problems) == ["the origin of column x isn't known"]


def test_a_permanent_view_is_read_besides_what_it_is_made_of() -> None:
    renamed = operator("Project", 1, projectList=[alias("x", 9, attribute("a", 1))])
    outer = operator("Project", 1, projectList=[alias("y", 10, attribute("x", 9))])
    nodes = [outer, operator("View", 1, isTempView=False), renamed, leaf()]
    edges, reader = read(nodes)
    assert edges == [("y", "a", Kind.RENAME), ("y", "x", Kind.RENAME)]
    assert [each.dataset for each in reader.inputs] == [T, VIEW]
    nodes[1] = operator("View", 1, isTempView=True)
    edges, reader = read(nodes)
    assert edges == [("y", "a", Kind.RENAME)]
    assert [each.dataset for each in reader.inputs] == [T]


def test_five_hundred_operators_of_a_thousand_columns() -> None:
    columns = [[attribute(f"c{i}", i)] for i in range(1_000)]
    nodes = [operator("Project", 1, projectList=columns) for _ in range(20)]
    nodes += [operator("SubqueryAlias", 1) for _ in range(480)]
    edges, _ = read([*nodes, operator("LogicalRelation", 0, output=columns)])
    assert len(edges) == 1_000
    assert {kind for _, _, kind in edges} == {Kind.COPY}
