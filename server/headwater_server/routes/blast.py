"""The blast radius of bad data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Query
from starlette.responses import Response

from headwater_analysis.blast import BadBatches, BadRun, Blast, Offsets, blast
from headwater_analysis.errors import QuestionError
from headwater_analysis.trace import Starts, Times
from headwater_schemas.ranges import MOST_OFFSET
from headwater_server.asking import Ask, area
from headwater_server.parameters import (
    LONGEST_NAME,
    Depth,
    EndOffset,
    FirstOffset,
    Horizon,
    Partition,
    Ranges,
    ReadTime,
    Time,
    Topic,
    TopicId,
    hops,
    ranges_of,
    seconds,
)

router = area("blast")

_WAYS = (
    "Name one origin: `run`; or `query`, `first_batch`; or `topic`, `partition`, `offset`; or `topic`, `range`; or "
    "`topic`, `time`."
)
_OFFSETS = {"topic", "partition", "offset", "end", "topic_id"}
_RANGES = {"topic", "range", "topic_id"}
_TIMES = {"topic", "partition", "time", "until", "read_time"}
_BATCHES = {"query", "first_batch", "last_batch"}

Named = Annotated[str | None, Query(min_length=1, max_length=LONGEST_NAME)]
Batch = Annotated[int | None, Query(ge=0, le=MOST_OFFSET)]


@dataclass(frozen=True, slots=True)
class BlastQuery:
    """The origin as the query has it."""

    run: str | None
    query: str | None
    first_batch: int | None
    last_batch: int | None
    topic: str | None
    partition: int | None
    offset: int | None
    end: int | None
    topic_id: str | None
    range: list[str] | None
    time: Time | None
    until: Time | None
    read_time: bool | None

    def origin(self) -> BadRun | BadBatches | Starts:
        """The one that was chosen.

        Raises:
            QuestionError: none was, or several at once.
        """
        given = {name for name in self.__slots__ if getattr(self, name) is not None}
        match self:
            case BlastQuery(run=str(run)) if given == {"run"}:
                return BadRun(run)
            case BlastQuery(query=str(query), first_batch=int(first)) if given <= _BATCHES:
                return BadBatches(query, first, first if self.last_batch is None else self.last_batch)
            case BlastQuery(topic=str(topic), partition=int(partition), offset=int(offset)) if given <= _OFFSETS:
                end = min(offset + 1, MOST_OFFSET) if self.end is None else self.end
                return Offsets(topic, partition, offset, end, self.topic_id)
            case BlastQuery(topic=str(topic), range=[*ranges]) if given <= _RANGES:
                return ranges_of(topic, ranges, self.topic_id)
            case BlastQuery(topic=str(topic), time=time) if time is not None and given <= _TIMES:
                until = time if self.until is None else self.until
                return Times(topic, self.partition, time, until, read=bool(self.read_time))
        raise QuestionError(_WAYS, field=min(given, default="run"))


async def _asked(
    *,
    run: Annotated[Named, Query(description="A bad run, by its id.")] = None,
    query: Annotated[Named, Query(description="A streaming query with bad micro-batches, by name or id.")] = None,
    first_batch: Annotated[Batch, Query(description="The first of them.")] = None,
    last_batch: Annotated[Batch, Query(description="The last of them; by default just the first.")] = None,
    topic: Topic = None,
    partition: Partition = None,
    offset: FirstOffset = None,
    end: EndOffset = None,
    topic_id: TopicId = None,
    range_: Ranges = None,
    time: Annotated[Time | None, Query(description="The time when bad records arrived in Kafka.")] = None,
    until: Annotated[Time | None, Query(description="The end of a span that begins at `time`.")] = None,
    read_time: ReadTime = False,
) -> BlastQuery:
    records = (topic, partition, offset, end, topic_id, range_, time, until, read_time or None)
    return BlastQuery(run, query, first_batch, last_batch, *records)


@router.get("/blast", response_model=Blast, operation_id="blast")
def radius(
    ask: Ask,
    asked: Annotated[BlastQuery, Depends(_asked)],
    *,
    depth: Depth = "all",
    limit: Annotated[int | None, Query(ge=1, le=1_000, description="Most steps.")] = None,
    horizon: Horizon = None,
) -> Response:
    """All that came of a bad run, bad micro-batches or records, by partition and offsets, minus what was replaced."""
    most = ask.page(limit)
    return ask(
        lambda reader: blast(
            reader,
            asked.origin(),
            depth=hops(depth),
            limit=most,
            horizon=seconds(horizon),
            arrivals=ask.graph.arrivals,
        )
    )
