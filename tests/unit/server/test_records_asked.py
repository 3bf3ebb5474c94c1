"""Records of a topic as queries of `/traces` and `/blast` name them."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from headwater_analysis.errors import QuestionError
from headwater_analysis.trace import Offsets, Starts, Times
from headwater_server.records import RecordsQuery
from headwater_server.routes.blast import BlastQuery
from headwater_server.routes.traces import TraceQuery

if TYPE_CHECKING:
    from headwater_analysis.blast import BadBatches, BadRun

AT = datetime(2025, 1, 31, tzinfo=UTC)


def asked(of: type[TraceQuery | BlastQuery], **given: Any) -> BadRun | BadBatches | Starts:
    records = RecordsQuery(**{field.name: None for field in dataclasses.fields(RecordsQuery)} | given)
    query = of(None, None, None, None, records)
    return query.start() if isinstance(query, TraceQuery) else query.origin()


def test_ranges_and_times(subtests: pytest.Subtests) -> None:
    cases: list[tuple[dict[str, Any], Starts]] = [
        ({"partition": 0, "offset": 5}, Offsets("t", 0, 5, 6)),
        ({"range": ["0:5..9", "all:7"]}, (Offsets("t", 0, 5, 9), Offsets("t", None, 7, 8))),
        ({"range": ["1:5"], "topic_id": "id"}, (Offsets("t", 1, 5, 6, "id"),)),
        ({"time": AT}, Times("t", None, AT, AT)),
        ({"time": AT, "partition": 2, "read_time": True}, Times("t", 2, AT, AT, read=True)),
    ]
    refused: list[dict[str, Any]] = [{"range": ["5..9"]}, {"range": ["0:9..5"]}, {"range": ["0:5"], "offset": 5}, {}]
    for of in (TraceQuery, BlastQuery):
        for given, expected in cases:
            with subtests.test(of=of, given=given):
                assert asked(of, topic="t", **given) == expected
        for given in refused:
            with subtests.test(of=of, given=given), pytest.raises(QuestionError):
                asked(of, topic="t", **given)
