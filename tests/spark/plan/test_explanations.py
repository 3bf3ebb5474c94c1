"""Answers of explain_lineage: read by a program, by a person, and of frames with little lineage."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pyspark.sql import functions as F  # noqa: N812 - as all of Spark's documentation has it

from headwater_producers.spark.explain import explain_lineage

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_explanations_can_be_read(tables: SparkSession) -> None:
    explained = explain_lineage(tables.sql("SELECT upper(name) AS name, 1 AS one FROM people WHERE age < 3"))
    assert [output.path for output in explained.outputs] == ["name", "one"]
    table = explained.to_table().splitlines()
    assert table[0].split() == ["output", "input", "field", "type", "kind", "expression"]
    assert table[2].split()[0] == "name"
    assert table[-1].startswith("*")
    assert "<code>(age &lt; 3)</code>" in explained._repr_html_()
    source = explained.outputs[0].sources[0]
    assert (source.namespace, source.name and source.name.rsplit("/", 1)[-1], source.path) == ("file", "people", "name")
    assert (source.type, source.subtype, source.kind, source.masking) == ("DIRECT", "TRANSFORMATION", "DERIVE", False)
    [influence] = explained.influences
    assert (influence.path, influence.type, influence.subtype) == ("age", "INDIRECT", "FILTER")
    with pytest.raises(TypeError, match="classic Spark session"):
        explain_lineage("no frame")  # type: ignore[arg-type]


def test_rows_of_a_command_are_of_no_dataset(spark: SparkSession) -> None:
    emitted = explain_lineage(spark.sql("SET spark.app.name"))
    assert [output.path for output in emitted.outputs] == ["key", "value"]
    assert {output.sources[0].kind for output in emitted.outputs} == {"UNKNOWN"}
    assert emitted.incomplete_reason == "SetCommand is a command: its rows come from no dataset"


def test_outputs_are_in_the_frames_order_whatever_their_names(tables: SparkSession) -> None:
    names = ["a.b", "c`d", "x\ny", "名前", "<b>", "", "[]", "id", "id"]
    frame = tables.table("people").select(*(F.col("id").alias(name) for name in names))
    emitted = explain_lineage(frame)
    assert [output.path for output in emitted.outputs] == [
        "`a.b`",
        "`c``d`",
        "x\ny",
        "名前",
        "<b>",
        "",
        "`[]`",
        "id",
        "id",
    ]
    assert [output.sources[0].kind for output in emitted.outputs] == ["RENAME"] * 7 + ["COPY"] * 2
    assert emitted.to_table().count("\n") == 1 + len(names)


def test_a_frame_without_columns_has_no_outputs(tables: SparkSession) -> None:
    emitted = explain_lineage(tables.table("people").select())
    assert emitted.outputs == ()
    assert emitted.complete


@pytest.mark.nightly
def test_a_thousand_columns(tables: SparkSession) -> None:
    emitted = explain_lineage(tables.table("people").select(*((F.col("id") + n).alias(f"c{n}") for n in range(1_000))))
    assert [output.path for output in emitted.outputs] == [f"c{n}" for n in range(1_000)]
    assert emitted.complete
