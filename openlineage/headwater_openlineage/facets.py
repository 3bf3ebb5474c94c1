"""Names of facets, their schemas, and the stored form of a facet: JSON text with sorted keys."""

from __future__ import annotations

import json
from typing import Any, Final

import msgspec

from headwater_openlineage.reading import Json

CORE: Final = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/"
"""Schema of an event and of its parts, before a suffix such as `RunEvent`."""

_FACETS: Final = "https://openlineage.io/spec/facets/"
SCHEMAS: Final = {
    # name in a document: version and name of the schema
    "columnLineage": "1-2-0/ColumnLineageDatasetFacet",
    "datasetType": "1-0-1/DatasetTypeDatasetFacet",
    "documentation": "1-1-0/DocumentationDatasetFacet",
    "lifecycleStateChange": "1-0-1/LifecycleStateChangeDatasetFacet",
    "ownership": "1-0-1/OwnershipDatasetFacet",
    "schema": "1-2-0/SchemaDatasetFacet",
    "storage": "1-0-1/StorageDatasetFacet",
    "symlinks": "1-0-1/SymlinksDatasetFacet",
    "tags": "1-0-0/TagsDatasetFacet",
    "version": "1-0-1/DatasetVersionDatasetFacet",
    "dataQualityAssertions": "1-1-0/DataQualityAssertionsDatasetFacet",
    "inputStatistics": "1-0-0/InputStatisticsInputDatasetFacet",
    "outputStatistics": "1-0-2/OutputStatisticsOutputDatasetFacet",
    "job.documentation": "1-1-0/DocumentationJobFacet",
    "job.jobType": "2-0-4/JobTypeJobFacet",
    "job.lineage": "1-0-0/LineageFacet#/$defs/LineageJobFacet",
    "job.ownership": "1-0-1/OwnershipJobFacet",
    "job.sourceCodeLocation": "1-1-0/SourceCodeLocationJobFacet",
    "job.tags": "1-0-0/TagsJobFacet",
    "run.errorMessage": "1-0-1/ErrorMessageRunFacet",
    "run.nominalTime": "1-0-1/NominalTimeRunFacet",
    "run.parent": "1-2-0/ParentRunFacet",
    "run.processing_engine": "1-1-1/ProcessingEngineRunFacet",
}
_SUBSET: Final = "1-0-0/BaseSubsetDatasetFacet"

BASE: Final = frozenset({"_producer", "_schemaURL", "_deleted"})
"""Members that every facet may have."""


def schema_url(name: str) -> str:
    """Return the `_schemaURL` of a standard facet, by its key in `SCHEMAS`."""
    version, _, schema = SCHEMAS[name].partition("/")
    file, _, definition = schema.partition("#/$defs/")
    return f"{_FACETS}{version}/{file}.json#/$defs/{definition or file}"


def subset_url(definition: str) -> str:
    """Return the `_schemaURL` of a subset facet, which has two definitions in one file."""
    return f"{_FACETS}{_SUBSET}.json#/$defs/{definition}"


def kept(facet: Any) -> str:
    """Encode a facet in the stored form of an event's `facets`."""
    try:
        return msgspec.json.encode(facet, order="deterministic").decode()
    except OverflowError:
        # A number of more than 64 bits, which only the slower encoder supports.
        return json.dumps(facet, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def is_deleted(facet: Json) -> bool:
    """Return True if the facet deletes earlier reports."""
    return facet.get("_deleted") is True
