"""Streaming queries as events, made batch by batch, and remembered as they are: what a naive scan is made over."""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import msgspec

from headwater_schemas.events import (
    Certainty,
    DatasetRef,
    DatasetUse,
    EmissionReason,
    EngineRef,
    FileSet,
    IntervalEntry,
    IntervalEvent,
    JobRef,
    KafkaRanges,
    LineageEvent,
    OffsetRange,
    Position,
    ProcessingType,
    Provenance,
    QualityResult,
    RunEvent,
    RunEventType,
    RunRef,
    Versions,
)
from headwater_schemas.events.build import lineage_event
from headwater_schemas.identity import source_end_digest
from support.graph.writing import store

if TYPE_CHECKING:
    from neo4j import Driver

NAMESPACE = "kafka://k"
BEGIN = datetime(2025, 1, 1, tzinfo=UTC)
Ranges = dict[int, tuple[int, int]]


def topic(name: str) -> DatasetRef:
    return DatasetRef(NAMESPACE, name)


def kafka_use(
    name: str, ranges: Mapping[int, tuple[int, int]] | None, certainty: Certainty, topic_id: str | None = None
) -> DatasetUse:
    """A topic with its ranges; without any, nothing is reported of which."""
    if ranges is None:
        return DatasetUse(dataset=topic(name))
    listed = tuple(OffsetRange(p, a, b) for p, (a, b) in sorted(ranges.items()))
    return DatasetUse(
        dataset=topic(name), position=Position(kafka=KafkaRanges(name, listed, topic_id)), certainty=certainty
    )


def files_use(folder: str, names: Sequence[str], count: int | None = None) -> DatasetUse:
    """Files of a folder, `count` of them of which these are listed."""
    paths = tuple(f"file:{folder}/{name}" for name in names)
    digest = uuid.uuid5(uuid.NAMESPACE_URL, "".join(paths)).hex
    position = Position(files=FileSet(count=count or len(paths), manifest_digest=digest, paths=paths))
    return DatasetUse(dataset=DatasetRef("file", folder), position=position, certainty=Certainty.EXACT)


def replacing(dataset: DatasetRef | DatasetUse) -> DatasetUse:
    """The use as an overwrite of all of the dataset."""
    use = dataset if isinstance(dataset, DatasetUse) else DatasetUse(dataset=dataset)
    facet = json.dumps({"lifecycleStateChange": "OVERWRITE"})
    return msgspec.structs.replace(use, facets={"lifecycleStateChange": facet})


def overwriting(use: DatasetUse, *partitions: str) -> DatasetUse:
    """The use as an overwrite of these partitions; of none that are named: of some."""
    facet = {"columns": ["dt"], "overwritten": list(partitions) or None}
    return msgspec.structs.replace(use, facets={"headwater_partitions": json.dumps(facet)})


def ran(
    job: str, reads: Sequence[DatasetUse | DatasetRef], writes: Sequence[DatasetUse | DatasetRef], at: int, **body: Any
) -> LineageEvent:
    """A batch run of 5 s, `at` seconds after the beginning, that is called by its job and that number."""
    inputs, outputs = (
        tuple(use if isinstance(use, DatasetUse) else DatasetUse(dataset=use) for use in uses)
        for uses in (reads, writes)
    )
    began, ended = BEGIN + timedelta(seconds=at), BEGIN + timedelta(seconds=at + 5)
    run = RunEvent(
        type=RunEventType.COMPLETE,
        processing_type=ProcessingType.BATCH,
        inputs=inputs,
        outputs=outputs,
        started_at=began,
        ended_at=ended,
        **body,
    )
    return lineage_event(run, job=JobRef("jobs", job), run=RunRef(f"{job} {at}"), producer="test", event_time=ended)


@dataclass
class Entry:
    """One micro-batch, as it is to be reported."""

    batch: int
    inputs: tuple[DatasetUse, ...] = ()
    outputs: tuple[DatasetUse, ...] = ()
    run: int = 0
    state_rows: int | None = None
    watermark_before: datetime | None = None
    watermark_after: datetime | None = None
    emitted: int = 0
    """Number of earlier reports: a later report with other ends wins."""
    reconciled: bool = False
    """Reported from the checkpoint alone: of no run, and at no time."""
    plan_digest: str | None = None
    quality: tuple[QualityResult, ...] = ()


@dataclass
class Stream:
    """A streaming query.

    Attributes:
        name: of the query and its job.
        entries: as reported, in order.
    """

    name: str
    entries: list[Entry] = field(default_factory=list)
    every: timedelta = timedelta(seconds=10)
    reconciled: bool = False

    @property
    def query_id(self) -> str:
        return str(uuid.uuid5(uuid.NAMESPACE_URL, self.name))

    def run_id(self, run: int) -> str:
        return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{self.name} {run}"))

    def time(self, batch: int) -> datetime:
        return BEGIN + batch * self.every

    def events(self) -> list[LineageEvent]:
        return [self._event(entry) for entry in self.entries]

    def winners(self) -> dict[int, Entry]:
        """The micro-batches as the graph has to have them: of several tellings the last."""
        return {entry.batch: entry for entry in sorted(self.entries, key=lambda entry: entry.emitted)}

    def variants(self) -> list[Entry]:
        """Every micro-batch with every set of source ends that was reported of it: the last report of each."""
        found = {}
        for entry in sorted(self.entries, key=lambda entry: entry.emitted):
            found[entry.batch, source_end_digest(entry.inputs)] = entry
        return list(found.values())

    def _event(self, entry: Entry) -> LineageEvent:
        reconciled = self.reconciled or entry.reconciled
        body = IntervalEvent(
            query_id=self.query_id,
            query_name=self.name,
            entries=(
                IntervalEntry(
                    batch_id=entry.batch,
                    processing_time=None if entry.reconciled else self.time(entry.batch),
                    duration_ms=None if entry.reconciled else int(self.every.total_seconds() * 900),
                    inputs=entry.inputs,
                    outputs=entry.outputs,
                    state_rows=entry.state_rows,
                    plan_digest=entry.plan_digest,
                    watermark_before=entry.watermark_before,
                    watermark_after=entry.watermark_after,
                    quality=entry.quality,
                ),
            ),
            versions=Versions(code=f"v{entry.run}", engine=EngineRef("spark", "4.0.0"), capture="test"),
            reason=EmissionReason.CHECKPOINT,
            provenance=Provenance.RECONCILED if reconciled else Provenance.OBSERVED,
        )
        return lineage_event(
            body,
            job=JobRef("jobs", self.name),
            run=None if reconciled else RunRef(self.run_id(entry.run)),
            producer="test",
            event_time=self.time(entry.batch) + timedelta(days=entry.emitted),
        )


def in_tens(name: str, source: str, sink: str, batches: int = 10) -> Stream:
    """A query whose every batch reads ten offsets of a topic and writes as many, or a file; a restart at batch 5."""
    out = Stream(name)
    for batch in range(batches):
        ranges = {0: (batch * 10, batch * 10 + 10)}
        exact = Certainty.EXACT
        use = kafka_use(sink, ranges, exact) if not sink.startswith("/") else files_use(sink, [f"part-{batch}"])
        out.entries.append(Entry(batch, (kafka_use(source, ranges, exact),), (use,), run=batch // 5))
    return out


@dataclass(frozen=True)
class Oddities:
    """Probabilities, for each batch of a random chain, of each oddity."""

    missing: float = 0.0
    gap: float = 0.0
    silent: float = 0.0
    left_out: float = 0.0
    new_partition: float = 0.05
    restart: float = 0.05
    rewind: float = 0.0
    anew: float = 0.0
    overlap: float = 0.0


def random_stream(
    name: str, source: str, sink: str | None, rng: random.Random, *, batches: int, odd: Oddities = Oddities()
) -> Stream:
    """A query that reads a topic and writes another, with the oddities that happen."""
    stream = Stream(name)
    at = {p: rng.choice([0, 0, 1000]) for p in range(rng.randint(1, 6))}
    wrote = dict.fromkeys(range(rng.randint(1, 6)), 0)
    run = emitted = batch = 0
    topic_id = None if rng.random() < 0.5 else "first"
    for _ in range(batches):
        if rng.random() < odd.new_partition:
            at[len(at)] = 0
        if rng.random() < odd.restart:
            run += 1
        if rng.random() < odd.anew:
            # The topic is deleted and made again: its offsets begin at 0.
            at = dict.fromkeys(at, 0)
            topic_id = f"t{batch}" if topic_id is not None else None
        if batch > 3 and rng.random() < odd.rewind:
            # The checkpoint is set back: some batches run again, with other ends.
            batch -= rng.randint(1, 3)
            emitted, run = emitted + 1, run + 1
            at = {p: max(0, start - rng.randint(0, 40)) for p, start in at.items()}
        inputs = _advance(at, rng, gap=odd.gap, left_out=odd.left_out)
        outputs = _advance(wrote, rng, gap=0.0, left_out=0.0)
        if rng.random() < odd.overlap:
            outputs = {p: (max(0, a - rng.randint(0, 9)), b + rng.randint(0, 9)) for p, (a, b) in outputs.items()}
        if rng.random() >= odd.missing:
            used = [kafka_use(source, inputs, Certainty.EXACT, topic_id)]
            made = []
            if sink is not None:
                silent = rng.random() < odd.silent
                certainty = Certainty.UPPER_BOUND if odd.overlap else Certainty.EXACT
                made = [kafka_use(sink, None if silent else outputs, certainty)]
            stream.entries.append(Entry(batch, tuple(used), tuple(made), run=run, emitted=emitted))
        batch += 1
    return stream


def _advance(at: dict[int, int], rng: random.Random, *, gap: float, left_out: float) -> Ranges:
    out = {}
    for partition, last in at.items():
        if rng.random() < left_out:
            continue
        start = last + (rng.randint(1, 9) if rng.random() < gap else 0)
        end = start + rng.choice([0, 0, 1, 5, 20])
        out[partition] = (start, end)
        at[partition] = end
    return out


def ranges_of(uses: Sequence[DatasetUse], name: str, topic_id: str | None = None) -> Ranges:
    """The ranges of a topic among these uses, of this incarnation or one that isn't known."""
    out: Ranges = {}
    for use in uses:
        kafka = use.position.kafka if use.position is not None else None
        if kafka is None or use.dataset.name != name:
            continue
        if topic_id is None or kafka.topic_id is None or kafka.topic_id == topic_id:
            out |= {part.partition: (part.from_, part.to_exclusive) for part in kafka.ranges}
    return out


def naive_users(
    stream: Stream, name: str, wanted: Ranges, *, produced: bool = False, topic_id: str | None = None
) -> dict[int, Ranges]:
    """The micro-batches that read (or wrote) some of these offsets, by looking at every one of them."""
    found: dict[int, Ranges] = {}
    for batch, entry in stream.winners().items():
        for partition, (a, b) in ranges_of(entry.outputs if produced else entry.inputs, name, topic_id).items():
            if partition in wanted:
                c, d = wanted[partition]
                if max(a, c) < min(b, d):
                    found.setdefault(batch, {})[partition] = (max(a, c), min(b, d))
    return found


def write(driver: Driver, *streams: Stream, events: Sequence[LineageEvent] = ()) -> None:
    """Write the graph of these queries and events, in an order of no meaning, as the materializer does."""
    all_events = [*(event for stream in streams for event in stream.events()), *events]
    random.Random(7).shuffle(all_events)
    store(driver, all_events, at_once=500)
