"""Conversion of a job's facets to the body of a JobEvent, and to fields of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from headwater_openlineage.datasets import description_of, owners_of, tags_of
from headwater_openlineage.facets import is_deleted
from headwater_openlineage.reading import Json, given_text, text
from headwater_schemas.events import ProcessingType, SourceLocation

Fields: TypeAlias = dict[str, Any]
_Reader: TypeAlias = Callable[[Json, str], Fields]
_PROCESSING: Final = {"BATCH": ProcessingType.BATCH, "STREAMING": ProcessingType.STREAMING}


def job_fields(facets: Mapping[str, tuple[Json, str]]) -> Fields:
    """Read the fields of a JobEvent from a job's facets.

    Args:
        facets: facets by name, each with its pointer.

    Raises:
        Refused: a facet's shape differs from the specification.
    """
    fields: Fields = {}
    for name, reader in _FACETS.items():
        if name in facets:
            fields |= reader(*facets[name])
    return fields


def processing_type(facets: Mapping[str, tuple[Json, str]]) -> ProcessingType:
    """Return batch or streaming, by the jobType facet.

    Raises:
        Refused: the facet has an unexpected shape.
    """
    if "jobType" not in facets:
        return ProcessingType.UNKNOWN
    found: ProcessingType | None = _job_type(*facets["jobType"]).get("processing_type")
    return found or ProcessingType.UNKNOWN


def _job_type(facet: Json, at: str) -> Fields:
    if is_deleted(facet):
        return {"integration": "", "job_type": ""}
    processing = (text(facet, "processingType", at) or "").upper()
    return {
        "processing_type": _PROCESSING.get(processing),
        "integration": text(facet, "integration", at),
        "job_type": text(facet, "jobType", at),
    }


def _source(facet: Json, at: str) -> Fields:
    if is_deleted(facet):
        return {"source": SourceLocation(type="", url="")}
    return {
        "source": SourceLocation(
            type=given_text(facet, "type", at),
            url=given_text(facet, "url", at),
            repo_url=text(facet, "repoUrl", at),
            path=text(facet, "path", at),
            version=text(facet, "version", at),
            branch=text(facet, "branch", at),
        )
    }


_FACETS: Final[Mapping[str, _Reader]] = {
    "jobType": _job_type,
    "ownership": lambda facet, at: {"owners": owners_of(facet, at)},
    "tags": lambda facet, at: {"tags": tags_of(facet, at)},
    "documentation": description_of,
    "sourceCodeLocation": _source,
}
