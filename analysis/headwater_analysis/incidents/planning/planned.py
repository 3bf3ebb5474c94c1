"""Answer of a repair plan: steps in order, each with its facts and commands."""

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

    - NOTIFY: notify consumers that read bad data, or whose datasets are clean again.
    - CORRECT: correct the origin of the bad data: code, configuration, or the source.
    - RERUN: run a batch job again.
    - REPROCESS: run micro-batches of a streaming query again.
    - DECLARE: declare parts repaired whose repair the graph can't show.
    - RESOLVE: resolve the incident.
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
        partitions: partitions as `key=value` paths; empty: the whole output.
        why: reason for this choice, as a sentence.
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
        starting_offsets: option `startingOffsets`: first offset by topic and partition.
        ending_offsets: option `endingOffsets`: offset after the last one, by topic and partition.
    """

    cluster: str
    assign: str
    starting_offsets: str
    ending_offsets: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedBatches:
    """Micro-batches to run again.

    Attributes:
        first_batch, last_batch: first and last micro-batch, both inclusive. Up to `last_batch` the query's state spread
            bad records.
        inputs: all input of these micro-batches.
        kafka: `inputs` as options of Spark's Kafka source; empty: some input isn't a range of offsets.
    """

    first_batch: int
    last_batch: int
    inputs: tuple[Part, ...]
    kafka: tuple[KafkaRange, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierInput:
    """Input before the first bad micro-batch, from which the query's state has to be built again.

    Attributes:
        first_batch: first micro-batch whose input the state may have held; None: not known.
        kafka: input from `first_batch` up to the first bad micro-batch, as options of Spark's Kafka source; empty: not
            known.
        event_time: least event time of the needed records; None: not known.
        why: facts behind these values, as sentences.
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
        checkpoint: location of the query's checkpoint; None: not known.
        restart_after: last micro-batch n before the bad micro-batches: a checkpoint whose latest files are
            `offsets/<n>` and `commits/<n>` starts with the first bad micro-batch. None: the query's first micro-batch
            is bad.
        newest_batch: newest known micro-batch.
        batches: bad micro-batches, ascending.
        earlier: for a query with state: earlier input that the state needs. None: the query keeps no state, or none is
            known.
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
    """A step of a plan. Fields that the step's kind doesn't need are empty.

    Attributes:
        number: number of the step, from 1.
        kind: kind of the step.
        after: numbers of the steps that have to be done before.
        title: the step in one line.
        job: job of the runs or query.
        runs: bad runs, the earliest first; for a streaming query: runs of its bad micro-batches.
        good_code_version: code version of the job's last run that is known to be good.
        inputs: for batch runs: all input.
        skip: bad records among the input that can't be replaced, because they are in a topic.
        outputs: parts with bad data, which have to be replaced or declared.
        overwrite: partitions of the outputs to write again.
        query: facts for reprocessing.
        consumers: consumers to notify.
        certainty: weakest certainty of the outputs.
        notes: further facts and caveats, as sentences.
        commands: shell commands to paste.
        file_commands: shell commands to paste that name files.
        sql: SQL statements to paste, which restore a table to the version before the bad data.
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
    """Answer: steps in an order after which no bad data of an incident is left.

    Attributes:
        incident: id of the incident.
        title: title of the incident; None: not stated.
        steps: steps in order.
        clean_again: number of runs and ranges of micro-batches whose bad output is gone or declared repaired.
        nothing_left: true: no step is left, and the whole reach is known.
        complete: false: there may be more to repair.
        unknown: unknown facts, a few words each; empty: everything is known.
        not_known: unknown facts, as sentences.
        spreading: queries that may still put bad records into their output, a sentence each.
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
