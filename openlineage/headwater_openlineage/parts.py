"""Cache of the datasets and jobs that documents repeat verbatim, so that each is read once.

A client sends the schemas of all datasets, and their column lineage, with every event of every run. These are the
largest part of a document. So a document in the specification's shape is split before it is parsed. The facets of each
dataset and job are looked up by their names and text, and read only if they are new.
"""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec
from msgspec import UNSET, Raw, UnsetType

from headwater_openlineage.nesting import DEFAULT_MAX_DEPTH, deeper
from headwater_openlineage.reading import Json
from headwater_schemas.lru_cache import LruCache

COLON: Final = re.compile(rb"\\u003[aA]")
"""A colon that msgspec would encode differently."""
MAX_BYTES: Final = 8 << 20
"""Maximum size of the cached texts. The values read from the texts take several times as much memory."""
_LEVELS_ABOVE: Final = 3
"""Nesting levels above a dataset's facets: the document, `inputs`, the dataset."""


class Shared(dict[str, Any]):
    """All facets of a dataset or job, shared by the documents that repeat them. Its members are never changed.

    Attributes:
        text: JSON text with sorted keys.
        owner: namespace and name of the dataset or job.
        clean: True once the facets are known to have no credentials.
        described: the `DescribedDataset` or `DescribedJob` with these facets; None before it is read.
    """

    __slots__ = ("clean", "colons", "described", "owner", "text")

    def __init__(self, value: dict[str, Any], text: bytes, colons: int, owner: tuple[object, object]) -> None:
        super().__init__(value)
        self.text = text
        self.colons = colons
        self.owner = owner
        self.clean = False
        self.described: object = None


class _Job(msgspec.Struct, omit_defaults=True):
    """Job of an event."""

    namespace: str | UnsetType = UNSET
    name: str | UnsetType = UNSET
    facets: Raw | UnsetType = UNSET


class _Dataset(_Job, omit_defaults=True):
    """Dataset of an event."""

    inputFacets: dict[str, Any] | UnsetType = UNSET  # noqa: N815 - OpenLineage's name, like the next ones
    outputFacets: dict[str, Any] | UnsetType = UNSET  # noqa: N815


class _Event(msgspec.Struct, omit_defaults=True):
    """RunEvent, JobEvent or DatasetEvent."""

    eventType: str | UnsetType = UNSET  # noqa: N815
    eventTime: str | UnsetType = UNSET  # noqa: N815
    run: dict[str, Any] | UnsetType = UNSET
    job: _Job | UnsetType = UNSET
    dataset: _Dataset | UnsetType = UNSET
    inputs: list[_Dataset] | UnsetType = UNSET
    outputs: list[_Dataset] | UnsetType = UNSET
    producer: str | UnsetType = UNSET
    schemaURL: str | UnsetType = UNSET  # noqa: N815


_EVENT: Final = msgspec.json.Decoder(_Event)
_FACETS: Final = msgspec.json.Decoder(dict[str, dict[str, Any]])
_LEFT_OUT: Final = Raw(b"0")
_CACHE: Final = LruCache[Shared](MAX_BYTES)


def in_parts(data: bytes) -> Json | None:
    """Return a document with shared facets; None for an unusual document, which must be parsed as a whole.

    If an object has a name twice, msgspec takes the last value. The document encoded again then has fewer colons than
    the bytes (colons in strings included). Members that aren't in the specification have the same effect.
    """
    if b"\\" in data and COLON.search(data):
        return None
    try:
        event = _EVENT.decode(data)
        shared: list[Shared] = []
        document: Json = {}
        if event.job is not UNSET:
            document["job"] = _members(event.job, shared)
        if event.dataset is not UNSET:
            document["dataset"] = _members(event.dataset, shared)
        for name in ("inputs", "outputs"):
            if (entries := getattr(event, name)) is not UNSET:
                document[name] = [_members(entry, shared) for entry in entries]
        rest = msgspec.json.encode(event)
    except (ValueError, OverflowError, RecursionError):
        return None
    if data.count(b":") != rest.count(b":") + sum(each.colons for each in shared) or deeper(rest, DEFAULT_MAX_DEPTH):
        return None
    for name in ("eventType", "eventTime", "run", "producer", "schemaURL"):
        if (value := getattr(event, name)) is not UNSET:
            document[name] = value
    return document


def _members(source: _Job, shared: list[Shared]) -> Json:
    """Return the members of a dataset or job, move its facets into `shared`, and leave them out of `source`."""
    found: Json = {}
    if source.facets is not UNSET:
        found["facets"] = facets = _facets(source, bytes(source.facets))
        shared.append(facets)
        source.facets = _LEFT_OUT
    for name in source.__struct_fields__:
        if name != "facets" and (value := getattr(source, name)) is not UNSET:
            found[name] = value
    return found


def _facets(source: _Job, data: bytes) -> Shared:
    """Read the facets of a dataset or job, or find them in the cache.

    Raises:
        ValueError: the facets aren't well-formed, aren't an object of objects, or have a name twice.
        OverflowError: the facets have a number of more than 64 bits.
    """
    key = (type(source), source.namespace, source.name, data)
    cached = _CACHE.get(key)
    if cached is not None:
        return cached
    if deeper(data, DEFAULT_MAX_DEPTH - _LEVELS_ABOVE):
        raise ValueError("perhaps nested too deep")
    value = _FACETS.decode(data)
    text = msgspec.json.encode(value, order="deterministic")
    colons = text.count(b":")
    if colons != data.count(b":"):
        raise ValueError("a name twice in one object")
    found = Shared(value, text, colons, (source.namespace, source.name))
    _CACHE.put(key, found, len(data))
    return found
