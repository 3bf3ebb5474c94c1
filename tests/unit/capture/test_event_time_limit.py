"""Event time of plans with as many nodes as are read, and with more."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from headwater_producers.spark.jvm.event_time import event_time

STATEFUL = "TransformWithState"


def node(name: str, *children: Any) -> Any:
    """A streaming node of a plan, as the JVM answers for it."""
    return SimpleNamespace(
        getClass=lambda: SimpleNamespace(getName=lambda: f"org.apache.spark.sql.catalyst.plans.logical.{name}"),
        children=lambda: SimpleNamespace(apply=children.__getitem__, size=lambda: len(children)),
        isStreaming=lambda: True,
        simpleString=lambda _fields: name,
    )


def chain(length: int) -> Any:
    """A plan of so many nodes, one below the other, with a stateful operator at the top and at the bottom."""
    plan = node(STATEFUL)
    for _ in range(length - 2):
        plan = node("Filter", plan)
    return node(STATEFUL, plan)


@pytest.mark.parametrize(
    ("length", "found"),
    [
        pytest.param(500, {"statefulOperators": [STATEFUL, STATEFUL]}, id="all nodes are read"),
        # The first 500 nodes show one operator; a horizon of one operator would be wrong for two.
        pytest.param(501, {}, id="a node is left"),
    ],
)
def test_a_plan_that_is_not_read_whole_has_no_event_time(length: int, found: dict[str, Any]) -> None:
    logical = SimpleNamespace(EventTimeWatermark=SimpleNamespace())
    catalyst = SimpleNamespace(plans=SimpleNamespace(logical=logical))
    spark = SimpleNamespace(sql=SimpleNamespace(catalyst=catalyst))
    jvm = SimpleNamespace(org=SimpleNamespace(apache=SimpleNamespace(spark=spark)))
    assert event_time(chain(length), jvm) == found
