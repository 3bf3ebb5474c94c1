"""Reads documents as clients usually send them, in parts: a part that another document had word for word is cached.

A part is the facets of a dataset, or a job. Parts are looked up by their text, and read only if they are new.
"""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec
from msgspec import UNSET, Raw, UnsetType

from headwater_openlineage.nesting import DEFAULT_MAX_DEPTH, deeper
from headwater_openlineage.reading import Json
from headwater_openlineage.repeated import MAX_BYTES, Shared
from headwater_schemas.latest import Latest

COLON: Final = re.compile(rb"\\u003[aA]")
"""A colon that isn't written again as it was."""
_ABOVE: Final = 3
"""Nesting levels above a dataset's facets: the document, `inputs`, the dataset."""


class _Entry(msgspec.Struct, omit_defaults=True):
    """A dataset of an event."""

    namespace: str | UnsetType = UNSET
    name: str | UnsetType = UNSET
    facets: Raw | UnsetType = UNSET
    inputFacets: dict[str, Any] | UnsetType = UNSET  # noqa: N815 - OpenLineage's name, as the next ones are
    outputFacets: dict[str, Any] | UnsetType = UNSET  # noqa: N815


class _Event(msgspec.Struct, omit_defaults=True):
    """A RunEvent, JobEvent or DatasetEvent."""

    eventType: str | UnsetType = UNSET  # noqa: N815
    eventTime: str | UnsetType = UNSET  # noqa: N815
    run: dict[str, Any] | UnsetType = UNSET
    job: Raw | UnsetType = UNSET
    dataset: _Entry | UnsetType = UNSET
    inputs: list[_Entry] | UnsetType = UNSET
    outputs: list[_Entry] | UnsetType = UNSET
    producer: str | UnsetType = UNSET
    schemaURL: str | UnsetType = UNSET  # noqa: N815


class _Job(msgspec.Struct, omit_defaults=True):
    """A job of an event."""

    namespace: str | UnsetType = UNSET
    name: str | UnsetType = UNSET
    facets: Raw | UnsetType = UNSET


_EVENT: Final = msgspec.json.Decoder(_Event)
_JOB: Final = msgspec.json.Decoder(_Job)
_FACETS: Final = msgspec.json.Decoder(dict[str, Raw])
_LEFT_OUT: Final = Raw(b"0")
# By their texts; as values they take some ten times as much.
_KNOWN_JOBS: Final = Latest[Shared](MAX_BYTES // 2)
_KNOWN_FACETS: Final = Latest[Shared](MAX_BYTES)
_KNOWN_FACET: Final = Latest[Shared](MAX_BYTES // 2)


def in_parts(data: bytes) -> Json | None:
    """The document that the bytes hold; None of anything unusual, which only all of it can tell.

    Of a name that is twice in one object msgspec takes the last: then what is written again has fewer colons than the
    bytes, also counting those in strings. Members that the specification doesn't have are missing then, too.
    """
    if b"\\" in data and COLON.search(data):
        return None
    try:
        event = _EVENT.decode(data)
        colons = 0
        document: Json = {}
        if event.job is not UNSET:
            job = _job(bytes(event.job))
            colons += job.colons
            document["job"], event.job = job, _LEFT_OUT
        for name in ("inputs", "outputs"):
            if (entries := getattr(event, name)) is not UNSET:
                document[name] = [_entry(entry) for entry in entries]
                colons += sum(each["facets"].colons for each in document[name] if "facets" in each)
        if event.dataset is not UNSET:
            document["dataset"] = dataset = _entry(event.dataset)
            colons += dataset["facets"].colons if "facets" in dataset else 0
        rest = msgspec.json.encode(event)
    except (ValueError, OverflowError, RecursionError):
        return None
    if data.count(b":") != colons + rest.count(b":") or deeper(rest, DEFAULT_MAX_DEPTH):
        return None
    for name in ("eventType", "eventTime", "run", "producer", "schemaURL"):
        if (value := getattr(event, name)) is not UNSET:
            document[name] = value
    return document


def _entry(entry: _Entry) -> Json:
    found: Json = {}
    if entry.facets is not UNSET:
        found["facets"] = _facets(bytes(entry.facets))
        entry.facets = _LEFT_OUT
    if entry.namespace is not UNSET:
        found["namespace"] = entry.namespace
    if entry.name is not UNSET:
        found["name"] = entry.name
    if entry.inputFacets is not UNSET:
        found["inputFacets"] = entry.inputFacets
    if entry.outputFacets is not UNSET:
        found["outputFacets"] = entry.outputFacets
    return found


def _job(data: bytes) -> Shared:
    """A job by its text.

    Raises:
        ValueError, OverflowError: as of `_facet`.
    """
    known = _KNOWN_JOBS.get(data)
    if known is not None:
        return known
    job = _JOB.decode(data)
    found = {name: value for name, value in msgspec.structs.asdict(job).items() if value is not UNSET}
    if job.facets is not UNSET:
        found["facets"] = _facets(bytes(job.facets))
    return _shared(found, data, _KNOWN_JOBS)


def _facets(data: bytes) -> Shared:
    """The facets of a dataset or job by their text.

    Raises:
        ValueError, OverflowError: as of `_facet`.
    """
    known = _KNOWN_FACETS.get(data)
    if known is not None:
        return known
    if deeper(data, DEFAULT_MAX_DEPTH - _ABOVE):
        raise ValueError("perhaps nested too deep")
    found = {name: _facet(bytes(raw)) for name, raw in _FACETS.decode(data).items()}
    return _shared(found, data, _KNOWN_FACETS)


def _facet(data: bytes) -> Shared:
    """A facet by its text.

    Raises:
        ValueError: it isn't well-formed, or no object, or has a name twice.
        OverflowError: it has a number of more than 64 bits.
    """
    known = _KNOWN_FACET.get(data)
    if known is not None:
        return known
    found = msgspec.json.decode(data)
    if not isinstance(found, dict):
        raise ValueError("no facet")  # noqa: TRY004 - what reads it all tells which type it must have
    return _shared(found, data, _KNOWN_FACET)


def _shared(value: Json, data: bytes, known: Latest[Shared]) -> Shared:
    text = msgspec.json.encode(value, order="deterministic")
    colons = text.count(b":")
    if colons != data.count(b":"):
        raise ValueError("a name twice in one object")
    found = Shared(value, text, colons)
    known.put(data, found, len(data))
    return found
