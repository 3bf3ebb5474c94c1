"""Explicit lineage facet of a dataset or job: the sources of a target, field by field if given.

A source that is a job has no dataset, so it gives no edge. Entries about another job are only stored verbatim.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from headwater_openlineage.columns import CollectedEdges
from headwater_openlineage.errors import Refused
from headwater_openlineage.facets import is_deleted
from headwater_openlineage.reading import Json, given_text, members, need_dataset, rows, step, text
from headwater_schemas.events import DatasetRef, JobRef, TransformationType

_DATASET, _JOB = "DATASET", "JOB"


@dataclass(slots=True)
class Explicit:
    """Sources and targets in the explicit lineage facets of one document.

    Attributes:
        consumed: datasets that feed the job itself.
    """

    sources: dict[DatasetRef, set[DatasetRef]] = field(default_factory=dict)
    consumed: dict[DatasetRef, None] = field(default_factory=dict)


def read_target(entry: Json, target: DatasetRef, found: Explicit, lineage: CollectedEdges, at: str) -> None:
    """Add a dataset's sources to `found`, and its edges to `lineage`.

    Raises:
        Refused: the entry has an unexpected shape.
    """
    if is_deleted(entry):
        return
    if entry.get("inputs") is not None:
        found.sources.setdefault(target, set())
    for row, where in rows(entry, "inputs", at):
        _source(row, (target, None), found, lineage, where)
    for name, item, where in members(entry, "fields", at):
        path = lineage.path(target, name)
        lineage.cover(target, name)
        found.sources.setdefault(target, set())
        for row, there in rows(item, "inputs", where):
            _source(row, (target, path), found, lineage, there)


def read_job_lineage(facet: Json, job: JobRef, found: Explicit, lineage: CollectedEdges, at: str) -> None:
    """Add the entries of a job's facet to `found`, and their edges to `lineage`.

    Raises:
        Refused: the facet has an unexpected shape.
    """
    if is_deleted(facet):
        return
    for entry, where in rows(facet, "entries", at):
        if _type(entry, where) == _DATASET:
            target = need_dataset(entry, where)
            read_target(entry, target, found, lineage, where)
        elif _is_own(entry, job, where):
            for row, there in rows(entry, "inputs", where):
                if (source := _dataset(row, there)) is not None:
                    found.consumed[source] = None


def _source(
    row: Json, output: tuple[DatasetRef, str | None], found: Explicit, lineage: CollectedEdges, at: str
) -> None:
    source = _dataset(row, at)
    if source is None:
        return
    found.sources.setdefault(output[0], set()).add(source)
    name = text(row, "field", at)
    transformations = [each for each, _ in rows(row, "transformations", at)]
    if name is None and output[1] is None and not transformations:
        return
    path = None if name is None else lineage.path(source, name)
    default = TransformationType.INDIRECT if output[1] is None else TransformationType.UNKNOWN
    for transformation in transformations or [{}]:
        lineage.add(output, (source, path), transformation, at, default)


def _dataset(row: Json, at: str) -> DatasetRef | None:
    if _type(row, at) == _JOB:
        return None
    return need_dataset(row, at)


def _type(row: Json, at: str) -> str:
    found = given_text(row, "type", at)
    if found not in {_DATASET, _JOB}:
        raise Refused(step(at, "type"), f"must be {_DATASET} or {_JOB}")
    return found


def _is_own(entry: Json, job: JobRef, at: str) -> bool:
    name = text(entry, "name", at)
    return name is None or JobRef(text(entry, "namespace", at) or "", name) == job


def sources_of(found: Explicit) -> Mapping[DatasetRef, tuple[DatasetRef, ...]]:
    """Return the sorted sources of each target."""
    return {target: tuple(sorted(sources)) for target, sources in found.sources.items()}
