"""From a record to the micro-batch that read it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from neo4j import Driver

from headwater.errors import HeadwaterError
from headwater_benchmarks.intervals.options import Options
from headwater_benchmarks.intervals.stream import TENANT, Record
from headwater_benchmarks.memory import processor_seconds
from headwater_benchmarks.report import measured
from headwater_benchmarks.rounds import Contestant, interleave
from headwater_consumers.analysis.reader import Reader
from headwater_consumers.analysis.trace import Offsets, trace
from headwater_consumers.graph.connection import Neo4jTarget
from headwater_consumers.graph.keys import dataset_key

_ALL_STEPS = 10_000


@dataclass(frozen=True, slots=True)
class Graph:
    """One that is up.

    Attributes:
        driver: to it.
        target: where it is.
        pid: of its server.
        records: of micro-batches that it has.
    """

    driver: Driver
    target: Neo4jTarget
    pid: int
    records: Sequence[Record]


def traced(graphs: Sequence[Graph], options: Options) -> list[dict[str, Any]]:
    """Trace records to their micro-batches, in rounds and in all graphs in turn; the times of each graph.

    Raises:
        HeadwaterError: an answer isn't the one micro-batch that read the record.
    """
    # Of every graph as many.
    questions = range(min(len(graph.records) for graph in graphs))
    results = interleave(
        [Contestant("headwater", partial(_answer, Reader(graph.driver, graph.target), graph)) for graph in graphs],
        questions,
        rounds=options.rounds,
        warm_up=math.ceil(options.warm_up / len(questions)),
        processor=partial(processor_seconds, *(graph.pid for graph in graphs)),
    )
    return list(map(measured, results))


def _answer(reader: Reader, graph: Graph, question: int) -> int:
    record = graph.records[question]
    key = dataset_key(TENANT, record.topic.namespace, record.topic.name)
    start = Offsets(key, record.partition, record.offset, record.offset + 1)
    found = [hop.step for hop in trace(reader, start, depth=1, limit=_ALL_STEPS).hops]
    if [(step.first_batch, step.last_batch) for step in found] != [(record.batch_id, record.batch_id)]:
        raise HeadwaterError(f"A trace of {record} found {found}.")
    return 1
