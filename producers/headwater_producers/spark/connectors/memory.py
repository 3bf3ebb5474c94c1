"""In-memory connector: Spark's sources and sinks for tests, and sinks that pass rows to code."""

from __future__ import annotations

from typing import Final

from headwater_producers.spark.connectors.catalog.writes import continuous_sink, unnamed
from headwater_producers.spark.connectors.connector import Connector
from headwater_producers.spark.connectors.connector_questions import JvmCommand, JvmLeaf
from headwater_producers.spark.jvm.scala import class_name, setting
from headwater_producers.spark.plan.description import PlanInput, PlanOutput, SourceKind, StreamingLink, WriteMode
from headwater_producers.spark.plan.leaves import Leaf
from headwater_producers.spark.plan.written import WrittenOutputs

_RATES: Final = frozenset({"RateStreamTable", "RatePerMicroBatchTable"})
_CALLBACKS: Final = frozenset({"ForeachBatchSink", "ForeachWriterTable", "ForeachWrite"})
_MEMORY: Final = "MemorySink"
_CONTINUOUS: Final = frozenset(
    f"{name}{kind}" for name in ("Console", "Memory", "Noop") for kind in ("Write", "StreamingWrite")
)


class Generated(Connector):
    """Connector of Spark's `rate`, `console`, `memory`, `noop`, and of `foreach` and `foreachBatch`."""

    classes = frozenset({*_RATES, *_CALLBACKS, *_CONTINUOUS, _MEMORY})

    def read(self, leaf: JvmLeaf) -> Leaf | None:
        if not leaf.is_streamed:
            return None
        read = PlanInput(
            dataset=leaf.context.in_memory("rate"),
            kind=SourceKind.GENERATED,
            type="STREAM",
            schema=leaf.schema(),
            source_index=leaf.index,
        )
        return Leaf(inputs=(read,))

    def write(self, command: JvmCommand) -> WrittenOutputs | None:
        name = class_name(command.subject)
        if command.name == "WriteToContinuousDataSource":
            return _continuous(command) if name in _CONTINUOUS else None
        if name in _CALLBACKS:
            return WrittenOutputs()  # these sinks write no dataset
        # A memory sink's table has the name of its query, and an application may have several.
        query = setting(command.options, "queryName")
        return WrittenOutputs((unnamed(command, command.subject, command.mode, part=query),))


def _continuous(command: JvmCommand) -> WrittenOutputs:
    sink = continuous_sink(command)
    dataset = command.context.in_memory(sink.lower())
    output = PlanOutput(dataset=dataset, kind=SourceKind.GENERATED, mode=WriteMode.APPEND, format=sink.lower())
    return WrittenOutputs((output,), streaming=StreamingLink(sink=sink, sink_kind=output.kind))
