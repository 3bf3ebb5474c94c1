"""Answer of a repair plan: steps in order, each with the facts and the commands that it needs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated

from headwater_analysis.assets import Asset
from headwater_analysis.declared import ReadingConsumer
from headwater_analysis.texts import TEXT
from headwater_analysis.trace.traced_parts import Part, RunBrief
from headwater_schemas.events import Certainty


class RepairStepKind(StrEnum):
    """Kind of a step.

    - NOTIFY: people who read bad data, or read clean data again.
    - CORRECT: what made the bad data: code, configuration, or the source.
    - RERUN: runs of a batch job.
    - REPROCESS: micro-batches of a streaming query.
    - DECLARE: parts that no rerun in the graph shows as clean.
    - RESOLVE: the incident itself.
    """

    NOTIFY = "NOTIFY"
    CORRECT = "CORRECT"
    RERUN = "RERUN"
    REPROCESS = "REPROCESS"
    DECLARE = "DECLARE"
    RESOLVE = "RESOLVE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Overwrite:
    """Partitions of an output to write again.

    Attributes:
        dataset: the output.
        partitions: partitions as `key=value` paths; empty: all of it.
        why: the facts behind it, as a sentence.
    """

    dataset: Asset
    partitions: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaRange:
    """Options of Spark's Kafka source for a batch query that reads a range, as JSON.

    Attributes:
        cluster: namespace of the topics: `kafka://broker:9092`.
        assign: option `assign`: partitions by topic.
        starting_offsets: option `startingOffsets`: the first offsets.
        ending_offsets: option `endingOffsets`: the offsets after the last.
    """

    cluster: str
    assign: str
    starting_offsets: str
    ending_offsets: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedBatches:
    """Micro-batches to run again.

    Attributes:
        first_batch, last_batch: both included; the last one is the last that state spread bad records to.
        inputs: everything that they read.
        kafka: the same for Spark, where all of it is offsets of topics; empty otherwise.
    """

    first_batch: int
    last_batch: int
    inputs: tuple[Part, ...]
    kafka: tuple[KafkaRange, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierInput:
    """Input from before the first bad micro-batch, which the state has to be built of again.

    Attributes:
        first_batch: first micro-batch whose input the state may have held; None: not known.
        kafka: its start up to the first bad micro-batch, where known.
        event_time: no record of an earlier event time is needed; None: not known.
        why: the facts behind it, as sentences.
    """

    first_batch: int | None
    kafka: tuple[KafkaRange, ...]
    event_time: datetime | None
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryReplay:
    """Facts for reprocessing of a streaming query.

    Attributes:
        query_id, query_name: id and name of the query.
        checkpoint: location of its checkpoint, where known.
        restart_after: last micro-batch before the bad ones: a checkpoint with `offsets/<n>` and `commits/<n>` up to it
            starts with the first bad one. None: the first one of all is bad.
        newest_batch: newest known micro-batch.
        batches: bad micro-batches, ascending.
        earlier: for a query with state, the input that it needs from before; None: it keeps none, or none is known.
    """

    query_id: str
    query_name: str | None
    checkpoint: Annotated[str | None, TEXT]
    restart_after: int | None
    newest_batch: int
    batches: tuple[ReplayedBatches, ...]
    earlier: EarlierInput | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairStep:
    """A step of a plan. Members that its kind doesn't need are empty.

    Attributes:
        number: number of the step, from 1.
        kind: kind of the step.
        after: numbers of the steps that have to be done before.
        title: the step in one line.
        job: job of the runs or query.
        runs: bad runs, the earliest first; of a query its starts.
        good_code_version: code version of the last run of the job that is known to be good.
        inputs: of runs, everything that they read.
        skip: records among the inputs that stay bad: a topic can't be overwritten.
        outputs: parts that hold bad data, and are to be replaced or declared.
        overwrite: partitions of the outputs to write again.
        query: facts for reprocessing.
        consumers: consumers to notify.
        certainty: weakest certainty of the outputs.
        notes: further facts and caveats, as sentences.
        commands: commands of a shell, to paste.
        file_commands: likewise, those that name files.
        sql: statements to restore a table to the version before, to paste.
    """

    number: int
    kind: RepairStepKind
    after: tuple[int, ...]
    title: str
    job: Asset | None = None
    runs: tuple[RunBrief, ...] = ()
    good_code_version: str | None = None
    inputs: tuple[Part, ...] = ()
    skip: tuple[Part, ...] = ()
    outputs: tuple[Part, ...] = ()
    overwrite: tuple[Overwrite, ...] = ()
    query: QueryReplay | None = None
    consumers: tuple[ReadingConsumer, ...] = ()
    certainty: Certainty = Certainty.EXACT
    notes: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    file_commands: Annotated[tuple[str, ...], TEXT] = ()
    sql: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentPlan:
    """Answer: the order of repairs after which no bad data of an incident is left.

    Attributes:
        incident: its id.
        title: one line for people.
        steps: the steps in order.
        clean_again: number of runs and ranges of micro-batches whose bad output is gone or declared repaired.
        nothing_left: true: no step is left, and everything that was reached is known.
        complete: false: there may be more to repair.
        unknown: what isn't known, a few words each; empty if all is.
        not_known: likewise, as sentences.
        spreading: queries whose state may still write of bad records, a sentence each.
        notes: further remarks, as sentences.
    """

    incident: str
    title: str | None
    steps: tuple[RepairStep, ...]
    clean_again: int
    nothing_left: bool
    complete: bool
    unknown: tuple[str, ...]
    not_known: tuple[str, ...]
    spreading: tuple[str, ...]
    notes: tuple[str, ...]
