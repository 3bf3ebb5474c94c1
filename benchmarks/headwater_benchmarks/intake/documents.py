"""The runs of the made-up company's batch jobs, as the documents that an OpenLineage client sends.

A START and an end of each run, with the schemas of all of its datasets; the end also has the column lineage. Both have
statistics.

https://openlineage.io/spec/2-0-2/OpenLineage.json
"""

from __future__ import annotations

import json
import random
import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from headwater_benchmarks.workload.company import EPOCH, Job, described_table, table
from headwater_openlineage.intake.receiving import Refusal, receive
from headwater_schemas.events import ColumnLineage, DatasetRef, DatasetUse, LineageEvent, RunEvent, RunEventType

JOBS, TABLES = 200, 500
_TENANT = "default"
_SPEC = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs"
_FACETS = "https://openlineage.io/spec/facets"
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Sent:
    """A document that a client sends.

    Attributes:
        data: its bytes.
        run: id of its run.
        events: how many events it becomes.
    """

    data: bytes
    run: str
    events: int


def documents(count: int, *, seed: int, after: int = 0) -> list[Sent]:
    """Documents of jobs that take turns; one seed, one list.

    Args:
        count: of documents.
        seed: of all that is drawn.
        after: how many documents were sent before. They are those of the same seed, so that most jobs are known.
    """
    dice = random.Random(seed)  # noqa: S311  no secret
    jobs = [Job(number, dice, tables=TABLES) for number in range(JOBS)]
    schemas = {table(number): _schema(number) for number in range(TABLES)}
    plans: dict[str, dict[DatasetRef, Json]] = {}
    runs: dict[str, str] = {}
    found: list[Sent] = []
    while len(found) < after + count:
        event = dice.choice(jobs).next()
        if event.plan_event is not None:
            plans[event.plan_event.digest] = _column_lineage(event.producer, event.plan_event.lineage)
        elif event.run_event is not None and event.run is not None:
            run = runs.setdefault(event.run.run_id, uuid7(event.event_time, event.run.run_id))
            plan = plans[event.run_event.plan_digest or ""]
            found.append(_sent(_document(event, event.run_event, run, schemas, plan)))
    return found[after:]


def uuid7(at: datetime, other: str) -> str:
    """A run id as OpenLineage's clients make it: a UUID of version 7 with this time, and bits of another UUID."""
    bits = uuid.UUID(other).int & ((1 << 80) - 1)
    bits = bits & ~(0xF << 76) | 7 << 76
    return str(uuid.UUID(int=(int(at.timestamp() * 1_000) << 80) | bits))


def _document(
    event: LineageEvent, body: RunEvent, run: str, schemas: Mapping[DatasetRef, Json], plan: Mapping[DatasetRef, Json]
) -> Json:
    producer, job = event.producer, event.job
    assert job is not None  # noqa: S101  for the type checker
    engine = (
        {}
        if body.versions is None or body.versions.engine is None
        else {
            "processing_engine": _facet(
                producer,
                "ProcessingEngineRunFacet",
                name=body.versions.engine.name,
                version=body.versions.engine.version,
            )
        }
    )
    job_type = _facet(
        producer, "JobTypeJobFacet", "2-0-3", processingType="BATCH", integration="TRINO", jobType="QUERY"
    )
    ended = body.type is not RunEventType.START
    return {
        "eventTime": event.event_time.isoformat(),
        "producer": producer,
        "job": {"namespace": job.namespace, "name": job.name, "facets": {"jobType": job_type}},
        "schemaURL": f"{_SPEC}/RunEvent",
        "run": {"runId": run, "facets": engine},
        "eventType": body.type.value,
        "inputs": [_use(producer, use, "input", {"schema": schemas[use.dataset]}) for use in body.inputs],
        "outputs": [
            _use(producer, use, "output", {"schema": schemas[use.dataset], **(plan[use.dataset] if ended else {})})
            for use in body.outputs
        ],
    }


def _use(producer: str, use: DatasetUse, side: str, facets: Json) -> Json:
    name = f"{side.title()}Statistics{side.title()}DatasetFacet"
    counts = {"rowCount": use.rows, "size": use.bytes}
    return {
        **_name(use.dataset),
        "facets": facets,
        f"{side}Facets": {f"{side}Statistics": _facet(producer, name, **counts)},
    }


def _schema(number: int) -> Json:
    event = described_table(number, EPOCH)
    body = event.dataset_event
    assert body is not None and body.schema is not None  # noqa: S101, PT018  for the type checker
    fields = [{"name": field.path, "type": field.type} for field in body.schema.fields]
    return _facet(event.producer, "SchemaDatasetFacet", fields=fields)


def _column_lineage(producer: str, lineage: ColumnLineage) -> dict[DatasetRef, Json]:
    """The facets of each output."""
    fields: dict[int, dict[str, list[Json]]] = defaultdict(lambda: defaultdict(list))
    for edge in lineage.edges:
        if edge.input is None or edge.output_field is None:
            continue
        transformation = {"type": edge.type.value, "subtype": edge.subtype, "description": "", "masking": edge.masking}
        source = {**_name(lineage.datasets[edge.input]), "field": edge.input_field, "transformations": [transformation]}
        fields[edge.output][edge.output_field].append(source)
    return {
        lineage.datasets[output]: {
            "columnLineage": _facet(
                producer,
                "ColumnLineageDatasetFacet",
                fields={name: {"inputFields": sources} for name, sources in by_field.items()},
            )
        }
        for output, by_field in fields.items()
    }


def _facet(producer: str, facet: str, version: str = "1-0-0", /, **content: Any) -> Json:
    return {"_producer": producer, "_schemaURL": f"{_FACETS}/{version}/{facet}.json#/$defs/{facet}", **content}


def _name(dataset: DatasetRef) -> Json:
    return {"namespace": dataset.namespace, "name": dataset.name}


def _sent(document: Json) -> Sent:
    data = json.dumps(document).encode()
    received = receive(data, tenant=_TENANT)
    if isinstance(received, Refusal):
        raise ValueError(f"{received.pointer}: {received.message}")  # noqa: TRY004  of the document, not its type
    return Sent(data, document["run"]["runId"], len(received.events))


def total(sent: Sequence[Sent]) -> int:
    """Number of events that documents become."""
    return sum(each.events for each in sent)
