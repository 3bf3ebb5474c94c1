"""Descriptions of fields, from the `Attributes:` of the dataclasses that answers are made of."""

from __future__ import annotations

import dataclasses
import inspect
import re
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_SECTION = re.compile(r"^Attributes:\n((?: {4}.*\n?|\n)+)", re.MULTILINE)
_ENTRY = re.compile(r"^ {4}(\w+(?:, \w+)*): (.*(?:\n {8}.*)*)", re.MULTILINE)
_NONE = re.compile(r"\bNone\b")


def describe(schemas: dict[str, Any], models: Iterable[Any]) -> None:
    """Say of each schema and its properties what the dataclass of that name says.

    Args:
        schemas: of an OpenAPI document's components; changed in place.
        models: types of answers and bodies; dataclasses within them are found.
    """
    for kind in dict.fromkeys(each for model in models for each in _dataclasses(model, set())):
        # Of two of one name each has its module before it.
        qualified = f"{kind.__module__}.{kind.__qualname__}".replace(".", "__")
        schema, text = schemas.get(kind.__name__) or schemas.get(qualified), kind.__doc__
        if schema is None or text is None:
            continue
        told = attributes(text)
        schema["description"] = inspect.cleandoc(text).partition("\n\nAttributes:")[0]
        for name, field in schema.get("properties", {}).items():
            if name in told:
                field["description"] = told[name]


def attributes(docstring: str) -> dict[str, str]:
    """Field ⇒ its description, of a docstring's `Attributes:`, in JSON's words."""
    section = _SECTION.search(inspect.cleandoc(docstring) + "\n")
    return {
        name: _NONE.sub("null", " ".join(text.split()))
        for names, text in (_ENTRY.findall(section[1]) if section else ())
        for name in names.split(", ")
    }


def _dataclasses(kind: Any, seen: set[Any]) -> Iterator[type]:
    for part in get_args(kind):
        yield from _dataclasses(part, seen)
    if not (isinstance(kind, type) and dataclasses.is_dataclass(kind)) or kind in seen:
        return
    seen.add(kind)
    yield kind
    for hint in get_type_hints(kind).values():
        yield from _dataclasses(hint, seen)
