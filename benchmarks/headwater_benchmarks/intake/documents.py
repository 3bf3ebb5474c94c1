"""Runs of the made-up company's batch jobs, as documents of an OpenLineage client.

Each run has a START event and an end event, both with statistics and with the schemas of all datasets of the run. The
end event also has the column lineage.

https://openlineage.io/spec/2-0-2/OpenLineage.json
"""

from __future__ import annotations

import json
import random
import uuid
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from headwater_benchmarks.workload import COLUMNS, PRODUCER, job_among
from headwater_openlineage.intake.receiving import Refusal, receive
from headwater_schemas.events import ColumnLineage, DatasetRef, DatasetUse, LineageEvent, RunEventType

_JOBS, _TABLES = 200, 500
_TENANT = "default"
_SPEC = "https://openlineage.io/spec"
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ClientDocument:
    """A document of a client.

    Attributes:
        events: number of Headwater's events made from the document.
    """

    data: bytes
    run: str
    events: int


def documents(count: int, *, seed: int, after: int = 0) -> list[ClientDocument]:
    """Make documents of alternating jobs, equal for equal seeds.

    Args:
        after: number of documents to skip: they were sent earlier, so that most jobs are already in the graph.
    """
    dice = random.Random(seed)  # noqa: S311  no secret
    jobs = [job_among(number, dice, _TABLES) for number in range(_JOBS)]
    plans: dict[str, dict[DatasetRef, Json]] = {}
    found: list[ClientDocument] = []
    while len(found) < after + count:
        event = dice.choice(jobs).next()
        if event.plan_event is not None:
            plans[event.plan_event.digest] = _column_lineage(event.plan_event.lineage)
        elif event.run_event is not None:
            document = _document(event, plans[event.run_event.plan_digest or ""])
            data = json.dumps(document).encode()
            received = receive(data, tenant=_TENANT)
            assert not isinstance(received, Refusal), received  # noqa: S101  our own document
            found.append(ClientDocument(data, document["run"]["runId"], len(received.events)))
    return found[after:]


def _document(event: LineageEvent, plan: Mapping[DatasetRef, Json]) -> Json:
    body, job, run = event.run_event, event.job, event.run
    assert body is not None and job is not None and run is not None  # noqa: S101, PT018  for the type checker
    lineage = {} if body.type is RunEventType.START else plan
    engine = _facet("ProcessingEngineRunFacet", name="spark", version="4.0.0")
    job_type = _facet("JobTypeJobFacet", "2-0-3", processingType="BATCH", integration="TRINO", jobType="QUERY")
    return {
        "eventTime": event.event_time.isoformat(),
        "producer": PRODUCER,
        "job": {"namespace": job.namespace, "name": job.name, "facets": {"jobType": job_type}},
        "schemaURL": f"{_SPEC}/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": uuid7(body.started_at, run.run_id), "facets": {"processing_engine": engine}},
        "eventType": body.type.value,
        "inputs": [_use(use, "input", {}) for use in body.inputs],
        "outputs": [_use(use, "output", lineage.get(use.dataset, {})) for use in body.outputs],
    }


def uuid7(at: datetime | None, other: str) -> str:
    """Make a run id as OpenLineage's clients do: a UUID of version 7 with this time, and bits of the UUID `other`."""
    assert at is not None  # noqa: S101  runs have begun
    bits = uuid.UUID(other).int & ((1 << 80) - 1)
    bits = bits & ~(0xF << 76) | 7 << 76
    return str(uuid.UUID(int=(int(at.timestamp() * 1_000) << 80) | bits))


def _use(use: DatasetUse, side: str, facets: Json) -> Json:
    fields = [{"name": f"column_{column}", "type": "string"} for column in range(COLUMNS)]
    statistics = _facet(f"{side.title()}Statistics{side.title()}DatasetFacet", rowCount=use.rows, size=use.bytes)
    return {
        **_name(use.dataset),
        "facets": {"schema": _facet("SchemaDatasetFacet", fields=fields), **facets},
        f"{side}Facets": {f"{side}Statistics": statistics},
    }


def _column_lineage(lineage: ColumnLineage) -> dict[DatasetRef, Json]:
    """Make the columnLineage facet of each output."""
    fields: dict[DatasetRef, dict[str, Json]] = defaultdict(dict)
    for edge in lineage.edges:
        assert edge.input is not None and edge.output_field is not None  # noqa: S101, PT018  of a batch job
        transformation = {"type": edge.type.value, "subtype": edge.subtype, "description": "", "masking": edge.masking}
        source = {**_name(lineage.datasets[edge.input]), "field": edge.input_field, "transformations": [transformation]}
        fields[lineage.datasets[edge.output]][edge.output_field] = {"inputFields": [source]}
    return {
        output: {"columnLineage": _facet("ColumnLineageDatasetFacet", fields=by_field)}
        for output, by_field in fields.items()
    }


def _facet(facet: str, version: str = "1-0-0", /, **content: Any) -> Json:
    url = f"{_SPEC}/facets/{version}/{facet}.json#/$defs/{facet}"
    return {"_producer": PRODUCER, "_schemaURL": url, **content}


def _name(dataset: DatasetRef) -> Json:
    return {"namespace": dataset.namespace, "name": dataset.name}
