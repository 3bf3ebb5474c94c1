"""Answers of traces: parts of datasets, steps, hops."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated

from headwater_analysis.assets import Asset
from headwater_analysis.texts import TEXT
from headwater_graph.facts.spans import Spans, flat, union
from headwater_schemas.events import Certainty


class TraceDirection(StrEnum):
    """Direction of a trace. FORWARD: steps that read a part. BACKWARD: steps that wrote the part."""

    FORWARD = "FORWARD"
    BACKWARD = "BACKWARD"


class PartKind(StrEnum):
    """Form of a part's description: see `Part`."""

    OFFSETS = "OFFSETS"
    FILES = "FILES"
    SNAPSHOT = "SNAPSHOT"
    CHANGES = "CHANGES"
    OTHER = "OTHER"
    UNKNOWN = "UNKNOWN"


class StepKind(StrEnum):
    """Kind of a step.

    - MICRO_BATCHES: micro-batches of one run of a query, or of an unknown run.
    - RUN: a batch run.
    - CONFLICT: the first execution of a micro-batch that ran again later with other offsets.
    - SUMMARY: micro-batches of one day and run that the graph no longer stores individually; some of them used the
      part.
    - MISSING: consecutive micro-batches that the graph lacks; one of them may have used the part.
    """

    MICRO_BATCHES = "MICRO_BATCHES"
    RUN = "RUN"
    CONFLICT = "CONFLICT"
    SUMMARY = "SUMMARY"
    MISSING = "MISSING"


@dataclass(frozen=True, slots=True, order=True)
class OffsetSpan:
    """Half-open range `[start, end)` of one Kafka partition.

    Attributes:
        partition: number of the partition.
        start: first offset.
        end: offset after the last.
    """

    partition: int
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a dataset. The kind decides which fields are set.

    | kind     | fields                                                                    |
    |----------|---------------------------------------------------------------------------|
    | OFFSETS  | `offsets`, `topic_id`                                                     |
    | FILES    | `files` (the listed ones), `file_count`; `partitions`, if not all are listed |
    | SNAPSHOT | `format`, `version`, `partitions`                                         |
    | CHANGES  | of a table's stream: `format`, `from_version` (exclusive), `version`      |
    | OTHER    | `text`: a position that only its source understands                       |
    | UNKNOWN  | none: any data written from `since` to `until`                            |

    Attributes:
        dataset: the dataset.
        kind: see above.
        certainty: EXACT, INFERRED, UPPER_BOUND (the actual part may be smaller than this one) or UNKNOWN.
        topic_id: Kafka's id of the topic's incarnation, where known.
        offsets: offset ranges by partition, ascending.
        files: paths; at most a hundred of each micro-batch or run are known.
        file_count: number of files, listed or not; None: unknown.
        format: `iceberg`, `delta`, `files`.
        version: snapshot id, or the last version of a range.
        from_version: for a range: the version before the range's first version.
        partitions: partitions that contain the part, as `key=value` paths; empty if unknown.
        text: the position as text.
        rows: number of rows, where known.
        since: earliest time at which the part can have been written.
        until: latest time at which the part can have been written.
        possible: whether the part is only possibly derived from the step's inputs (backwards: only possibly a source of
            the step's outputs). Either the producer doesn't record which inputs went into which output, or the job
            filters or joins rows and doesn't record which rows passed. The certainty is UPPER_BOUND at most.
    """

    dataset: Asset
    kind: PartKind
    certainty: Certainty
    topic_id: str | None = None
    offsets: tuple[OffsetSpan, ...] = ()
    files: Annotated[tuple[str, ...], TEXT] = ()
    file_count: int | None = None
    format: str | None = None
    version: str | None = None
    from_version: str | None = None
    partitions: tuple[str, ...] = ()
    text: Annotated[str | None, TEXT] = None
    rows: int | None = None
    since: datetime | None = None
    until: datetime | None = None
    possible: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RunBrief:
    """Summary of a run.

    Attributes:
        run_id: id of the run; for a streaming query, the id of a start.
        code_version, config_version: versions of the run's code and configuration.
        state: COMPLETE, FAIL …; None for a streaming run.
        first_batch, last_batch: first and last of the step's micro-batches that this run executed.
    """

    run_id: str
    code_version: str | None = None
    config_version: str | None = None
    state: str | None = None
    first_batch: int | None = None
    last_batch: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Micro-batches of one query, or a batch run, which read parts of datasets and wrote others.

    Attributes:
        kind: kind of the step.
        job: job of the run or query.
        runs: the batch run, or the start of the query that the micro-batches belong to. There may be several starts, at
            most ten, if only time bounds the step or if the query keeps state.
        query_id, query_name: id and name of the streaming query.
        first_batch, last_batch: the first and last micro-batch that used the part, both included.
        batches: number of micro-batches that are known to have used the part; None if not counted.
        spread_first_batch, spread_last_batch: the range of micro-batches extended by the query's state. Forwards, the
            range ends at the last micro-batch whose output may depend on the part. Backwards, the range begins at the
            first micro-batch whose input may have contributed. Equal to `first_batch` and `last_batch` if the query
            keeps no state.
        started_at, ended_at: start of the first and end of the last micro-batch, or of the run.
        keeps_state: whether the query keeps state between micro-batches; None if unknown.
    """

    kind: StepKind
    job: Asset | None
    runs: tuple[RunBrief, ...]
    query_id: str | None = None
    query_name: str | None = None
    first_batch: int | None = None
    last_batch: int | None = None
    batches: int | None = None
    spread_first_batch: int | None = None
    spread_last_batch: int | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    keeps_state: bool | None = None

    @property
    def last_spread(self) -> int | None:
        """Last micro-batch that used the part, or to which state spread its records."""
        return self.last_batch if self.spread_last_batch is None else self.spread_last_batch


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """One step of a trace.

    Attributes:
        number: number of the hop, from 1, in the order found.
        depth: number of hops from the start.
        after: numbers of the hops that led to this one; empty if it follows directly from the start.
        step: the micro-batches or the run.
        inputs: forwards, the traced parts that the step read; backwards, all parts that it read.
        outputs: forwards, all parts that the step wrote; backwards, the traced parts that it wrote.
        certainty: certainty of only this hop.
        overall: the weakest certainty on the path from the start.
        why: the facts behind the hop and its certainty.
    """

    number: int
    depth: int
    after: tuple[int, ...]
    step: Step
    inputs: tuple[Part, ...]
    outputs: tuple[Part, ...]
    certainty: Certainty
    overall: Certainty
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """Steps that read (backwards: wrote) a part of a dataset, and the steps before or after these.

    Attributes:
        direction: FORWARD or BACKWARD.
        start: parts of a dataset that the question is about.
        hops: the steps, breadth-first.
        ends: parts that no known step read (backwards: wrote).
        notes: further facts about the start, for example that nothing has read it yet.
        total: number of hops in `hops`.
        max_hops: depth of the farthest hop.
        truncated: whether the depth or the limit left out further hops.
    """

    direction: TraceDirection
    start: tuple[Part, ...]
    hops: tuple[Hop, ...]
    ends: tuple[Part, ...]
    notes: tuple[str, ...]
    total: int
    max_hops: int
    truncated: bool


CERTAINTIES = (Certainty.EXACT, Certainty.INFERRED, Certainty.UPPER_BOUND, Certainty.UNKNOWN)
"""Certainties, the surest first."""


def weakest(*certainties: Certainty) -> Certainty:
    """Return the weakest of these certainties; EXACT if there are none."""
    return max(certainties, key=CERTAINTIES.index, default=Certainty.EXACT)


def surest(certainties: Iterable[Certainty]) -> Certainty:
    """Return the surest of these certainties; UNKNOWN if there are none."""
    return min(certainties, key=CERTAINTIES.index, default=Certainty.UNKNOWN)


def spans_of(offsets: Iterable[OffsetSpan]) -> Spans:
    """Convert ranges in any order, some of them overlapping, to Spans."""
    return union((span.partition, span.start, span.end) for span in offsets)


def offsets(spans: Spans) -> tuple[OffsetSpan, ...]:
    """Convert Spans to the ranges of an answer."""
    return tuple(OffsetSpan(*span) for span in flat(spans))
