"""Records of topics, as traces and blast radii are asked for them."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from fastapi import Query

from headwater_consumers.api.parameters import LONGEST_NAME
from headwater_schemas.ranges import MOST_OFFSET

_MOST_PARTITION = 2**31 - 1
_YEAR_SECONDS = 31_536_000

_Offset = Annotated[int | None, Query(ge=0, le=MOST_OFFSET)]

Topic = Annotated[str | None, Query(min_length=1, max_length=LONGEST_NAME, description="The topic, by key or name.")]
TopicId = Annotated[
    str | None,
    Query(
        min_length=1,
        max_length=LONGEST_NAME,
        description="Kafka's id of the incarnation of the topic that is meant; by default any.",
    ),
]
Partition = Annotated[int | None, Query(ge=0, le=_MOST_PARTITION, description="Its partition.")]
FirstOffset = Annotated[_Offset, Query(description="The record's offset, or the first one's.")]
EndOffset = Annotated[_Offset, Query(description="The offset after the last one; by default just the one record.")]
Horizon = Annotated[
    float | None,
    Query(
        ge=0,
        le=_YEAR_SECONDS,
        allow_inf_nan=False,
        description="Seconds that a query's state keeps a record behind its watermark; wins over what the graph says.",
    ),
]


def seconds(horizon: float | None) -> timedelta | None:
    """As questions have it."""
    return None if horizon is None else timedelta(seconds=horizon)
