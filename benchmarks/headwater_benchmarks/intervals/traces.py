"""From a record to the micro-batch that read it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from headwater.errors import HeadwaterError
from headwater_analysis.reader import Reader
from headwater_analysis.trace import Offsets, trace
from headwater_benchmarks.memory import processor_seconds
from headwater_benchmarks.report import measured
from headwater_benchmarks.rounds import Contestant, interleave
from headwater_graph.keys import dataset_key
from headwater_schemas.events import DatasetRef

_TENANT = "default"
_ALL_STEPS = 10_000
_WARM_UP = 80
"""Questions that are answered before those that count."""


@dataclass(frozen=True, slots=True)
class Sought:
    """A record that a micro-batch read.

    Attributes:
        batch_id: of the micro-batch.
        topic: namespace and name.
        partition, offset: of the record.
    """

    batch_id: int
    topic: DatasetRef
    partition: int
    offset: int


def traced(reader: Reader, records: Sequence[Sought], *, rounds: int, neo4j_pid: int) -> dict[str, Any]:
    """Trace each record to its micro-batch in each round; the times.

    Raises:
        HeadwaterError: an answer isn't the one micro-batch that read the record.
    """
    [result] = interleave(
        [Contestant("headwater", partial(_answer, reader))],
        records,
        rounds=rounds,
        warm_up=math.ceil(_WARM_UP / len(records)),
        processor=partial(processor_seconds, neo4j_pid),
    )
    return measured(result)


def _answer(reader: Reader, record: Sought) -> int:
    key = dataset_key(_TENANT, record.topic.namespace, record.topic.name)
    start = Offsets(key, record.partition, record.offset, record.offset + 1)
    found = [hop.step for hop in trace(reader, start, depth=1, limit=_ALL_STEPS).hops]
    if [(step.first_batch, step.last_batch) for step in found] != [(record.batch_id, record.batch_id)]:
        raise HeadwaterError(f"A trace of {record} found {found}.")
    return 1
