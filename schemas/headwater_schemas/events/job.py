"""JobEvent: declared facts of one job, which may never have run. Each field is a separate register."""

from __future__ import annotations

import msgspec

from headwater_schemas.events.common import DatasetRef, Owner, ProcessingType, Tag
from headwater_schemas.events.plan import ColumnLineage


class SourceLocation(msgspec.Struct, frozen=True, kw_only=True):
    """OpenLineage's source code location: the location of a job's code."""

    type: str
    url: str
    repo_url: str | None = None
    path: str | None = None
    version: str | None = None
    branch: str | None = None


class JobEvent(msgspec.Struct, frozen=True, kw_only=True):
    """Declared inputs, outputs, columns, owners and source location of the event's job.

    Attributes:
        processing_type: batch or streaming.
        integration: system that runs it, e.g. SPARK.
        job_type: e.g. JOB, QUERY, TASK.
        description: text for people.
        inputs, outputs: declared datasets; a new set replaces the whole previous set.
        lineage: declared column lineage.
        owners, tags: sets; a new set replaces the whole previous set.
        criticality: importance for its readers.
        source: location of its code.
        facets: OpenLineage facets that have no field here, name to JSON text, verbatim.
    """

    processing_type: ProcessingType | None = None
    integration: str | None = None
    job_type: str | None = None
    description: str | None = None
    inputs: tuple[DatasetRef, ...] | None = None
    outputs: tuple[DatasetRef, ...] | None = None
    lineage: ColumnLineage | None = None
    owners: tuple[Owner, ...] | None = None
    tags: tuple[Tag, ...] | None = None
    criticality: str | None = None
    source: SourceLocation | None = None
    facets: dict[str, str] = {}
