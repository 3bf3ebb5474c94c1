"""Datasets and jobs as documents describe them: what is read of one that several documents have is read once.

    facets word for word the same, of a dataset of the same name    ⇒ the same `DescribedDataset`
    a job word for word the same                                    ⇒ the same `DescribedJob`

Pointers to facets are those of the first document: where something is refused, its document is read again by itself.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from typing import Final, NamedTuple, TypeAlias

import msgspec

from headwater_openlineage.datasets import dataset_body, digest_of_schema
from headwater_openlineage.facets import kept
from headwater_openlineage.jobs import job_fields, processing_type
from headwater_openlineage.origin import without
from headwater_openlineage.reading import Json, given_text, need_dataset, need_text, read_facets, text
from headwater_openlineage.repeated import MAX_BYTES, Shared, texts_of
from headwater_schemas.events import DatasetEvent, DatasetRef, DatasetUse, JobEvent, JobRef, Position, TableSnapshot
from headwater_schemas.latest import Latest

Facets: TypeAlias = Mapping[str, tuple[Json, str]]


class Stated(NamedTuple):
    """Facets as part of a cache key.

    Attributes:
        key: equal if these facets are.
        size: total size of their texts, in bytes.
    """

    key: tuple[Hashable, ...]
    size: int


class _Described:
    """Facets of a dataset or job.

    Attributes:
        facets: facets by name, each with its pointer.
        unread: facets that are kept and not read.
    """

    __slots__ = ("_stated", "facets", "unread")

    def __init__(self, facets: Facets, unread: Json | None = None) -> None:
        self.facets = facets
        self.unread = unread or {}
        self._stated: dict[tuple[str, ...], Stated] = {}

    def stated(self, names: tuple[str, ...]) -> Stated:
        """Return its facets with these names.

        Raises:
            OverflowError: one has a number of more than 64 bits.
        """
        known = self._stated.get(names)
        if known is None:
            given = [name for name in names if name in self.facets]
            texts, size = texts_of(self.facets[name][0] for name in given)
            known = self._stated[names] = Stated((*given, *texts), size)
        return known


class DescribedDataset(_Described):
    """A dataset with its facets.

    Attributes:
        ref: namespace and name.
    """

    __slots__ = ("_bodies", "_plain", "_position", "ref")

    def __init__(self, ref: DatasetRef, facets: Facets, unread: Json | None = None) -> None:
        super().__init__(facets, unread)
        self.ref = ref
        self._bodies: dict[tuple[str, ...], DatasetEvent | None] = {}
        self._plain: DatasetUse | None = None
        self._position: list[Position | None] = []

    def body(self, besides: tuple[str, ...]) -> DatasetEvent | None:
        """Convert its facets to a DatasetEvent; None if they state nothing.

        Args:
            besides: names of facets that are stored elsewhere.

        Raises:
            Refused: a facet of the specification has another shape than it describes.
        """
        if besides not in self._bodies:
            body = dataset_body(self.ref, self.facets, besides)
            if self.unread:
                others = {name: kept(facet) for name, facet in self.unread.items()}
                body = msgspec.structs.replace(body, facets={**body.facets, **others})
            self._bodies[besides] = None if body == DatasetEvent(dataset=self.ref) else body
        return self._bodies[besides]

    def plain_use(self) -> DatasetUse:
        """Return the dataset as a run's input or output, without the run's own facets.

        Raises:
            Refused: the schema has another shape.
        """
        if self._plain is None:
            self._plain = DatasetUse(dataset=self.ref, schema_digest=digest_of_schema(self.facets))
        return self._plain

    def version(self) -> Position | None:
        """The version of it that its facets state.

        Raises:
            Refused: a facet has another shape.
        """
        if not self._position:
            self._position.append(_version(self.facets))
        return self._position[0]


class DescribedJob(_Described):
    """A job with its facets.

    Attributes:
        ref: namespace and name.
        held: facets as the event of the job or of a run holds them.
        rest: JSON of the job without the facets that are held.
    """

    __slots__ = ("_declared", "held", "processing_type", "ref", "rest")

    def __init__(self, ref: JobRef, job: Json, facets: Facets, unread: Json | None = None) -> None:
        super().__init__(facets, unread)
        self.ref = ref
        self.held = {name: kept(facet) for name, (facet, _) in facets.items()}
        self.held |= {name: kept(facet) for name, facet in self.unread.items()}
        self.rest = msgspec.Raw(kept(without(job, "facets", self.held)).encode())
        self.processing_type = processing_type(facets)
        self._declared: list[JobEvent | None] = []

    def declared(self) -> JobEvent | None:
        """Convert its facets to a JobEvent; None if they state nothing.

        Raises:
            Refused: a facet of the specification has another shape than it describes.
        """
        if not self._declared:
            body = JobEvent(**job_fields(self.facets))
            self._declared.append(None if body == JobEvent() else body)
        return self._declared[0]


_DATASETS: Final = Latest[DescribedDataset](MAX_BYTES)
_JOBS: Final = Latest[DescribedJob](MAX_BYTES)


def described_dataset(entry: Json, at: str, unread: Collection[str] = ()) -> DescribedDataset:
    """Read a dataset of a document.

    Args:
        entry: the dataset's member of the document.
        at: JSON pointer of the entry.
        unread: pointers of facets that aren't read; empty for a document in parts.

    Raises:
        Refused: it has no name, or its facets are no object of objects.
    """
    facets = entry.get("facets")
    key = (entry.get("namespace"), entry.get("name"), facets.token) if type(facets) is Shared else None
    known = None if key is None else _DATASETS.get(key)
    if known is None:
        known = DescribedDataset(need_dataset(entry, at), *read_facets(entry, "facets", at, unread))
        if key is not None and type(facets) is Shared:
            _DATASETS.put(key, known, len(facets.text))
    return known


def described_job(job: Json, at: str, unread: Collection[str] = ()) -> DescribedJob:
    """Read the job of a document.

    Args:
        job: the document's `job`.
        at: JSON pointer of the job.
        unread: pointers of facets that aren't read; empty for a document in parts.

    Raises:
        Refused: it has no namespace or name, or its facets are no object of objects.
    """
    known = _JOBS.get(job.token) if type(job) is Shared else None
    if known is None:
        ref = JobRef(given_text(job, "namespace", at), need_text(job, "name", at))
        known = DescribedJob(ref, job, *read_facets(job, "facets", at, unread))
        if type(job) is Shared:
            _JOBS.put(job.token, known, len(job.text))
    return known


def _version(facets: Facets) -> Position | None:
    if "version" not in facets:
        return None
    facet, at = facets["version"]
    version = text(facet, "datasetVersion", at)
    if not version:
        return None
    storage = facets.get("storage")
    format_ = text(storage[0], "storageLayer", storage[1]) if storage is not None else None
    return Position(table_snapshot=TableSnapshot(format=(format_ or "").lower(), snapshot_id=version))
