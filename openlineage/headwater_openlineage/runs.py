"""A run's facets → fields of a RunEvent."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from headwater_openlineage.errors import Refused
from headwater_openlineage.facets import is_deleted
from headwater_openlineage.reading import Json, given_text, mapping, need_mapping, need_text, step, text
from headwater_openlineage.times import time
from headwater_schemas.events import EngineRef, JobRef, ParentRun, RunError, RunRef, Versions
from headwater_schemas.identity import run_id_of

Fields: TypeAlias = dict[str, Any]
_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE | re.ASCII)
_Reader: TypeAlias = Callable[[Json, str], Fields]


def run_ref(run: Json, at: str) -> RunRef:
    """The run, by its UUID in lower case.

    Raises:
        Refused: `runId` is missing or no UUID.
    """
    given = need_text(run, "runId", at)
    run_id = _uuid(given)
    if run_id is None:
        raise Refused(step(at, "runId"), "must be a UUID, such as 0197c1de-52f0-7bd1-9d55-1a2b3c4d5e6f")
    return RunRef(run_id)


def _uuid(given: str) -> str | None:
    return given.lower() if _UUID.fullmatch(given) else None


def job_ref(job: Json, at: str) -> JobRef:
    """The job. Its namespace may be empty.

    Raises:
        Refused: the namespace or the name is missing.
    """
    return JobRef(given_text(job, "namespace", at), need_text(job, "name", at))


def run_fields(facets: Mapping[str, tuple[Json, str]]) -> Fields:
    """Fields of a RunEvent that the facets fill.

    Args:
        facets: facets by name, each with its pointer.

    Raises:
        Refused: a facet of the specification has another shape than it describes.
    """
    fields: Fields = {}
    for name, reader in _FACETS.items():
        if name in facets and not is_deleted(facets[name][0]):
            fields |= reader(*facets[name])
    return fields


def _parent(facet: Json, at: str) -> Fields:
    fields: Fields = {"parent": _above(facet, at)}
    root = mapping(facet, "root", at)
    if root is not None:
        fields["root"] = _above(root, step(at, "root"))
    return fields


def _above(source: Json, at: str) -> ParentRun:
    run = need_mapping(source, "run", at)
    given = need_text(run, "runId", step(at, "run"))
    # Old integrations name a parent as their scheduler does, and events by hand as the parent's own event does.
    return ParentRun(_uuid(given) or run_id_of(given), job_ref(need_mapping(source, "job", at), step(at, "job")))


def _nominal(facet: Json, at: str) -> Fields:
    return {"nominal_start": time(facet, "nominalStartTime", at), "nominal_end": time(facet, "nominalEndTime", at)}


def _error(facet: Json, at: str) -> Fields:
    message = text(facet, "message", at)
    return {"error": RunError(message=message or "", stack_trace=text(facet, "stackTrace", at))}


def _engine(facet: Json, at: str) -> Fields:
    name = text(facet, "name", at) or ""
    version = text(facet, "version", at) or ""
    return {"versions": Versions(engine=EngineRef(name.lower(), version))}


_FACETS: Final[Mapping[str, _Reader]] = {
    "parent": _parent,
    "nominalTime": _nominal,
    "errorMessage": _error,
    "processing_engine": _engine,
}
