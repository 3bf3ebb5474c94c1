"""Standard facets of datasets, jobs and runs, from the fields of events."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from headwater_openlineage.columns import column_lineage_facets, schema_fields
from headwater_openlineage.facets import schema_url, subset_url
from headwater_openlineage.quality import ASSERTIONS, assertions_of
from headwater_openlineage.reading import Json
from headwater_openlineage.subset import subset_condition
from headwater_openlineage.times import time_text
from headwater_openlineage.uses import LIFECYCLE
from headwater_schemas.events import (
    ColumnLineage,
    DatasetEvent,
    DatasetRef,
    DatasetUse,
    JobEvent,
    JobRef,
    LifecycleChange,
    Owner,
    ParentRun,
    ProcessingType,
    QualityResult,
    RunEvent,
    RunRef,
    Tag,
    Versions,
)
from headwater_schemas.identity import EVENT_NAMESPACE

PRODUCER: Final = "https://headwater/openlineage"
"""Default producer of facets, for events without a producer."""


def uuid_of(run_id: str) -> str:
    """Return a run's id as a UUID, which OpenLineage requires: the id itself, or a UUID v5 of its text."""
    try:
        if len(run_id) == len("0197c1de-52f0-7bd1-9d55-1a2b3c4d5e6f"):
            return str(uuid.UUID(run_id))
    except ValueError:
        pass
    return str(uuid.uuid5(EVENT_NAMESPACE, run_id.encode("utf-8", "surrogatepass").hex()))


def _present(**members: Any) -> Json:
    return {name: value for name, value in members.items() if value is not None}


@dataclass(frozen=True, slots=True)
class FacetWriter:
    """Writer of facets, jobs and datasets, for one producer."""

    producer: str

    def facet(self, schema: str, /, **members: Any) -> Json:
        """Build a standard facet, without members that are None."""
        return {"_producer": self.producer, "_schemaURL": schema_url(schema), **_present(**members)}

    def job(self, job: JobRef, facets: Json) -> Json:
        """Make the `job` of a document."""
        return {"namespace": job.namespace, "name": job.name, "facets": facets}

    def dataset(self, ref: DatasetRef, facets: Json) -> Json:
        """Make a dataset of a document."""
        return {"namespace": ref.namespace, "name": ref.name, "facets": facets}

    def run_facets(self, body: RunEvent) -> Json:
        """Make the facets of a run."""
        found: Json = {}
        if body.nominal_start is not None:
            end = None if body.nominal_end is None else time_text(body.nominal_end)
            start = time_text(body.nominal_start)
            found["nominalTime"] = self.facet("run.nominalTime", nominalStartTime=start, nominalEndTime=end)
        if body.parent is not None:
            root = None if body.root is None else self._parent(body.root)
            found["parent"] = self.facet("run.parent", **self._parent(body.parent), root=root)
        if body.error is not None:
            found["errorMessage"] = self.facet(
                "run.errorMessage",
                message=body.error.message,
                programmingLanguage="PYTHON",
                stackTrace=body.error.stack_trace,
            )
        return found | self.engine(body.versions)

    def engine(self, versions: Versions | None) -> Json:
        """Build the run's facet of the engine, as a mapping from the facet's name; empty if the engine is unknown."""
        if versions is None or versions.engine is None:
            return {}
        engine = versions.engine
        return {"processing_engine": self.facet("run.processing_engine", version=engine.version, name=engine.name)}

    @staticmethod
    def _parent(parent: ParentRun) -> Json:
        return {
            "run": {"runId": uuid_of(parent.run_id)},
            "job": {"namespace": parent.job.namespace, "name": parent.job.name},
        }

    def job_type(
        self, processing: ProcessingType | None, integration: str | None, job_type: str | None = None, **more: Any
    ) -> Json:
        """Build the facet of a job's type, as a mapping from its name; empty if type or integration is unknown."""
        if processing in {None, ProcessingType.UNKNOWN} or not integration:
            return {}
        facet = self.facet("job.jobType", processingType=processing, integration=integration, jobType=job_type, **more)
        return {"jobType": facet}

    def job_facets(self, body: JobEvent) -> Json:
        """Make the facets of a job."""
        found = self.job_type(body.processing_type, body.integration, body.job_type)
        if body.description is not None:
            found["documentation"] = self.facet("job.documentation", description=body.description)
        if body.owners is not None:
            found["ownership"] = self.facet("job.ownership", owners=_owners(body.owners))
        if body.tags is not None:
            found["tags"] = self.facet("job.tags", tags=_tags(body.tags))
        if (source := body.source) is not None:
            found["sourceCodeLocation"] = self.facet(
                "job.sourceCodeLocation",
                type=source.type,
                url=source.url,
                repoUrl=source.repo_url,
                path=source.path,
                version=source.version,
                branch=source.branch,
            )
        return found

    def dataset_facets(self, body: DatasetEvent) -> Json:
        """Make the facets of a dataset."""
        found: Json = {}
        if body.schema is not None:
            found["schema"] = self.facet("schema", fields=schema_fields(body.schema))
        if body.type is not None:
            found["datasetType"] = self.facet("datasetType", datasetType=body.type)
        if body.description is not None:
            found["documentation"] = self.facet("documentation", description=body.description)
        if body.owners is not None:
            found["ownership"] = self.facet("ownership", owners=_owners(body.owners))
        if body.tags is not None:
            found["tags"] = self.facet("tags", tags=_tags(body.tags))
        if body.storage is not None:
            layer, format_ = body.storage.layer, body.storage.format
            found["storage"] = self.facet("storage", storageLayer=layer, fileFormat=format_)
        if body.symlinks is not None:
            links = [
                {"namespace": link.namespace, "name": link.name, "type": link.type or ""} for link in body.symlinks
            ]
            found["symlinks"] = self.facet("symlinks", identifiers=links)
        if body.lifecycle not in {None, LifecycleChange.UNKNOWN}:
            previous = None
            if body.previous is not None:
                previous = {"namespace": body.previous.namespace, "name": body.previous.name}
            found[LIFECYCLE] = self.facet(LIFECYCLE, lifecycleStateChange=body.lifecycle, previousIdentifier=previous)
        return found

    def uses(
        self,
        uses: Sequence[DatasetUse],
        inner: str,
        lineage: ColumnLineage | None,
        quality: Sequence[QualityResult] = (),
    ) -> list[Json]:
        """Make the members of `inputs` or `outputs`.

        Args:
            uses: datasets with the part read or written.
            inner: `inputFacets` or `outputFacets`.
            quality: outcomes of assertions on inputs.
        """
        columns = {} if lineage is None else column_lineage_facets(lineage)
        found = [self._use(use, inner, columns) for use in uses]
        first_uses: dict[DatasetRef, Json] = {}
        for use, entry in zip(uses, found, strict=True):
            first_uses.setdefault(use.dataset, entry)
        for dataset, entry in first_uses.items():
            if assertions := assertions_of(quality, dataset):
                entry[inner][ASSERTIONS] = self.facet(ASSERTIONS, assertions=assertions)
        return found

    def _use(self, use: DatasetUse, inner: str, columns: Mapping[DatasetRef, Json]) -> Json:
        facets: Json = {}
        given: Json = {}
        is_input = inner == "inputFacets"
        counts = {"rowCount": use.rows, "size": use.bytes, "fileCount": use.files}
        if any(count is not None for count in counts.values()):
            name = "inputStatistics" if is_input else "outputStatistics"
            given[name] = self.facet(name, **counts)
        if use.position is not None:
            condition = subset_condition(use.position)
            if condition is not None:
                side = "input" if is_input else "output"
                definition = f"{side.title()}Subset{side.title()}DatasetFacet"
                given["subset"] = {
                    "_producer": self.producer,
                    "_schemaURL": subset_url(definition),
                    f"{side}Condition": condition,
                }
            if (table := use.position.table_snapshot) is not None:
                facets["version"] = self.facet("version", datasetVersion=table.snapshot_id)
                if table.format:
                    facets["storage"] = self.facet("storage", storageLayer=table.format)
        if not is_input and use.dataset in columns:
            facets["columnLineage"] = self.facet("columnLineage", **columns[use.dataset])
        if not is_input and (change := _lifecycle(use)) is not None:
            facets[LIFECYCLE] = self.facet(LIFECYCLE, lifecycleStateChange=change)
        return {**self.dataset(use.dataset, facets), inner: given}

    def made_from(self, outputs: Iterable[DatasetUse]) -> Json:
        """Make a job's facet of explicit lineage, as a mapping from its name, for outputs that list their inputs."""
        entries = [
            {
                "namespace": use.dataset.namespace,
                "name": use.dataset.name,
                "type": "DATASET",
                "inputs": [
                    {"namespace": source.namespace, "name": source.name, "type": "DATASET"} for source in use.inputs
                ],
            }
            for use in outputs
            if use.inputs is not None
        ]
        return {"lineage": self.facet("job.lineage", entries=entries)} if entries else {}


def run_of(run: RunRef | None, otherwise: str, facets: Json) -> Json:
    """Build the `run` of a document; without a run, the id is computed from `otherwise`."""
    return {"runId": uuid_of(run.run_id if run is not None else otherwise), "facets": facets}


def _owners(owners: Iterable[Owner]) -> list[Json]:
    return [_present(name=owner.name, type=owner.type) for owner in owners]


def _tags(tags: Iterable[Tag]) -> list[Json]:
    return [{**_present(key=tag.key, source=tag.source, field=tag.field), "value": tag.value or ""} for tag in tags]


def _lifecycle(use: DatasetUse) -> str | None:
    try:
        found = json.loads(use.facets[LIFECYCLE])["lifecycleStateChange"]
    except (KeyError, TypeError, ValueError):
        return None
    return found if isinstance(found, str) and found in set(LifecycleChange) - {LifecycleChange.UNKNOWN} else None
