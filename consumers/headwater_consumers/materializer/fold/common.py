"""Cells that several bodies share: sets of owners and tags, versions, facets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater_consumers.facts.registers import FACET, Props, Registers
from headwater_consumers.graph.keys import query_key
from headwater_consumers.graph.words import text_words
from headwater_consumers.materializer.fold.builder import put

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from enum import StrEnum

    from headwater_schemas.events import JobRef, Owner, ParentRun, Tag, Versions


def owners_cell(owners: Iterable[Owner] | None) -> Props | None:
    """Owners as parallel lists, sorted; empty lists clear."""
    if owners is None:
        return None
    rows = sorted({(owner.name, owner.type or "") for owner in owners})
    names = [name for name, _ in rows]
    return {"owners": names, "owner_types": [type_ for _, type_ in rows], "_owner_words": text_words(names)}


def tags_cell(tags: Iterable[Tag] | None) -> Props | None:
    """Tags as parallel lists, sorted; empty lists clear."""
    if tags is None:
        return None
    rows = sorted({(tag.key, tag.value or "", tag.source or "", tag.field or "") for tag in tags})
    return {
        "tags": [row[0] for row in rows],
        "tag_values": [row[1] for row in rows],
        "tag_sources": [row[2] for row in rows],
        "tag_fields": [row[3] for row in rows],
        "_tag_words": text_words(text for row in rows for text in row[:2]),
    }


def put_versions(registers: Registers, stamp: str, versions: Versions | None) -> None:
    """Fill the registers of code, configuration, engine and capture."""
    if versions is None:
        return
    put(registers, stamp, code_version=versions.code, config_version=versions.config, capture_version=versions.capture)
    if (engine := versions.engine) is not None:
        put(registers, stamp, engine={"engine": engine.name, "engine_version": engine.version})


def put_facets(registers: Registers, stamp: str, facets: Mapping[str, str]) -> None:
    """Fill a register for each facet; an empty text clears it."""
    for name, text in facets.items():
        registers[FACET + name] = (stamp, text)


def job_cell(job: JobRef, run_id: str) -> Props:
    """The job that a run shows, and the run's name for people."""
    return {"job_name": job.name, "job_namespace": job.namespace, "name": f"{job.name} {run_id[:8]}"}


def query_cell(tenant: str, query_id: str | None) -> Props | None:
    """The streaming query that a run is a start of, with its key, which an index takes however long the id is."""
    return None if query_id is None else {"query_id": query_id, "_query": query_key(tenant, query_id)}


def parent_cell(parent: ParentRun | None, role: str) -> Props | None:
    """A run above this one; `role` is parent or root."""
    if parent is None:
        return None
    return {
        f"{role}_run_id": parent.run_id,
        f"{role}_job_namespace": parent.job.namespace,
        f"{role}_job_name": parent.job.name,
    }


def known(symbol: StrEnum | None) -> str | None:
    """An enum's symbol, or None for UNKNOWN, which records nothing."""
    return None if symbol is None or symbol.value == "UNKNOWN" else symbol.value
