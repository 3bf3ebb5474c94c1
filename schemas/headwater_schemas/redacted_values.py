"""Removal of credentials from JSON documents and events: by the names of members, and within each text.

    {"spring.datasource.password": "hunter2"}            ⇒ {"spring.datasource.password": "[redacted]"}
    {"name": "DB_PASSWORD", "value": "hunter2"}          ⇒ {"name": "DB_PASSWORD", "value": "[redacted]"}
    {"url": "jdbc:postgresql://h/d?password=hunter2"}    ⇒ {"url": "jdbc:postgresql://h/d?password=[redacted]"}
    ["--password", "hunter2"]                            ⇒ ["--password", "[redacted]"]

A value without secrets is returned unchanged, as the same object. Each input path calls one of these functions once,
before anything else: capture and declarations when an event is built (`events.build`), OpenLineage when a document is
parsed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import datetime
from enum import Enum
from functools import cache
from types import NoneType
from typing import Any, Final, TypeVar, get_args, get_type_hints

import msgspec

from headwater_schemas.redaction import MASK, redact
from headwater_schemas.secret_names import is_secret_name

T = TypeVar("T")

_PAIRS: Final = (("name", "value"), ("key", "value"), ("Name", "Value"), ("Key", "Value"))
_BY_COLUMN: Final = frozenset({"fields", "columns", "columnMetrics"})
"""Objects with columns as keys: the value of a column `password` holds facts, not a secret."""
_SCHEMA_TYPES: Final = frozenset({"string", "integer", "number", "boolean", "object", "array"})
_SCHEMA_MEMBERS: Final = frozenset(
    {"type", "description", "title", "format", "minLength", "maxLength", "pattern"}
    | {"properties", "items", "nullable", "required", "additionalProperties"}
)
_PLAIN_NAME: Final = re.compile(r"[\w.\-]*")
_HEADER: Final = re.compile(r"(?:^|[\-_.])(?:authorization|cookie2?)$", re.IGNORECASE)
_NO_SECRET: Final = re.compile(r"(?:null|none|true|false|)", re.IGNORECASE)
_PASSWORD: Final = re.compile(r"passw(?:or)?d|passphrase|passcode|pwd", re.IGNORECASE)


def redacted_json(
    value: Any,
    *,
    is_clean: Callable[[Any], bool] = lambda _: False,
    clean: Callable[[Any], None] = lambda _: None,
) -> tuple[Any, int]:
    """Redact a JSON value; also return the number of changed texts.

    Args:
        value: dicts, lists, texts, numbers; not changed in place.
        is_clean: returns True for an object or array that is known to be clean.
        clean: called with each object or array without secrets.
    """
    walk = _Walk(is_clean, clean)
    return walk.value(value), walk.changed


class _Walk:
    def __init__(self, is_clean: Callable[[Any], bool], clean: Callable[[Any], None]) -> None:
        self._is_clean = is_clean
        self._clean = clean
        self.changed = 0

    def value(self, value: Any, holder: str = "", *, secret: bool = False) -> Any:
        """Redact a value.

        Args:
            value: any JSON value.
            holder: name of the member that has this value.
            secret: True if a value of this name is a secret.
        """
        if isinstance(value, str):
            return self._text(value, secret=secret)
        if not isinstance(value, dict | list) or (not secret and self._is_clean(value)):
            return value
        before = self.changed
        redacted_value = (
            self._object(value, holder, secret=secret) if isinstance(value, dict) else self._array(value, secret=secret)
        )
        if self.changed != before:
            return redacted_value
        if not secret:
            self._clean(value)
        return value

    def _text(self, text: str, *, secret: bool) -> str:
        found = MASK if secret and _NO_SECRET.fullmatch(text) is None else redact(text)
        self.changed += found != text
        return found

    def _object(self, value: dict[str, Any], holder: str, *, secret: bool) -> dict[str, Any]:
        secrets_of_pairs = {
            value_member
            for name_member, value_member in _PAIRS
            if isinstance(name := value.get(name_member), str) and value_member in value and _is_secret(name)
        }
        found: dict[str, Any] = {}
        for name, member in value.items():
            if name.startswith("_") or (isinstance(member, dict) and (holder in _BY_COLUMN or _is_schema(member))):
                hidden = False
            else:
                hidden = secret or name in secrets_of_pairs or _is_secret(name) or _is_pair(name, member)
            number = isinstance(member, int | float) and not isinstance(member, bool)
            if hidden and number and _PASSWORD.search(name):
                found[self._text(name, secret=False)] = self._text(str(member), secret=True)
            else:
                found[self._text(name, secret=False)] = self.value(member, name, secret=hidden)
        return found

    def _array(self, value: list[Any], *, secret: bool) -> list[Any]:
        found: list[Any] = []
        flag = False
        for item in value:
            found.append(self.value(item, secret=secret or flag))
            flag = isinstance(item, str) and item.startswith("-") and "=" not in item and is_secret_name(item)
        return found


def _is_schema(member: dict[str, Any]) -> bool:
    """Return True if the object is a JSON Schema without values: `{"type": "string"}`."""
    type_ = member.get("type")
    return isinstance(type_, str) and type_ in _SCHEMA_TYPES and member.keys() <= _SCHEMA_MEMBERS


def _is_secret(name: str) -> bool:
    return is_secret_name(name) or _HEADER.search(name) is not None


def _is_pair(name: str, member: Any) -> bool:
    """Return True if a value is a secret only after its name: the folder `Cookie: a=b` has the name `Cookie: a`."""
    if _PLAIN_NAME.fullmatch(name) or not isinstance(member, str) or redact(member) != member:
        return False
    return member not in redact(f"{name}={member}")


def redacted(value: T) -> T:
    """Redact an event, or a part of an event; its facets are JSON as text."""
    found: T = _struct_value(value)
    return found


def _struct_value(value: Any) -> Any:
    kind = type(value)
    if kind is str:
        text = _text(value)
        return value if text == value else text
    if kind is tuple:
        items = tuple(map(_struct_value, value))
        return value if all(map(_is, items, value)) else items
    if kind is dict:
        members = {redact(name): _struct_value(member) for name, member in value.items()}
        return value if members == value else members
    if isinstance(value, msgspec.Struct):
        return _struct(value)
    return value


def _is(one: object, other: object) -> bool:
    return one is other


def _struct(value: Any) -> Any:
    changes: dict[str, Any] = {}
    for name in _fields_with_text(type(value)):  # type: ignore[arg-type]
        before = getattr(value, name)
        after = _struct_value(before)
        if after is not before:
            changes[name] = after
    tagged = getattr(value, "key", None)
    if isinstance(tagged, str) and getattr(value, "value", None) and is_secret_name(tagged):
        changes["value"] = MASK if _NO_SECRET.fullmatch(value.value) is None else value.value
    return msgspec.structs.replace(value, **changes) if changes else value


@cache
def _fields_with_text(kind: type) -> tuple[str, ...]:
    """Return the fields of a Struct that may hold a text; a micro-batch has thousands of other fields."""
    hints = get_type_hints(kind)
    return tuple(name for name in kind.__struct_fields__ if _may_hold_text(hints[name]))  # type: ignore[attr-defined]


def _may_hold_text(hint: Any) -> bool:
    if isinstance(hint, type):
        if issubclass(hint, msgspec.Struct):
            return bool(_fields_with_text(hint))
        return not issubclass(hint, int | float | Enum | datetime | NoneType)
    inner = [each for each in get_args(hint) if each is not Ellipsis]
    return not inner or any(map(_may_hold_text, inner))


def _text(text: str) -> str:
    """Redact a text, which may be a facet's JSON."""
    if not text.startswith(("{", "[")) or ("\\" not in text and redact(text) == text):
        return redact(text)
    try:
        before = json.loads(text)
    except ValueError:
        return redact(text)
    after, changed = redacted_json(before)
    return json.dumps(after, sort_keys=True) if changed else text
