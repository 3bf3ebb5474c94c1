"""The runs of a made-up company twice: as documents that an OpenLineage client sends, and as Headwater's own events."""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import msgspec

from headwater_benchmarks.intake.as_openlineage import openlineage
from headwater_benchmarks.workload.company import EPOCH, Job, described_table
from headwater_consumers.intake.receiving import Refusal, receive
from headwater_schemas.events import DatasetRef, LineageEvent, RunRef
from headwater_schemas.identity import event_id

JOBS, TABLES = 200, 500
_TENANT = "default"
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Sent:
    """A document that a client sends.

    Attributes:
        data: its bytes.
        run: id of its run.
        run_event: id of the RUN event that it becomes.
        events: how many events it becomes.
    """

    data: bytes
    run: str
    run_event: str
    events: int


@dataclass(frozen=True, slots=True)
class Material:
    """What a turn brings to the graph.

    Attributes:
        documents: a START and an end of each run, with the schemas of all of its datasets; the end has the column
            lineage and statistics.
        own: the same runs as Headwater's capture publishes them: column lineage and schemas once.
    """

    documents: Sequence[Sent]
    own: Sequence[LineageEvent]

    @property
    def events(self) -> int:
        """How many events the documents become."""
        return sum(document.events for document in self.documents)


def material(count: int, *, seed: int, after: int = 0) -> Material:
    """So many documents, and the events of the same runs; one seed, one material.

    Args:
        count: of documents.
        seed: of all that is drawn.
        after: how many documents were sent before. They are those of the same seed, so that most jobs are known.
    """
    company, documents, own = _Company(seed), [], []
    passed = 0
    for event in company:
        if passed == after:
            own.append(event)
        if event.run_event is None:
            continue
        if passed < after:
            passed += 1
            continue
        documents.append(_sent(company.document(event)))
        if len(documents) == count:
            break
    return Material(documents, own)


@dataclass(slots=True)
class _Company:
    """Jobs whose runs take turns.

    Attributes:
        seed: of everything that is drawn.
    """

    seed: int
    _runs: dict[str, RunRef] = field(default_factory=dict)
    _plans: dict[str, dict[DatasetRef, Json]] = field(default_factory=dict)
    _schemas: dict[DatasetRef, Json] = field(default_factory=dict)

    def __iter__(self) -> Iterator[LineageEvent]:
        dice = random.Random(self.seed)  # noqa: S311  no secret
        jobs = [Job(number, dice, tables=TABLES) for number in range(JOBS)]
        for number in range(TABLES):
            described = described_table(number, EPOCH)
            document = openlineage(described)["dataset"]
            ref = described.dataset_event.dataset if described.dataset_event else DatasetRef("", "")
            self._schemas[ref] = {"schema": document["facets"]["schema"]}
            yield described
        while True:
            event = dice.choice(jobs).next()
            if event.plan_event is not None:
                facets = {_ref(each): each["facets"] for each in openlineage(event)["outputs"]}
                self._plans[event.plan_event.digest] = facets
            yield self._with_time_in_run_id(event)

    def _with_time_in_run_id(self, event: LineageEvent) -> LineageEvent:
        """With a run id of version 7, as OpenLineage's clients make them."""
        if event.run is None:
            return event
        run = self._runs.setdefault(event.run.run_id, RunRef(uuid7(event.event_time, event.run.run_id)))
        changed = msgspec.structs.replace(event, run=run)
        return msgspec.structs.replace(changed, event_id=event_id(changed))

    def document(self, event: LineageEvent) -> Json:
        """What a client sends for a RUN event."""
        body = event.run_event
        document = openlineage(event)
        plan = self._plans.get(body.plan_digest or "", {}) if body is not None else {}
        ended = body is not None and body.type.value != "START"
        for each in (*document["inputs"], *document["outputs"]):
            each["facets"] = {**self._schemas.get(_ref(each), {})}
        for each in document["outputs"] if ended else ():
            each["facets"] |= plan.get(_ref(each), {})
        document["job"]["facets"] = {
            "jobType": {
                "_producer": event.producer,
                "_schemaURL": "https://openlineage.io/spec/facets/2-0-3/JobTypeJobFacet.json#/$defs/JobTypeJobFacet",
                "processingType": "BATCH",
                "integration": "TRINO",
                "jobType": "QUERY",
            }
        }
        return document


def uuid7(at: datetime, other: str) -> str:
    """A UUID of version 7 with this time, and the other bits of another UUID."""
    bits = uuid.UUID(other).int & ((1 << 80) - 1)
    bits = bits & ~(0xF << 76) | 7 << 76
    return str(uuid.UUID(int=(int(at.timestamp() * 1_000) << 80) | bits))


def _ref(entry: Json) -> DatasetRef:
    return DatasetRef(entry["namespace"], entry["name"])


def _sent(document: Json) -> Sent:
    data = json.dumps(document).encode()
    received = receive(data, tenant=_TENANT)
    if isinstance(received, Refusal):
        raise ValueError(f"{received.pointer}: {received.message}")  # noqa: TRY004  of the document, not its type
    events = received.events
    return Sent(data, document["run"]["runId"], events[0].event_id, len(events))
