"""Physical plans of each INSERT of `FROM … INSERT INTO … INSERT INTO …`, on the Sparks that differ in them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from headwater_producers.spark.execution.executions import executions_of


def node(name: str, *children: Any) -> Any:
    """A node of a plan, as the JVM answers for it."""
    return SimpleNamespace(
        getClass=lambda: SimpleNamespace(getName=lambda: f"org.apache.spark.sql.execution.{name}"),
        children=lambda: SimpleNamespace(apply=children.__getitem__, size=lambda: len(children)),
        child=lambda: children[0],
    )


WRITES = [node("DataWritingCommandExec"), node("DataWritingCommandExec")]


@pytest.mark.parametrize(
    "executed",
    [
        pytest.param(node("UnionExec", *WRITES), id="until 4.2"),
        pytest.param(
            node("WholeStageCodegenExec", node("UnionExec", *(node("InputAdapter", write) for write in WRITES))),
            id="since 4.3",
        ),
    ],
)
def test_each_insert_has_its_own(executed: Any) -> None:
    statement = node("Union", node("InsertIntoHadoopFsRelationCommand"), node("InsertIntoHadoopFsRelationCommand"))
    execution = SimpleNamespace(analyzed=lambda: statement, executedPlan=lambda: executed)
    assert [each.executedPlan() for each in executions_of(execution, "multi-commands")] == WRITES
