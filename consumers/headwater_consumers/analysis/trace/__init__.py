"""Traces: which micro-batches and runs a record went through, forwards or backwards.

answer      parts of datasets, steps, hops
question    the forms of the question
arrivals    records by the time when they arrived in Kafka
spans       offset ranges: intersections, unions, differences
uses        stored CONSUMED and PRODUCED relationships ⇒ parts
ahead       what the next hops will ask, asked at once
batches     reads micro-batches and runs, by id or in order
search      the 32-ary search by batch id, without a scan of a query's intervals
locate      finds the micro-batches that used given offsets
indexed     finds the micro-batches and runs that used given files or versions, by index
by_time     hops that only time bounds
match       whether a CONSUMED or PRODUCED concerns a part
parts       the parts that a batch read or wrote
plans       plans that keep state
state       which micro-batches a record can reach through a query's state
steps       micro-batches ⇒ hops
summarized  micro-batches that are no longer kept one by one
taken       a hop before it is numbered, and what it is made of
follow      follows parts hop by hop
context     what the hops of one trace share
"""

from __future__ import annotations

from headwater_consumers.analysis.trace.answer import (
    Hop,
    OffsetSpan,
    Part,
    PartKind,
    RunBrief,
    Step,
    StepKind,
    Trace,
    TraceDirection,
)
from headwater_consumers.analysis.trace.arrivals import Arrivals, ArrivedRange, ArrivedRecords
from headwater_consumers.analysis.trace.context import Archived
from headwater_consumers.analysis.trace.question import (
    Offsets,
    Path,
    Starts,
    Times,
    VersionOf,
    parse_offsets,
    trace,
    trace_in,
)

__all__ = [
    "Archived",
    "Arrivals",
    "ArrivedRange",
    "ArrivedRecords",
    "Hop",
    "OffsetSpan",
    "Offsets",
    "Part",
    "PartKind",
    "Path",
    "RunBrief",
    "Starts",
    "Step",
    "StepKind",
    "Times",
    "Trace",
    "TraceDirection",
    "VersionOf",
    "parse_offsets",
    "trace",
    "trace_in",
]
