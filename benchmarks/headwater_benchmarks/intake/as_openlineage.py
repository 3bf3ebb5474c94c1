"""Converts the generated events to the JSON that an OpenLineage client would send for the same facts.

Each becomes a RunEvent, DatasetEvent or JobEvent of spec 2-0-2. OpenLineage has no facet for offsets and watermarks;
here each of the two is a custom facet. OpenLineage has column lineage only in the outputs of a run event, and repeats
it with each run; so a plan becomes a run event.

https://openlineage.io/spec/2-0-2/OpenLineage.json
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import msgspec

from headwater_schemas.events import (
    ColumnLineage,
    DatasetEvent,
    DatasetRef,
    DatasetUse,
    IntervalEvent,
    JobEvent,
    LineageEvent,
    Owner,
    RunEvent,
    Versions,
)

_SPEC = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs"
_FACETS = "https://openlineage.io/spec/facets"

Json = dict[str, Any]


def openlineage(event: LineageEvent) -> Json:
    """The event, ready for `json.dumps`."""
    out: Json = {"eventTime": event.event_time.isoformat(), "producer": event.producer}
    if event.job is not None:
        out["job"] = {"namespace": event.job.namespace, "name": event.job.name, "facets": {}}
    if event.dataset_event is not None:
        return out | {"schemaURL": f"{_SPEC}/DatasetEvent", "dataset": _described(event.producer, event.dataset_event)}
    if event.job_event is not None:
        out["job"]["facets"] = _job_facets(event.producer, event.job_event)
        return out | {"schemaURL": f"{_SPEC}/JobEvent", "inputs": [], "outputs": []}
    out["schemaURL"] = f"{_SPEC}/RunEvent"
    # A PlanEvent may have no run, but a RunEvent must: make up a run id.
    run_id = event.run.run_id if event.run is not None else str(uuid.uuid5(uuid.NAMESPACE_URL, event.event_id))
    out["run"] = {"runId": run_id, "facets": {}}
    if event.run_event is not None:
        return out | _run(event.producer, event.run_event, out)
    if event.interval_event is not None:
        return out | _interval(event.producer, event.interval_event, out)
    if event.plan_event is not None:
        return out | _plan(event.producer, event.plan_event.lineage)
    raise ValueError(f"kind {event.kind!r}")


def _facet(producer: str, facet: str, /, **content: Any) -> Json:
    return {"_producer": producer, "_schemaURL": f"{_FACETS}/1-0-0/{facet}.json#/$defs/{facet}", **content}


def _run(producer: str, body: RunEvent, out: Json) -> Json:
    out["run"]["facets"] = _engine(producer, body.versions)
    return {
        "eventType": body.type.value,
        "inputs": [_use(producer, use, "input") for use in body.inputs],
        "outputs": [_use(producer, use, "output") for use in body.outputs],
    }


def _interval(producer: str, body: IntervalEvent, out: Json) -> Json:
    query = {"queryId": body.query_id, "queryName": body.query_name, "checkpoint": body.checkpoint_location}
    batches = [
        {
            "batchId": entry.batch_id,
            "processingTime": str(entry.processing_time),
            "watermarkBefore": str(entry.watermark_before),
            "watermarkAfter": str(entry.watermark_after),
            "durationMs": entry.duration_ms,
            "rowsIn": entry.rows_in,
            "rowsOut": entry.rows_out,
        }
        for entry in body.entries
    ]
    micro_batch = _facet(producer, "MicroBatchRunFacet", **query, batches=batches)
    out["run"]["facets"] = _engine(producer, body.versions) | {"microBatch": micro_batch}
    return {
        "eventType": "RUNNING",
        "inputs": [_use(producer, use, "input") for entry in body.entries for use in entry.inputs],
        "outputs": [_use(producer, use, "output") for entry in body.entries for use in entry.outputs],
    }


def _plan(producer: str, lineage: ColumnLineage) -> Json:
    fields: dict[int, dict[str, list[Json]]] = defaultdict(lambda: defaultdict(list))
    inputs: set[int] = set()
    for edge in lineage.edges:
        if edge.input is None or edge.output_field is None:
            continue
        inputs.add(edge.input)
        transformation = {"type": edge.type.value, "subtype": edge.subtype, "description": "", "masking": edge.masking}
        source = {**_name(lineage.datasets[edge.input]), "field": edge.input_field, "transformations": [transformation]}
        fields[edge.output][edge.output_field].append(source)
    outputs = []
    for output, by_field in fields.items():
        columns = {name: {"inputFields": sources} for name, sources in by_field.items()}
        facet = _facet(producer, "ColumnLineageDatasetFacet", fields=columns)
        outputs.append({**_name(lineage.datasets[output]), "facets": {"columnLineage": facet}})
    return {
        "eventType": "OTHER",
        "inputs": [{**_name(lineage.datasets[place]), "facets": {}} for place in sorted(inputs)],
        "outputs": outputs,
    }


def _use(producer: str, use: DatasetUse, side: str) -> Json:
    name = "InputStatisticsInputDatasetFacet" if side == "input" else "OutputStatisticsOutputDatasetFacet"
    counts = {"rowCount": use.rows, "size": use.bytes, "fileCount": use.files}
    statistics = _facet(producer, name, **{key: value for key, value in counts.items() if value is not None})
    facets: Json = {f"{side}Statistics": statistics}
    if use.position is not None and use.position.kafka is not None:
        ranges = msgspec.to_builtins(use.position.kafka.ranges)
        offsets = {"topic": use.position.kafka.topic, "ranges": ranges, "certainty": use.certainty.value}
        facets["offsets"] = _facet(producer, "OffsetsDatasetFacet", **offsets)
    return {**_name(use.dataset), "facets": {}, f"{side}Facets": facets}


def _described(producer: str, body: DatasetEvent) -> Json:
    facets: Json = {"datasetType": _facet(producer, "DatasetTypeDatasetFacet", datasetType=body.type)}
    if body.schema is not None:
        fields = [{"name": field.path, "type": field.type} for field in body.schema.fields]
        facets["schema"] = _facet(producer, "SchemaDatasetFacet", fields=fields)
    facets["ownership"] = _owners(producer, "OwnershipDatasetFacet", body.owners or ())
    tags = [{"key": tag.key, "value": tag.value, "source": tag.source} for tag in body.tags or ()]
    facets["tags"] = _facet(producer, "TagsDatasetFacet", tags=tags)
    return {**_name(body.dataset), "facets": facets}


def _job_facets(producer: str, body: JobEvent) -> Json:
    processing = None if body.processing_type is None else body.processing_type.value
    job_type = {"processingType": processing, "integration": body.integration}
    return {
        "jobType": _facet(producer, "JobTypeJobFacet", **job_type),
        "ownership": _owners(producer, "OwnershipJobFacet", body.owners or ()),
    }


def _owners(producer: str, name: str, owners: Iterable[Owner]) -> Json:
    return _facet(producer, name, owners=[{"name": owner.name, "type": owner.type} for owner in owners])


def _engine(producer: str, versions: Versions | None) -> Json:
    if versions is None or versions.engine is None:
        return {}
    engine = {"name": versions.engine.name, "version": versions.engine.version}
    return {"processing_engine": _facet(producer, "ProcessingEngineRunFacet", **engine)}


def _name(dataset: DatasetRef) -> Json:
    return {"namespace": dataset.namespace, "name": dataset.name}
