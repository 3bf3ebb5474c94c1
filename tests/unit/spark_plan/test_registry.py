"""Connectors that are asked, and their order, without a JVM."""

from __future__ import annotations

from typing import Any

from headwater_producers.spark.connectors.connector import Connector
from headwater_producers.spark.connectors.connector_answers import V2Table
from headwater_producers.spark.connectors.registry import Registry


class Java:
    """A JVM object of a class, as py4j shows it."""

    def __init__(self, name: str, **accessors: Any) -> None:
        self._name = name
        self._accessors = accessors
        self.asked: list[str] = []

    def getClass(self) -> Java:  # noqa: N802 - Java's name
        return self

    def getName(self) -> str:  # noqa: N802 - Java's name
        return f"org.example.{self._name}"

    def __getattr__(self, name: str) -> Any:
        self.asked.append(name)
        return lambda: self._accessors[name]


class Boxes(Connector):
    classes = frozenset({"Box"})
    opens = {"Box": "content"}  # noqa: RUF012 - of the class


class Pearls(Connector):
    classes = frozenset({"Pearl", "Box"})

    def v2_table(self, table: Any) -> V2Table | None:
        return V2Table("a pearl's") if table.getName().endswith("Pearl") else None


def test_what_is_inside_is_asked_about_first_and_fetched_once() -> None:
    boxes, pearls = Boxes(), Pearls()
    registry = Registry([boxes, pearls])
    box = Java("Box", content=Java("Pearl"))
    assert list(registry.of(box)) == [pearls, boxes, pearls]
    assert list(registry.of(box)) == [pearls, boxes, pearls]
    assert box.asked == ["content"]


def test_a_class_that_nobody_declares_has_the_general_answer() -> None:
    registry = Registry([Boxes(), Pearls()])
    assert registry.v2_table(Java("Pearl")).table == "a pearl's"
    stone = Java("Stone")
    assert registry.v2_table(stone).table is stone
    assert list(registry.of(None)) == list(registry.of(stone)) == []


def test_one_that_is_taken_out_is_asked_no_more() -> None:
    pearls = Pearls()
    registry = Registry([Boxes()])
    registry.add(pearls)
    registry.remove(pearls)
    assert list(registry.named("Pearl")) == []
