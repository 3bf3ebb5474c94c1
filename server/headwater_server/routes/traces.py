"""Traces: the micro-batch that consumed a record and what it became; the records that a file was made from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Query
from starlette.responses import Response

from headwater_analysis.errors import QuestionError
from headwater_analysis.trace import Offsets, Path, Starts, Times, Trace, TraceDirection, VersionOf, trace
from headwater_schemas.ranges import MOST_OFFSET
from headwater_server.asking import Ask, area
from headwater_server.parameters import (
    LONGEST_NAME,
    AnyCase,
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

router = area("traces")

_WAYS = (
    "Name one start: `topic`, `partition`, `offset`; or `topic`, `range`; or `topic`, `time`; or `path`; or "
    "`dataset`, `version`."
)

Named = Annotated[str | None, Query(min_length=1, max_length=LONGEST_NAME)]


@dataclass(frozen=True, slots=True)
class TraceQuery:
    """The start as the query has it."""

    topic: str | None
    partition: int | None
    offset: int | None
    end: int | None
    topic_id: str | None
    time: Time | None
    until: Time | None
    read_time: bool | None
    range: list[str] | None
    path: str | None
    dataset: str | None
    version: str | None
    format: str | None

    def start(self) -> Starts:
        """The one way that was chosen.

        Raises:
            QuestionError: none was, or several at once.
        """
        given = {name for name in self.__slots__ if getattr(self, name) is not None}
        match self:
            case TraceQuery(topic=str(topic), partition=int(partition), offset=int(offset)) if given <= _OFFSETS:
                end = min(offset + 1, MOST_OFFSET) if self.end is None else self.end
                return Offsets(topic, partition, offset, end, self.topic_id)
            case TraceQuery(topic=str(topic), time=time) if time is not None and given <= _TIMES:
                until = time if self.until is None else self.until
                return Times(topic, self.partition, time, until, read=bool(self.read_time))
            case TraceQuery(topic=str(topic), range=[*ranges]) if given <= _RANGES:
                return ranges_of(topic, ranges, self.topic_id)
            case TraceQuery(path=str(path)) if given == {"path"}:
                return Path(path)
            case TraceQuery(dataset=str(dataset), version=str(version)) if given <= _VERSION:
                return VersionOf(dataset, version, self.format)
        raise QuestionError(_WAYS, field=min(given, default="topic"))


_OFFSETS = {"topic", "partition", "offset", "end", "topic_id"}
_TIMES = {"topic", "partition", "time", "until", "read_time"}
_RANGES = {"topic", "range", "topic_id"}
_VERSION = {"dataset", "version", "format"}


async def _asked(
    *,
    topic: Topic = None,
    partition: Partition = None,
    offset: FirstOffset = None,
    end: EndOffset = None,
    topic_id: TopicId = None,
    range_: Ranges = None,
    time: Annotated[Time | None, Query(description="The time when records arrived in Kafka.")] = None,
    until: Annotated[Time | None, Query(description="The end of a span that begins at `time`.")] = None,
    read_time: ReadTime = False,
    path: Annotated[Named, Query(description="A file, or a partition of files, by path.")] = None,
    dataset: Annotated[Named, Query(description="A table, by key or name.")] = None,
    version: Annotated[Named, Query(description="Its snapshot id or version number.")] = None,
    format_: Annotated[Named, Query(alias="format", description="Where it isn't delta, iceberg or hudi.")] = None,
) -> TraceQuery:
    by_read = read_time or None
    return TraceQuery(
        topic, partition, offset, end, topic_id, time, until, by_read, range_, path, dataset, version, format_
    )


@router.get("/traces", response_model=Trace, operation_id="traces")
def traces(
    ask: Ask,
    asked: Annotated[TraceQuery, Depends(_asked)],
    *,
    direction: Annotated[
        TraceDirection, AnyCase, Query(description="Where it went, or where it came from.")
    ] = TraceDirection.FORWARD,
    depth: Depth = 1,
    limit: Annotated[int | None, Query(ge=1, le=1_000, description="Most steps.")] = None,
    horizon: Horizon = None,
) -> Response:
    """Trace records (by offset, or the time when they arrived), a file or a table's version, forward or back."""
    return ask(
        lambda reader: trace(
            reader,
            asked.start(),
            direction=direction,
            depth=hops(depth),
            limit=ask.page(limit),
            horizon=seconds(horizon),
            arrivals=ask.graph.arrivals,
        )
    )
