"""Registry of connectors, by the names of the JVM classes that they declare."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from headwater_producers.spark.connectors.answer import (
    BatchLog,
    Committed,
    LoggedSource,
    RangeRead,
    Scanned,
    StreamLog,
    V1Table,
    V2Table,
)
from headwater_producers.spark.connectors.connector import Connector
from headwater_producers.spark.connectors.context import Context
from headwater_producers.spark.connectors.question import (
    CheckpointSource,
    CommandRun,
    JvmCommand,
    JvmLeaf,
    JvmScan,
    SourceOffsets,
    StreamSink,
)
from headwater_producers.spark.events.writes import Counts, Write
from headwater_producers.spark.jvm.files import TextFiles, TextFolder
from headwater_producers.spark.jvm.scala import class_name, items, kept, option
from headwater_producers.spark.plan.description import DatasetChange, PlanInput
from headwater_producers.spark.plan.leaves import Leaf
from headwater_producers.spark.plan.operators.operator import OperatorRule
from headwater_producers.spark.plan.written import Written
from headwater_schemas.naming.tables import Catalog

logger = logging.getLogger(__name__)

_T = TypeVar("_T")


class Registry:
    """Connectors by the classes that they declare. Each question goes to them in the order in which they were added.

    Args:
        connectors: the first ones.

    Attributes:
        operators: rules for the connectors' operators in a plan's JSON, by class.
    """

    def __init__(self, connectors: Iterable[Connector] = ()) -> None:
        self._connectors = list(connectors)
        self._index()

    def add(self, connector: Connector) -> None:
        """Add a connector behind the others."""
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

    def of(self, *subjects: Any) -> Iterator[Connector]:
        """Yield the connectors that declare a JVM object's class; those of an object inside it come first."""
        for subject in subjects:
            if subject is None:
                continue
            if (accessor := self._opens.get(class_name(subject))) is not None:
                yield from self.of(kept(subject, accessor))
            yield from self.named(class_name(subject))

    def named(self, name: str) -> Iterator[Connector]:
        """Yield the connectors that declare a class."""
        return iter(self._by_class.get(name, ()))

    def read(self, leaf: JvmLeaf) -> Leaf | None:
        """See `Connector.read`."""
        return _first(each.read(leaf) for each in self.of(leaf.subject))

    def write(self, command: JvmCommand) -> Written | None:
        """See `Connector.write`."""
        return _first(each.write(command) for each in self.of(command.subject))

    def change(self, command: JvmCommand) -> tuple[DatasetChange, ...] | None:
        """See `Connector.change`."""
        return _first(each.change(command) for each in self.named(command.name))

    def scanned(self, scan: JvmScan) -> Scanned | None:
        """See `Connector.scanned`."""
        return _first(each.scanned(scan) for each in self.of(scan.subject))

    def read_range(self, source: SourceOffsets) -> tuple[RangeRead, ...] | None:
        """See `Connector.read_range`."""
        return _first(each.read_range(source) for each in self.of_source(source))

    def of_source(self, source: SourceOffsets) -> Iterator[Connector]:
        """Yield the candidate connectors of a streaming source, by its kind in the plan or its offset's keys."""
        keys = source.end.keys() if isinstance(source.end, dict) else set[str]()
        for each in self._connectors:
            is_kind = source.kind in each.kinds if source.kind is not None else bool(each.kinds)
            if is_kind or (each.offset and keys >= each.offset):
                yield each

    def needs_start(self, source: SourceOffsets) -> bool:
        """See `Connector.needs_start`."""
        return any(each.needs_start for each in self.of_source(source))

    def logged(self, source: SourceOffsets, folder: TextFolder) -> LoggedSource | None:
        """See `Connector.logged`."""
        return _first(each.logged(source, folder) for each in self.of_source(source))

    def subscribed(self, offset: Any, folder: TextFolder | None = None) -> frozenset[str] | None:
        """See `Connector.subscribed`."""
        return _first(each.subscribed(offset, folder) for each in self._connectors)

    def origin(self, source: CheckpointSource) -> tuple[PlanInput, ...] | None:
        """See `Connector.origin`."""
        return _first(each.origin(source) for each in self._connectors)

    def batch_log(self, run: CommandRun) -> BatchLog | None:
        """See `Connector.batch_log`."""
        return _first(each.batch_log(run) for each in self.of(run.command.subject))

    def manifest(self, run: CommandRun, counts: Counts) -> Committed | None:
        """See `Connector.manifest`."""
        return _first(each.manifest(run, counts) for each in self.of(run.command.subject))

    def left_alone(self, write: Write, *, staged: bool) -> bool | None:
        """See `Connector.left_alone`."""
        return _first(each.left_alone(write, staged=staged) for each in self._connectors)

    def stream_log(self, sink: StreamSink) -> StreamLog | None:
        """See `Connector.stream_log`. By the sink itself, where it can be asked, and by its description."""
        asked = [*self.of(sink.sink), *self.named(sink.name)]
        return _first(each.stream_log(sink) for each in asked)

    def sink_at(self, path: str, files: TextFiles) -> str | None:
        """See `Connector.sink_at`."""
        return _first(each.sink_at(path, files) for each in self._connectors)

    def transaction(self, command: JvmCommand) -> tuple[str, int] | None:
        """See `Connector.transaction`."""
        return _first(each.transaction(command) for each in self.of(command.subject))

    def mark_commits(self, session: Any, run_id: str, *, marked: bool = True) -> None:
        """Make a session's commits name the run of its application, or no longer. Never raises."""
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
        for each in self._connectors:
            if provider is not None and provider.lower() in each.providers:
                described = each.v1_table(table)
                if described is not None:
                    return described
        return V1Table(table, provider)

    def catalog(self, context: Context, name: str) -> Catalog | None:
        """Return the naming of a session's catalog, by its settings; None: no connector knows it."""
        return _first(each.catalog(context, name) for each in self._connectors)

    def v2_table(self, table: Any) -> V2Table:
        """Describe a JVM V2 `Table` by the connector of its class."""
        found = (each.v2_table(table) for each in self.of(table))
        return next((described for described in found if described is not None), V2Table(table))

    def roots(self, plan: Any) -> list[Any]:
        """List the plans inside `plan`: itself, or those that it has in place of children."""
        hidden = [each for connector in self.of(plan) for each in connector.hidden_plans(plan)]
        if hidden:
            return hidden
        # Commands that keep their query to themselves show it as an inner child.
        if plan.children().isEmpty():
            return list(items(plan.innerChildren())) or [plan]
        return [plan]

    def leaves(self, plan: Any) -> Iterator[Any]:
        """Yield the leaves of these plans, and of their subqueries."""
        for root in self.roots(plan):
            yield from items(root.collectLeaves())
            for subquery in items(root.subqueriesAll()):
                yield from items(subquery.collectLeaves())


REGISTRY = Registry()
"""Connectors of this process, added by `connectors/__init__.py`."""


def _first(answers: Iterable[_T | None]) -> _T | None:
    """Return the first connector's answer that isn't None; no later connector is asked."""
    return next((answer for answer in answers if answer is not None), None)
