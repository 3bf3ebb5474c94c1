"""Traces: the micro-batches and runs that a record went through, forwards or backwards.

traced_parts  parts of datasets, steps, hops
starts        question: where a trace starts
arrivals      records by the time when they arrived in Kafka
uses          stored CONSUMED and PRODUCED relationships ⇒ parts
prefetch      batched look-up for the next hops
batches       micro-batches and runs as the graph stores them, by id or in order
search        the 32-ary search by batch id, without a scan of a query's intervals
locate        search for the micro-batches that used given offsets
indexed       search for the micro-batches and runs that used given files or versions, by index
by_time       hops whose micro-batches are bounded only by time
match         overlap of a CONSUMED or PRODUCED with a part
parts         the parts that a batch read or wrote
plans         plans that keep state
state         micro-batches that a record can reach through a query's state
steps         micro-batches ⇒ hops
summarized    micro-batches that the graph no longer stores individually
drafts        draft of a hop, which has no number yet, and its micro-batches
follow        search hop by hop
context       shared state of one trace
"""

from __future__ import annotations

from headwater_analysis.trace.arrivals import Arrivals, ArrivedRange, ArrivedRecords
from headwater_analysis.trace.context import Archived
from headwater_analysis.trace.starts import (
    Offsets,
    Path,
    Starts,
    Times,
    VersionOf,
    parse_offsets,
    trace,
    trace_in,
)
from headwater_analysis.trace.traced_parts import (
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
