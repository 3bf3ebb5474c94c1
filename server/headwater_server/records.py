"""Query parameters that name records of a topic: by offset, by ranges, or by time of arrival."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated

from fastapi import Query
from pydantic import Field

from headwater_analysis.errors import QuestionError
from headwater_analysis.trace import Offsets, Starts, Times, parse_offsets
from headwater_schemas.ranges import MOST_OFFSET, RangeError
from headwater_server.parameters import LONGEST_NAME, ReadTime, Time

_MOST_PARTITION = 2**31 - 1

Named = Annotated[str | None, Query(min_length=1, max_length=LONGEST_NAME)]
_Offset = Annotated[int | None, Query(ge=0, le=MOST_OFFSET)]
_Range = Annotated[str, Field(min_length=1, max_length=64)]


@dataclass(frozen=True, slots=True)
class RecordsQuery:
    """Query parameters that name records; None if not given."""

    topic: str | None
    partition: int | None
    offset: int | None
    end: int | None
    topic_id: str | None
    range: list[str] | None
    time: Time | None
    until: Time | None
    read_time: bool | None

    def given(self) -> set[str]:
        """Names of the parameters that are given."""
        return {field.name for field in fields(self) if getattr(self, field.name) is not None}

    def chosen(self) -> Starts | None:
        """Records that the parameters name; None if they name no records, or mix several forms of naming records.

        Raises:
            QuestionError: a range is invalid.
        """
        given = self.given()
        match self:
            case RecordsQuery(topic=str(topic), partition=int(partition), offset=int(offset)) if given <= _OFFSETS:
                end = min(offset + 1, MOST_OFFSET) if self.end is None else self.end
                return Offsets(topic, partition, offset, end, self.topic_id)
            case RecordsQuery(topic=str(topic), range=[*ranges]) if given <= _RANGES:
                try:
                    return tuple(parse_offsets(topic, text, self.topic_id) for text in ranges)
                except RangeError as error:
                    raise QuestionError(str(error), field="range") from error
            case RecordsQuery(topic=str(topic), time=time) if time is not None and given <= _TIMES:
                until = time if self.until is None else self.until
                return Times(topic, self.partition, time, until, read=bool(self.read_time))
        return None


_OFFSETS = {"topic", "partition", "offset", "end", "topic_id"}
_RANGES = {"topic", "range", "topic_id"}
_TIMES = {"topic", "partition", "time", "until", "read_time"}


async def records_query(
    *,
    topic: Annotated[Named, Query(description="The topic, by key or name.")] = None,
    partition: Annotated[int | None, Query(ge=0, le=_MOST_PARTITION, description="A partition of the topic.")] = None,
    offset: Annotated[_Offset, Query(description="Offset of the record, or of the first record.")] = None,
    end: Annotated[_Offset, Query(description="Offset after the last record; default: only one record.")] = None,
    topic_id: Annotated[
        Named, Query(description="Kafka's id of the topic's incarnation; default: any incarnation.")
    ] = None,
    range_: Annotated[
        list[_Range] | None,
        Query(
            alias="range",
            max_length=1_000,
            description="Ranges in place of `partition` and `offset`: `0:120..130`; of every partition `all:120..130`; "
            "the whole topic `all`. The end isn't part of a range.",
        ),
    ] = None,
    time: Annotated[Time | None, Query(description="The time when the records arrived in Kafka.")] = None,
    until: Annotated[Time | None, Query(description="The end of a span that begins at `time`.")] = None,
    read_time: ReadTime = False,
) -> RecordsQuery:
    """Collect the query parameters that name records."""
    return RecordsQuery(topic, partition, offset, end, topic_id, range_, time, until, read_time or None)
