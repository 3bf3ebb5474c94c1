"""Conversion of a dataset's facets to the body of a DatasetEvent.

A facet whose whole content is in a field of the event isn't repeated in `facets`; any other facet is stored in `facets`
verbatim, and replaces the previous facet of its name. A facet with `_deleted` clears its field.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, TypeAlias

from headwater_openlineage.columns import schema_of
from headwater_openlineage.errors import Refused
from headwater_openlineage.facets import BASE, is_deleted, kept
from headwater_openlineage.reading import Json, given_text, mapping, need_dataset, need_text, rows, step, text
from headwater_schemas.events import (
    DatasetEvent,
    DatasetRef,
    LifecycleChange,
    Owner,
    Storage,
    Symlink,
    Tag,
)
from headwater_schemas.identity import schema_digest
from headwater_schemas.naming import normal

Fields: TypeAlias = dict[str, Any]
_Reader: TypeAlias = Callable[[Json, str], Fields]
_LIFECYCLES: Final = {change.value: change for change in LifecycleChange if change is not LifecycleChange.UNKNOWN}


def dataset_body(dataset: DatasetRef, facets: Mapping[str, tuple[Json, str]], besides: Collection[str]) -> DatasetEvent:
    """Convert a dataset's facets to a DatasetEvent.

    Args:
        facets: facets by name, each with its pointer.
        besides: names of facets that are stored elsewhere and left out here.

    Raises:
        Refused: a facet's shape differs from the specification.
    """
    fields: Fields = {}
    others: dict[str, str] = {}
    for name, (facet, at) in facets.items():
        if name in besides:
            continue
        reader, covered = _FACETS.get(name, (None, frozenset()))
        if reader is not None:
            fields |= reader(facet, at)
        if reader is None or facet.keys() - covered - BASE:
            others[name] = kept(facet)
    return DatasetEvent(dataset=dataset, facets=others, **fields)


def digest_of_schema(facets: Mapping[str, tuple[Json, str]]) -> str | None:
    """Return the digest of the schema in a dataset's facets; None without a schema.

    Raises:
        Refused: the facet's shape differs from the specification.
    """
    if "schema" not in facets:
        return None
    facet, at = facets["schema"]
    schema = schema_of(facet, at)
    return schema_digest(schema) if schema.fields else None


def owners_of(facet: Json, at: str) -> tuple[Owner, ...]:
    """Return the owners in an ownership facet.

    Raises:
        Refused: an owner has no name.
    """
    if is_deleted(facet):
        return ()
    return tuple(
        Owner(given_text(row, "name", where), text(row, "type", where)) for row, where in rows(facet, "owners", at)
    )


def tags_of(facet: Json, at: str) -> tuple[Tag, ...]:
    """Return the tags in a tags facet.

    Raises:
        Refused: a tag has no key.
    """
    if is_deleted(facet):
        return ()
    return tuple(
        Tag(
            key=given_text(row, "key", where),
            value=text(row, "value", where),
            source=text(row, "source", where),
            field=text(row, "field", where),
        )
        for row, where in rows(facet, "tags", at)
    )


def description_of(facet: Json, at: str) -> Fields:
    """Return the description in a documentation facet.

    Raises:
        Refused: the description isn't a string.
    """
    return {"description": "" if is_deleted(facet) else text(facet, "description", at)}


def _type(facet: Json, at: str) -> Fields:
    return {"type": "" if is_deleted(facet) else text(facet, "datasetType", at)}


def _storage(facet: Json, at: str) -> Fields:
    if is_deleted(facet):
        return {"storage": Storage("")}
    return {"storage": Storage(given_text(facet, "storageLayer", at), text(facet, "fileFormat", at))}


def _symlinks(facet: Json, at: str) -> Fields:
    if is_deleted(facet):
        return {"symlinks": ()}
    links = []
    for row, where in rows(facet, "identifiers", at):
        other = normal(given_text(row, "namespace", where), given_text(row, "name", where))
        links.append(Symlink(other.namespace, other.name, text(row, "type", where)))
    return {"symlinks": tuple(links)}


def _lifecycle(facet: Json, at: str) -> Fields:
    if is_deleted(facet):
        return {}
    name = need_text(facet, "lifecycleStateChange", at)
    if name not in _LIFECYCLES:
        raise Refused(step(at, "lifecycleStateChange"), f"must be one of {', '.join(sorted(_LIFECYCLES))}")
    fields: Fields = {"lifecycle": _LIFECYCLES[name]}
    previous = mapping(facet, "previousIdentifier", at)
    if previous is not None:
        where = step(at, "previousIdentifier")
        fields["previous"] = need_dataset(previous, where)
    return fields


def _source(facet: Json, at: str) -> Fields:
    return {"source_uri": "" if is_deleted(facet) else text(facet, "uri", at)}


_FACETS: Final[Mapping[str, tuple[_Reader, frozenset[str]]]] = {
    # name: reader of the facet, and the members that become fields of the event
    "schema": (lambda facet, at: {"schema": schema_of(facet, at)}, frozenset({"fields"})),
    "ownership": (lambda facet, at: {"owners": owners_of(facet, at)}, frozenset({"owners"})),
    "tags": (lambda facet, at: {"tags": tags_of(facet, at)}, frozenset({"tags"})),
    "documentation": (description_of, frozenset({"description"})),
    "datasetType": (_type, frozenset({"datasetType"})),
    "storage": (_storage, frozenset({"storageLayer", "fileFormat"})),
    "symlinks": (_symlinks, frozenset({"identifiers"})),
    "lifecycleStateChange": (_lifecycle, frozenset({"lifecycleStateChange", "previousIdentifier"})),
    "dataSource": (_source, frozenset({"uri"})),
}
