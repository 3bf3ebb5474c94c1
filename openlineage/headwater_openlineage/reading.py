"""Typed reads from a decoded document; a value of an unexpected shape is refused, with its JSON pointer.

A null counts as absent everywhere, because some clients write nulls for unset members.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, TypeAlias

from headwater_openlineage.errors import Refused
from headwater_schemas.events import DatasetRef, JobRef
from headwater_schemas.naming import normal

Json: TypeAlias = dict[str, Any]

_INTEGERS = range(-(1 << 63), 1 << 63)
_KINDS = {dict: "an object", list: "an array", str: "a string", bool: "a boolean", type(None): "null"}


def step(at: str, name: str | int) -> str:
    """Return the JSON pointer of a member or item of the value at a pointer."""
    text = str(name)
    if "~" in text or "/" in text:
        text = text.replace("~", "~0").replace("/", "~1")
    return f"{at}/{text}"


def kind_of(value: object) -> str:
    """Name of a value's JSON type, for messages."""
    return _KINDS.get(type(value), "a number")


def _refused(at: str, name: str | int, wanted: str, value: object) -> Refused:
    return Refused(step(at, name), f"must be {wanted}, not {kind_of(value)}")


def text(source: Json, name: str, at: str) -> str | None:
    """Return a string member; None if it is absent.

    Raises:
        Refused: the member isn't a string.
    """
    value = source.get(name)
    if value is None or isinstance(value, str):
        return value
    raise _refused(at, name, "a string", value)


def given_text(source: Json, name: str, at: str) -> str:
    """Return a required string member, which may be empty.

    Raises:
        Refused: the member is absent, or isn't a string.
    """
    value = text(source, name, at)
    if value is None:
        raise Refused(step(at, name), "is missing: must be a string")
    return value


def need_text(source: Json, name: str, at: str) -> str:
    """Return a required string member of at least one character.

    Raises:
        Refused: the member is absent, empty, or not a string.
    """
    value = given_text(source, name, at)
    if not value:
        raise Refused(step(at, name), "is empty: must have at least one character")
    return value


def integer(source: Json, name: str, at: str) -> int | None:
    """Return a member that is a whole number of 64 bits, such as `3` or `3.0`; None if it is absent.

    Raises:
        Refused: the member isn't such a number.
    """
    value = source.get(name)
    if value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise _refused(at, name, "a whole number", value)
    if value not in _INTEGERS:
        raise Refused(step(at, name), "must be a whole number of at most 64 bits")
    return value


def flag(source: Json, name: str, at: str) -> bool | None:
    """Return a boolean member; None if it is absent.

    Raises:
        Refused: the member isn't a boolean.
    """
    value = source.get(name)
    if value is None or isinstance(value, bool):
        return value
    raise _refused(at, name, "a boolean", value)


def need_flag(source: Json, name: str, at: str) -> bool:
    """Return a required boolean member.

    Raises:
        Refused: the member is absent, or isn't a boolean.
    """
    value = flag(source, name, at)
    if value is None:
        raise Refused(step(at, name), "is missing: must be a boolean")
    return value


def mapping(source: Json, name: str, at: str) -> Json | None:
    """Return a member that is an object; None if it is absent.

    Raises:
        Refused: the member isn't an object.
    """
    value = source.get(name)
    if value is None or isinstance(value, dict):
        return value
    raise _refused(at, name, "an object", value)


def need_mapping(source: Json, name: str, at: str) -> Json:
    """Return a required member that is an object.

    Raises:
        Refused: the member is absent, or isn't an object.
    """
    value = mapping(source, name, at)
    if value is None:
        raise Refused(step(at, name), "is missing: must be an object")
    return value


def rows(source: Json, name: str, at: str) -> Iterator[tuple[Json, str]]:
    """List the objects of an array member, each with its pointer; empty if the member is absent.

    Raises:
        Refused: the member isn't an array, or has an item that isn't an object.
    """
    value = source.get(name)
    if value is None:
        return
    if not isinstance(value, list):
        raise _refused(at, name, "an array", value)
    inside = step(at, name)
    for index, item in enumerate(value):
        if not isinstance(item, dict):
            raise _refused(inside, index, "an object", item)
        yield item, f"{inside}/{index}"


def members(source: Json, name: str, at: str) -> Iterator[tuple[str, Json, str]]:
    """List the objects in an object member, with name, value and pointer; nulls are left out.

    Raises:
        Refused: the value isn't an object, or has a member that is neither an object nor null.
    """
    return ((key, item, where) for key, (item, where) in objects(source, name, at).items())


def objects(source: Json, name: str, at: str) -> dict[str, tuple[Json, str]]:
    """Return the objects in an object member by name, each with its pointer; nulls are left out.

    Raises:
        Refused: see `members`.
    """
    value = mapping(source, name, at)
    if value is None:
        return {}
    inside = step(at, name)
    found: dict[str, tuple[Json, str]] = {}
    for key, item in value.items():
        if isinstance(item, dict):
            found[key] = item, step(inside, key)
        elif item is not None:
            raise _refused(inside, key, "an object", item)
    return found


def read_facets(source: Json, name: str, at: str, unread: Collection[str]) -> tuple[dict[str, tuple[Json, str]], Json]:
    """Return the facets to read, each with its pointer, and the facets that are only stored, because of their shape.

    Args:
        source: a run, job or dataset.
        name: the member with the facets.
        at: JSON pointer of `source`.
        unread: pointers of facets that aren't read.

    Raises:
        Refused: see `members`; facets that aren't read are never refused.
    """
    if not unread:
        return objects(source, name, at), {}
    given = mapping(source, name, at) or {}
    inside = step(at, name)
    left = {key: facet for key, facet in given.items() if step(inside, key) in unread}
    read = {key: facet for key, facet in given.items() if key not in left}
    # A value that isn't an object isn't a facet: it only stays in the document.
    return objects({name: read}, name, at), {key: facet for key, facet in left.items() if isinstance(facet, dict)}


def need_dataset(source: Json, at: str) -> DatasetRef:
    """Return a dataset by its namespace and name. An empty name is the root of a bucket or file system.

    Raises:
        Refused: namespace or name is missing, or the name is empty and not a root.
    """
    namespace, name = given_text(source, "namespace", at), given_text(source, "name", at)
    ref = normal(namespace, name)
    return ref if ref.name else normal(namespace, need_text(source, "name", at))


def need_job(source: Json, at: str) -> JobRef:
    """Return a job. Its namespace may be empty.

    Raises:
        Refused: namespace or name is missing.
    """
    return JobRef(given_text(source, "namespace", at), need_text(source, "name", at))
