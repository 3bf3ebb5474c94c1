"""From a record to the micro-batch that read it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from neo4j import Driver

_ALL_STEPS = 10_000


def traced(
    driver: Driver, target: Neo4jTarget, pid: int, records: Sequence[Record], options: Options
) -> dict[str, Any]:
    """Trace each record to its micro-batch, in rounds; the times.

    Raises:
        HeadwaterError: an answer isn't the one micro-batch that read the record.
    """
    reader = Reader(driver, target)

    def answer(record: Record) -> int:
        key = dataset_key(TENANT, record.topic.namespace, record.topic.name)
        start = Offsets(key, record.partition, record.offset, record.offset + 1)
        found = [hop.step for hop in trace(reader, start, depth=1, limit=_ALL_STEPS).hops]
        if [(step.first_batch, step.last_batch) for step in found] != [(record.batch_id, record.batch_id)]:
            raise HeadwaterError(f"A trace of {record} found {found}.")
        return 1

    (result,) = interleave(
        [Contestant("headwater", answer)],
        records,
        rounds=options.rounds,
        warm_up=math.ceil(options.warm_up / len(records)),
        processor=partial(processor_seconds, pid),
    )
    return measured(result)
