"""Datasets and jobs in documents. Results are cached with the facets, if documents share the facets.

Shared facets have the JSON pointers of the first document. So a refused document is read again, without sharing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cached_property
from typing import TypeAlias

import msgspec

from headwater_openlineage.datasets import dataset_body, digest_of_schema
from headwater_openlineage.facets import kept
from headwater_openlineage.jobs import job_fields, processing_type
from headwater_openlineage.origin import without
from headwater_openlineage.parts import Shared
from headwater_openlineage.reading import Json, need_dataset, need_job, read_facets, text
from headwater_schemas.events import DatasetEvent, DatasetRef, DatasetUse, JobEvent, JobRef, Position, TableSnapshot

Facets: TypeAlias = Mapping[str, tuple[Json, str]]


class DescribedDataset:
    """Dataset with its facets.

    Args:
        ref: namespace and name.
        facets: facets by name, each with its pointer.
        unread: facets that are stored and not read.
        shared_bytes: size of the facets' text if documents share it, else 0.
    """

    def __init__(self, ref: DatasetRef, facets: Facets, unread: Json | None = None, shared_bytes: int = 0) -> None:
        self.ref = ref
        self.facets = facets
        self.unread = unread or {}
        self.shared_bytes = shared_bytes
        self._bodies: dict[tuple[str, ...], DatasetEvent | None] = {}

    def body(self, besides: tuple[str, ...]) -> DatasetEvent | None:
        """Convert the dataset's facets to a DatasetEvent; None if they are empty.

        Args:
            besides: names of facets that are stored elsewhere.

        Raises:
            Refused: a facet's shape differs from the specification.
        """
        if besides not in self._bodies:
            body = dataset_body(self.ref, self.facets, besides)
            if self.unread:
                others = {name: kept(facet) for name, facet in self.unread.items()}
                body = msgspec.structs.replace(body, facets={**body.facets, **others})
            self._bodies[besides] = None if body == DatasetEvent(dataset=self.ref) else body
        return self._bodies[besides]

    @cached_property
    def plain_use(self) -> DatasetUse:
        """Return the dataset as a run's input or output, without the run's own facets.

        Raises:
            Refused: the schema has an unexpected shape.
        """
        return DatasetUse(dataset=self.ref, schema_digest=digest_of_schema(self.facets))

    @cached_property
    def version(self) -> Position | None:
        """Return the dataset's version in the facets; None without a version.

        Raises:
            Refused: a facet has an unexpected shape.
        """
        if "version" not in self.facets:
            return None
        facet, at = self.facets["version"]
        version = text(facet, "datasetVersion", at)
        if not version:
            return None
        storage = self.facets.get("storage")
        format_ = text(storage[0], "storageLayer", storage[1]) if storage is not None else None
        return Position(table_snapshot=TableSnapshot(format=(format_ or "").lower(), snapshot_id=version))


class DescribedJob:
    """Job with its facets.

    Args:
        ref: namespace and name.
        job: the document's `job`.
        facets: facets by name, each with its pointer.
        unread: facets that are stored and not read.
        shared_bytes: size of the facets' text if documents share it, else 0.

    Attributes:
        held: facets in their stored form, for the event of the job or of a run.
        rest: JSON of the job without the facets in `held`.
    """

    def __init__(
        self,
        ref: JobRef,
        job: Json,
        facets: Facets,
        unread: Json | None = None,
        shared_bytes: int = 0,
    ) -> None:
        self.ref = ref
        self.facets = facets
        self.shared_bytes = shared_bytes
        self.held = {name: kept(facet) for name, (facet, _) in facets.items()}
        self.held |= {name: kept(facet) for name, facet in (unread or {}).items()}
        self.rest = msgspec.Raw(kept(without(job, "facets", self.held)).encode())
        self.processing_type = processing_type(facets)

    @cached_property
    def declared(self) -> JobEvent | None:
        """Convert the job's facets to a JobEvent; None if they are empty.

        Raises:
            Refused: a facet's shape differs from the specification.
        """
        body = JobEvent(**job_fields(self.facets))
        return None if body == JobEvent() else body


def described_dataset(entry: Json, at: str, unread: Collection[str] = ()) -> DescribedDataset:
    """Read a dataset of a document.

    Args:
        entry: the dataset's member of the document.
        at: JSON pointer of the entry.
        unread: pointers of facets that aren't read; empty for a document in parts.

    Raises:
        Refused: the dataset has no name, or its facets aren't an object of objects.
    """
    shared = _shared(entry)
    if shared is not None and isinstance(shared.described, DescribedDataset):
        return shared.described
    ref = need_dataset(entry, at)
    found = DescribedDataset(ref, *read_facets(entry, "facets", at, unread), 0 if shared is None else len(shared.text))
    if shared is not None:
        shared.described = found
    return found


def described_job(job: Json, at: str, unread: Collection[str] = ()) -> DescribedJob:
    """Read the job of a document.

    Args:
        job: the document's `job`.
        at: JSON pointer of the job.
        unread: pointers of facets that aren't read; empty for a document in parts.

    Raises:
        Refused: the job has no namespace or name, or its facets aren't an object of objects.
    """
    shared = _shared(job)
    if shared is not None and isinstance(shared.described, DescribedJob):
        return shared.described
    ref = need_job(job, at)
    found = DescribedJob(ref, job, *read_facets(job, "facets", at, unread), 0 if shared is None else len(shared.text))
    if shared is not None:
        shared.described = found
    return found


def _shared(source: Json) -> Shared | None:
    """Return the shared facets of a dataset or job; None if the facets aren't shared, or its names were redacted."""
    facets = source.get("facets")
    if type(facets) is Shared and facets.owner == (source.get("namespace"), source.get("name")):
        return facets
    return None
