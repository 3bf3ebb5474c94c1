"""`bench intervals`: a query's events as bytes, and its micro-batches from chunk to chunk."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from headwater_benchmarks.estate.segments import Row
from headwater_benchmarks.intervals.encoded import EncodedStream
from headwater_benchmarks.intervals.run import goals
from headwater_benchmarks.intervals.stream import Stream
from headwater_schemas.codec import encode
from headwater_schemas.identity import record_key

pytestmark = pytest.mark.nightly


def test_events_are_encoded_as_one_by_one() -> None:
    stream = Stream(3, 1)
    for first, last in ((0, 16_384), (16_384, 16_500)):
        columns = stream.columns(first, last)
        encoded = EncodedStream(stream)
        values = list(encoded.values(columns, first))
        assert len(values) == last - first
        for row in (0, 1, 70, last - first - 1):
            event = stream.event(Row(columns, row), first + row)
            assert values[row] == encode(event)
            assert encoded.key == record_key(event)


def test_micro_batches_go_on_where_those_before_ended_and_records_are_found() -> None:
    stream = Stream(0, 1, wanted=frozenset({5, 16_390}))
    one, other = stream.columns(0, 16_384), stream.columns(16_384, 16_400)
    for name in ("in", "out"):
        assert (one.numbers[f"{name} to"][-1] == other.numbers[f"{name} from"][0]).all()
    assert [record.batch_id for record in stream.records] == [5, 16_390]
    record = stream.records[1]
    assert other.numbers["in from"][6, record.partition] <= record.offset < other.numbers["in to"][6, record.partition]
    assert (Stream(0, 1).columns(9, 10).numbers["time"] == one.numbers["time"][9]).all(), "whatever part is asked for"
    assert (np.diff(one.numbers["time"]) > 0).all()


@pytest.mark.parametrize(("large", "met"), [(3.0, True), (3.1, False)])
def test_a_trace_may_take_half_as_long_again_in_a_larger_graph(large: float, met: bool) -> None:
    def graph(name: str, milliseconds: float) -> dict[str, Any]:
        return {"name": name, "bytes_per_micro_batch": 121.0, "trace": {"p95_ms": {"median": milliseconds}}}

    *disk, trace = goals([graph("small", 2.0), graph("large", large)])
    assert [goal.met for goal in disk] == [False, False]
    assert trace.met is met
