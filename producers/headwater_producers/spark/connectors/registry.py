"""Registry of connectors, by the names of the JVM classes that they declare."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

from headwater_producers.spark.connectors.connector import Connector
from headwater_producers.spark.connectors.connector_answers import V1Table, V2Table
from headwater_producers.spark.connectors.connector_questions import SourceOffsets
from headwater_producers.spark.jvm.scala import class_name, items, kept, option
from headwater_producers.spark.plan.operators.operator import OperatorRule

logger = logging.getLogger(__name__)

_T = TypeVar("_T")


class Registry:
    """Connectors by the classes that they declare, in the order in which they were added.

    Callers ask the connectors that the registry finds for a subject: see `first_answer`.

    Attributes:
        operators: rules for the connectors' operators in a plan's JSON, by class.
    """

    def __init__(self, connectors: Iterable[Connector] = ()) -> None:
        self._connectors = list(connectors)
        self._index()

    def add(self, connector: Connector) -> None:
        """Add a connector after the others."""
        self._connectors.append(connector)
        self._index()

    def remove(self, connector: Connector) -> None:
        """Remove a connector."""
        self._connectors.remove(connector)
        self._index()

    def _index(self) -> None:
        self._by_class: dict[str, list[Connector]] = {}
        self._opens: dict[str, str] = {}
        self.operators: dict[str, OperatorRule] = {}
        for connector in self._connectors:
            for name in connector.classes:
                self._by_class.setdefault(name, []).append(connector)
            self._opens.update(connector.opens)
            self.operators.update(connector.operators)

    def __iter__(self) -> Iterator[Connector]:
        return iter(self._connectors)

    def of(self, subject: Any) -> Iterator[Connector]:
        """Yield the connectors that declare a JVM object's class; first the connectors of an object inside."""
        if subject is None:
            return
        if (accessor := self._opens.get(class_name(subject))) is not None:
            yield from self.of(kept(subject, accessor))
        yield from self.named(class_name(subject))

    def named(self, name: str) -> Sequence[Connector]:
        """List the connectors that declare a class."""
        return self._by_class.get(name, ())

    def of_source(self, source: SourceOffsets) -> list[Connector]:
        """List the candidate connectors of a streaming source, by its kind in the plan or its offset's keys."""
        keys = source.end.keys() if isinstance(source.end, dict) else set[str]()
        return [
            each
            for each in self._connectors
            if (source.kind in each.kinds if source.kind is not None else each.kinds)
            or (each.offset and keys >= each.offset)
        ]

    def mark_commits(self, session: Any, run_id: str, *, marked: bool = True) -> None:
        """Make a session's commits name the run of its application, or stop that (`marked` False). Never raises."""
        for each in self._connectors:
            try:
                (each.mark_commits if marked else each.unmark_commits)(session, run_id)
            except Exception:
                # The jars of the technology are missing, or Spark is gone.
                logger.debug("lineage capture can't mark commits", exc_info=True)

    def v1_table(self, table: Any) -> V1Table:
        """Describe a JVM `CatalogTable` by the connector of its provider."""
        found = option(kept(table, "provider"))
        provider = None if found is None else str(found)
        name = provider.lower() if provider is not None else ""
        described = first_answer(each.v1_table(table) for each in self._connectors if name in each.providers)
        return described or V1Table(table, provider)

    def v2_table(self, table: Any) -> V2Table:
        """Describe a JVM V2 `Table` by the connector of its class."""
        return first_answer(each.v2_table(table) for each in self.of(table)) or V2Table(table)

    def roots(self, plan: Any) -> list[Any]:
        """List the plans that hold the leaves: `plan` itself, or a command's inner plans if it has no children."""
        hidden = [each for connector in self.of(plan) for each in connector.hidden_plans(plan)]
        if hidden:
            return hidden
        # A command whose query is no child has the query as an inner child.
        if plan.children().isEmpty():
            return list(items(plan.innerChildren())) or [plan]
        return [plan]

    def leaves(self, plan: Any) -> Iterator[Any]:
        """Yield the leaves of the plans inside `plan`, and of their subqueries."""
        for root in self.roots(plan):
            yield from items(root.collectLeaves())
            for subquery in items(root.subqueriesAll()):
                yield from items(subquery.collectLeaves())


REGISTRY = Registry()
"""Connectors of this process, added by `connectors/__init__.py`."""


def first_answer(answers: Iterable[_T | None]) -> _T | None:
    """Return the first answer of a connector that isn't None; no later connector is asked.

    Example: `first_answer(each.read(leaf) for each in REGISTRY.of(leaf.subject))`
    """
    return next((answer for answer in answers if answer is not None), None)
