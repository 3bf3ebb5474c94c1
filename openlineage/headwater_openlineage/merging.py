"""The difference between two JSON values, as a merge patch (RFC 7386): null removes a member.

Arrays of the same length are compared item by item, which RFC 7386 doesn't do: the patch of an array may be an object
with the index of each item that differs.
"""

from __future__ import annotations

from typing import Any


def difference(wanted: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Make the patch with which `merged` turns `given` into `wanted`. A null in `wanted` counts as absent."""
    found: dict[str, Any] = {}
    for name in sorted(wanted.keys() | given.keys()):
        value, other = wanted.get(name), given.get(name)
        if value is None:
            if other is not None:
                found[name] = None
        elif (patch := _patch(value, other)) is not _SAME:
            found[name] = patch
    return found


_SAME = object()


def _patch(wanted: Any, given: Any) -> Any:
    if wanted == given and type(wanted) is type(given):
        return _SAME
    if isinstance(wanted, dict) and isinstance(given, dict):
        return difference(wanted, given) or _SAME
    if isinstance(wanted, list) and isinstance(given, list) and len(wanted) == len(given):
        if not all(isinstance(item, dict) for item in (*wanted, *given)):
            return _without_nulls(wanted)
        return {
            str(index): patch
            for index, (value, other) in enumerate(zip(wanted, given, strict=True))
            if (patch := _patch(value, other)) is not _SAME
        } or _SAME
    return _without_nulls(wanted)


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(item) for name, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


def merged(given: Any, patch: Any) -> Any:
    """Apply a patch to `given`. Never raises: a part that doesn't fit replaces the given one."""
    if not isinstance(patch, dict):
        return patch
    if isinstance(given, list) and patch.keys() <= {str(index) for index in range(len(given))}:
        return [merged(item, patch[str(index)]) if str(index) in patch else item for index, item in enumerate(given)]
    found = dict(given) if isinstance(given, dict) else {}
    for name, value in patch.items():
        if value is None:
            found.pop(name, None)
        else:
            found[name] = merged(found.get(name), value)
    return found
