"""Traces: which micro-batches and runs a record went through, forwards to the ends or back to where it came from.

answer      parts of datasets, steps, hops
question    the ways to ask
spans       offset ranges: intersections, unions, what is left
uses        CONSUMED and PRODUCED as they are stored ⇒ parts
batches     micro-batches and runs as they are stored, also one after the other
search      the 32-ary search by batch id: never a scan of a query's intervals
locate      which micro-batches of which queries used a part
by_time     those that can only be bounded by time
match       whether a use has to do with a part; parts: what a batch gave out
state       what a query keeps from batch to batch, and so how far a record can spread
steps       micro-batches ⇒ hops; taken: what a hop is made of
follow      hop after hop; context: what the hops of one trace share
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
from headwater_consumers.analysis.trace.question import Offsets, Path, Times, VersionOf, trace, trace_in

__all__ = [
    "Hop",
    "OffsetSpan",
    "Offsets",
    "Part",
    "PartKind",
    "Path",
    "RunBrief",
    "Step",
    "StepKind",
    "Times",
    "Trace",
    "TraceDirection",
    "VersionOf",
    "trace",
    "trace_in",
]
