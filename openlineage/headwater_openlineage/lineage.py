"""Lineage of a document: source columns and source datasets of its outputs.

The lineage comes from explicit lineage facets and columnLineage facets, which the producer reported. Without both, it
comes from the text of the sql facet and is marked as parsed.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import msgspec

from headwater_openlineage.columns import CollectedEdges, path_step, read_column_lineage, top_level_names
from headwater_openlineage.described import DescribedDataset, DescribedJob, Facets
from headwater_openlineage.explicit import Explicit, read_job_lineage, read_target, sources_of
from headwater_openlineage.parsed import Table, dialect_of, edges_of
from headwater_openlineage.parts import MAX_BYTES
from headwater_openlineage.reading import Json, text
from headwater_schemas.events import (
    ColumnEdge,
    ColumnLineage,
    DatasetRef,
    PlanEvent,
    TransformationKind,
    build,
)
from headwater_schemas.lru_cache import LruCache
from headwater_schemas.reasons import NO_SOURCES, PARSED


@dataclass(frozen=True, slots=True)
class Made:
    """Lineage of a document's outputs.

    Attributes:
        columns: the column lineage; None if there is no edge.
        sources: source datasets of each output, if explicit facets have them.
        consumed: datasets that the job reads according to explicit facets.
        plan: plan with the column lineage and its digest; None without lineage.
    """

    columns: ColumnLineage | None
    sources: Mapping[DatasetRef, tuple[DatasetRef, ...]]
    consumed: tuple[DatasetRef, ...]
    plan: PlanEvent | None


_MADE: Final = LruCache[Made](MAX_BYTES)


def made_from(job: DescribedJob, inputs: Sequence[DescribedDataset], outputs: Sequence[DescribedDataset]) -> Made:
    """Read the lineage of a document's outputs.

    Raises:
        Refused: a facet has an unexpected shape.
    """
    described: tuple[DescribedJob | DescribedDataset, ...] = (job, *inputs, *outputs)
    key = (len(inputs), *map(_key, described))
    if None in key:
        return _made_from(job, inputs, outputs)
    lineage = _MADE.get(key)
    if lineage is None:
        lineage = _made_from(job, inputs, outputs)
        _MADE.put(key, lineage, sum(each.shared_bytes for each in described))
    return lineage


def _key(described: DescribedJob | DescribedDataset) -> Hashable | None:
    """Return a part of a cached lineage's key; None if facets aren't shared with other documents."""
    return described if described.shared_bytes else None if described.facets else described.ref


def _made_from(job: DescribedJob, inputs: Sequence[DescribedDataset], outputs: Sequence[DescribedDataset]) -> Made:
    facets = job.facets
    schemas = _schemas((*inputs, *outputs))
    lineage, explicit = CollectedEdges(schemas), Explicit()
    for each in outputs:
        if "columnLineage" in each.facets:
            read_column_lineage(*_with_output(each, "columnLineage"), lineage)
        if "lineage" in each.facets:
            facet, at = each.facets["lineage"]
            read_target(facet, each.ref, explicit, lineage, at)
    if "lineage" in facets:
        facet, at = facets["lineage"]
        read_job_lineage(facet, job.ref, explicit, lineage, at)
    columns = lineage.finished([each.ref for each in outputs])
    sources = sources_of(explicit)
    if columns is None and not sources and "sql" in facets:
        columns = _parsed(facets, inputs, outputs, schemas)
    plan = None if columns is None else build.plan_event(columns)
    return Made(columns, sources, tuple(explicit.consumed), plan)


def _with_output(each: DescribedDataset, name: str) -> tuple[Json, str, DatasetRef]:
    facet, at = each.facets[name]
    return facet, at, each.ref


def _schemas(datasets: Iterable[DescribedDataset]) -> dict[DatasetRef, tuple[str, ...]]:
    return {each.ref: top_level_names(*each.facets["schema"]) for each in datasets if "schema" in each.facets}


def _parsed(
    facets: Facets,
    inputs: Sequence[DescribedDataset],
    outputs: Sequence[DescribedDataset],
    schemas: Mapping[DatasetRef, tuple[str, ...]],
) -> ColumnLineage | None:
    facet, at = facets["sql"]
    query = text(facet, "query", at)
    if not query or not inputs or not outputs:
        return None
    integration = None
    if "jobType" in facets:
        job_type, there = facets["jobType"]
        integration = text(job_type, "integration", there)
    namespaces = [each.ref.namespace for each in (*outputs, *inputs)]
    dialect = dialect_of(text(facet, "dialect", at), namespaces, integration)
    lineage = CollectedEdges(schemas)
    for edge in edges_of(query, dialect, _tables(inputs, schemas), _tables(outputs, schemas)):
        output, source = (DatasetRef(table.namespace, table.name) for table in (edge.output, edge.input))
        transformation: Json = {"type": "DIRECT" if edge.direct else "INDIRECT", "subtype": edge.subtype}
        ends = tuple(None if name is None else path_step(name) for name in (edge.output_column, edge.input_column))
        lineage.add((output, ends[0]), (source, ends[1]), transformation, at)
    found = lineage.finished([])
    return None if found is None else msgspec.structs.replace(found, complete=False, incomplete_reason=PARSED)


def _tables(datasets: Sequence[DescribedDataset], schemas: Mapping[DatasetRef, tuple[str, ...]]) -> tuple[Table, ...]:
    found = [Table(each.ref.namespace, each.ref.name) for each in datasets]
    return tuple(
        dict.fromkeys(
            replace(table, columns=schemas.get(DatasetRef(table.namespace, table.name), ())) for table in found
        )
    )


def with_pairs(
    columns: ColumnLineage | None,
    pairs: Iterable[tuple[DatasetRef, DatasetRef]],
    possible: Iterable[tuple[DatasetRef, DatasetRef]],
) -> ColumnLineage | None:
    """Add an edge between whole datasets for each pair that no column edge connects.

    Args:
        possible: pairs whose relation is only possible (kind EXTERNAL).
    """
    before = columns if columns is not None else ColumnLineage()
    connected = {
        (before.datasets[edge.input], before.datasets[edge.output]) for edge in before.edges if edge.input is not None
    }
    datasets = {dataset: index for index, dataset in enumerate(before.datasets)}
    edges = list(before.edges)
    for kind, each in ((TransformationKind.UNKNOWN, pairs), (TransformationKind.EXTERNAL, possible)):
        for source, target in each:
            if (source, target) not in connected:
                start, end = (datasets.setdefault(dataset, len(datasets)) for dataset in (source, target))
                edges.append(ColumnEdge(output=end, input=start, kind=kind))
    if not edges:
        return None
    after = msgspec.structs.replace(before, datasets=tuple(datasets), edges=tuple(edges))
    if not any(edge.kind is TransformationKind.EXTERNAL for edge in edges):
        return after
    return msgspec.structs.replace(after, complete=False, incomplete_reason=before.incomplete_reason or NO_SOURCES)
