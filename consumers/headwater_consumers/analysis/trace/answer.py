"""Answers of traces: parts of datasets, steps, hops."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from headwater_consumers.analysis.assets import Asset
from headwater_schemas.events import Certainty


class TraceDirection(StrEnum):
    """FORWARD: where it went. BACKWARD: where it came from."""

    FORWARD = "FORWARD"
    BACKWARD = "BACKWARD"


class PartKind(StrEnum):
    """How a part of a dataset is described: see `Part`."""

    OFFSETS = "OFFSETS"
    FILES = "FILES"
    SNAPSHOT = "SNAPSHOT"
    CHANGES = "CHANGES"
    OTHER = "OTHER"
    UNKNOWN = "UNKNOWN"


class StepKind(StrEnum):
    """What a step is.

    - MICRO_BATCHES of one run of a query, or of none that is known.
    - RUN: a batch run.
    - CONFLICT: a micro-batch as it ran before it ran again otherwise.
    - MISSING: micro-batches between known ones that nothing is known of; one of them may have used the part.
    """

    MICRO_BATCHES = "MICRO_BATCHES"
    RUN = "RUN"
    CONFLICT = "CONFLICT"
    MISSING = "MISSING"


@dataclass(frozen=True, slots=True, order=True)
class OffsetSpan:
    """The half-open range `[start, end)` of one Kafka partition.

    Attributes:
        partition: its number.
        start: the first offset.
        end: the offset after the last.
    """

    partition: int
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a dataset, in one of these ways, of which only the named fields are there.

    | kind     | fields                                                                    |
    |----------|---------------------------------------------------------------------------|
    | OFFSETS  | `offsets`, `topic_id`                                                     |
    | FILES    | `files` (the listed ones), `file_count`                                   |
    | SNAPSHOT | `format`, `version`, `partitions`                                         |
    | CHANGES  | of a table's stream: `format`, `from_version` (exclusive), `version`      |
    | OTHER    | `text`: a position that only its source understands                       |
    | UNKNOWN  | none: some part of it, written after `since` or before `until`             |

    Attributes:
        dataset: whose part.
        kind: see above.
        certainty: EXACT, INFERRED, UPPER_BOUND (the truth is within it) or UNKNOWN.
        topic_id: Kafka's id of the topic's incarnation, where it is known.
        offsets: by partition, ascending.
        files: paths; at most a hundred of each micro-batch or run are known.
        file_count: how many files there are.
        format: `iceberg`, `delta`, `files`.
        version: snapshot id, or the last version of a range.
        from_version: the version before the first one.
        partitions: of a table, as `key=value` paths; empty where they aren't known.
        text: the position in words.
        rows: how many, where it is known.
        since: the earliest time at which it can have been written.
        until: the latest.
    """

    dataset: Asset
    kind: PartKind
    certainty: Certainty
    topic_id: str | None = None
    offsets: tuple[OffsetSpan, ...] = ()
    files: tuple[str, ...] = ()
    file_count: int | None = None
    format: str | None = None
    version: str | None = None
    from_version: str | None = None
    partitions: tuple[str, ...] = ()
    text: str | None = None
    rows: int | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunBrief:
    """A run, in short.

    Attributes:
        run_id: its id; of a streaming query, of one start.
        code_version, config_version: what it was made of.
        state: COMPLETE, FAIL …; None of a streaming run.
        first_batch, last_batch: the first and the last of the step's micro-batches that were observed in it.
    """

    run_id: str
    code_version: str | None = None
    config_version: str | None = None
    state: str | None = None
    first_batch: int | None = None
    last_batch: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What took a part in and gave others out: micro-batches of one query, or a batch run.

    Attributes:
        kind: which of these.
        job: whose.
        runs: the batch run; or the start of the query that the micro-batches belong to. Of a step that only time
            bounds, or that the query's state spreads, several starts, at most ten.
        query_id, query_name: of the streaming query.
        first_batch, last_batch: the micro-batches that used the part in question, both included.
        batches: how many of these are known to have used it; None where that wasn't counted.
        spread_first_batch, spread_last_batch: the micro-batches over which the query's state spreads it: forwards up
            to the last that may have given it out, backwards from the first that may have taken part; without state
            the same as above.
        started_at, ended_at: of the first and of the last.
        keeps_state: whether the query keeps something from batch to batch; None where that isn't known.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """One step of a trace.

    Attributes:
        number: from 1, in the order found.
        depth: how many hops from the start.
        after: numbers of the hops that led to it; none where it begins at the start.
        step: what happened.
        inputs: forwards, the parts taken in that the trace is about; backwards, all that was taken in.
        outputs: forwards, all that was given out; backwards, the parts that the trace is about.
        certainty: of this hop alone.
        overall: the weakest certainty on the way from the start.
        why: what is known, and what the certainty rests on.
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
    """A way through the graph.

    Attributes:
        direction: FORWARD or BACKWARD.
        start: the part that was asked about.
        hops: breadth-first.
        ends: the parts from which nothing goes on, as far as is known.
        notes: what else is known of the start: not read yet, read by nobody.
        total: how many hops there are in `hops`.
        max_hops: the depth of the farthest.
        truncated: whether there is more beyond the depth or the limit asked for.
    """

    direction: TraceDirection
    start: tuple[Part, ...]
    hops: tuple[Hop, ...]
    ends: tuple[Part, ...]
    notes: tuple[str, ...]
    total: int
    max_hops: int
    truncated: bool


_STRENGTH = (Certainty.EXACT, Certainty.INFERRED, Certainty.UPPER_BOUND, Certainty.UNKNOWN)


def weakest(*certainties: Certainty) -> Certainty:
    """The one that claims least; EXACT of none."""
    return max(certainties, key=_STRENGTH.index, default=Certainty.EXACT)
