"""Bytes → a document, strictly: what two readers could read in two ways isn't taken.

Memory is bounded by the limit of size (Python's objects take about ten times the text), the stack by the limit of
nesting, which is counted before anything is parsed.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final

from headwater_openlineage.errors import Refused
from headwater_openlineage.reading import Json, kind_of

DEFAULT_MAX_BYTES: Final = 1 << 20
"""As large as a record on Kafka is by default."""
DEFAULT_MAX_DEPTH: Final = 100

_ESCAPED = re.compile(rb"\\.", re.DOTALL)
_STRING = re.compile(rb'"[^"]*"?')
_NO_BRACKETS_OR_QUOTES = bytes(sorted(set(range(256)) - set(b'[]{}"')))
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_MAX_DIGITS: Final = 4_000


def decode(data: bytes, *, max_bytes: int = DEFAULT_MAX_BYTES, max_depth: int = DEFAULT_MAX_DEPTH) -> Json:
    """The document that the bytes hold.

    Args:
        data: JSON in UTF-8; a byte order mark at its beginning is skipped.
        max_bytes: the longest that is taken.
        max_depth: how deep objects and arrays may be in each other.

    Raises:
        Refused: too long, too deep, no JSON, no UTF-8, no object; a name twice in one object; NaN, Infinity or a number
            that no 64-bit float holds; half of a surrogate pair.
    """
    if len(data) > max_bytes:
        raise Refused("", f"has {len(data):,} bytes: at most {max_bytes:,} are taken")
    if _deeper(data, max_depth):
        raise Refused("", f"is nested deeper than {max_depth} levels: at most that many are taken")
    try:
        document = json.loads(
            data.decode("utf-8-sig"),
            object_pairs_hook=_object,
            parse_constant=_constant,
            parse_float=_float,
            parse_int=_integer,
        )
    except UnicodeDecodeError as error:
        raise Refused("", f"must be UTF-8: byte {error.start} isn't") from None
    except json.JSONDecodeError as error:
        raise Refused("", f"must be JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
    if not isinstance(document, dict):
        raise Refused("", f"must be an object, not {kind_of(document)}")
    if _SURROGATE.search(data):
        _check_text(document)
    return document


def _deeper(data: bytes, limit: int) -> bool:
    """Whether brackets outside strings are nested deeper than that, without a stack of as many."""
    if data.count(b"{") + data.count(b"[") <= limit:
        return False
    without_escapes = _ESCAPED.sub(b"", data) if b"\\" in data else data
    brackets = _STRING.sub(b"", without_escapes.translate(None, _NO_BRACKETS_OR_QUOTES))
    depth = 0
    for byte in brackets:
        depth += 1 if byte in b"[{" else -1
        if depth > limit:
            return True
    return False


def _object(pairs: list[tuple[str, Any]]) -> Json:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise Refused("", f"has the name {twice[:100]!r} twice in one object: give it once")
    return found


def _constant(name: str) -> float:
    raise Refused("", f"has the number {name}, which JSON doesn't know: leave it out or write null")


def _float(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise Refused("", "has a number that no 64-bit float holds")
    return value


def _integer(digits: str) -> int:
    if len(digits) > _MAX_DIGITS:
        raise Refused("", f"has a whole number of {len(digits):,} digits: at most {_MAX_DIGITS:,} are taken")
    return int(digits)


def _check_text(value: Any) -> None:
    waiting = [value]
    while waiting:
        current = waiting.pop()
        if isinstance(current, dict):
            waiting += current
            waiting += current.values()
        elif isinstance(current, list):
            waiting += current
        elif isinstance(current, str) and not _is_text(current):
            raise Refused("", "has half of a surrogate pair (\\ud800 to \\udfff by itself), which is no character")


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
