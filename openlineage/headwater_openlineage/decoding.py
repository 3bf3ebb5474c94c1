"""Strict decoding of documents: JSON that two readers could understand differently is refused.

msgspec reads well-formed JSON, six times as fast as `json`. For any other text, `json` finds the mistake.

Most documents are read in parts, and repeated parts are read once (`parts`).

The size limit bounds memory: Python's objects take about ten times the size of the text. The nesting limit bounds the
stack: nesting is counted before parsing.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import msgspec

from headwater_openlineage.errors import Refused
from headwater_openlineage.nesting import DEFAULT_MAX_DEPTH, deeper
from headwater_openlineage.parts import COLON, in_parts
from headwater_openlineage.reading import Json, kind_of, step

DEFAULT_MAX_BYTES: Final = 1 << 20
"""Default size limit of a record on Kafka."""

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_MAX_DIGITS: Final = 4_300
"""Maximum number of digits that Python converts to an integer."""
_HALF: Final = "half of a surrogate pair (\\ud800 to \\udfff by itself), which is no character"


def decode(data: bytes, *, max_bytes: int = DEFAULT_MAX_BYTES, shared: bool = True) -> Json:
    """Decode a document.

    Args:
        data: JSON in UTF-8; a byte order mark at its beginning is skipped.
        max_bytes: maximum length.
        shared: whether the document may share facets with others (`parts.Shared`).

    Raises:
        Refused: the document is too long, nested too deep, not JSON, not UTF-8 or not an object; or it has a name twice
            in one object, NaN, Infinity, a number beyond a 64-bit float, or half of a surrogate pair.
    """
    if len(data) > max_bytes:
        raise Refused("", f"has {len(data):,} bytes: at most {max_bytes:,} are taken")
    if shared and (document := in_parts(data)) is not None:
        return document
    if deeper(data, DEFAULT_MAX_DEPTH):
        raise Refused("", f"is nested deeper than {DEFAULT_MAX_DEPTH} levels: at most that many are taken")
    document = _well_formed(data)
    if document is None:
        document = _read_thoroughly(data)
    if not isinstance(document, dict):
        raise Refused("", f"must be an object, not {kind_of(document)}")
    return document


def _well_formed(data: bytes) -> Any:
    r"""Decode well-formed bytes; None if the slower `_read_thoroughly` has to decode them or find the mistake.

    msgspec refuses invalid JSON, NaN, numbers beyond a float, and halves of surrogate pairs. If a name is twice in one
    object, msgspec takes the last value. The value encoded again then has fewer colons than the bytes, also counting
    colons in strings. Bytes with an escaped colon, `\u003a`, can't be compared like this, and aren't decoded here.
    """
    if COLON.search(data):
        return None
    try:
        document = msgspec.json.decode(data)
        reencoded = msgspec.json.encode(document)
    except (ValueError, OverflowError, RecursionError):
        return None  # also for a number of more than 64 bits, which may have too many digits
    return document if data.count(b":") == reencoded.count(b":") else None


def _read_thoroughly(data: bytes) -> Any:
    """Parse the bytes, and report their mistakes.

    Raises:
        Refused: see `decode`.
    """
    faults: list[_Fault] = []

    def fault(reason: str, name: str | None = None) -> Any:
        faults.append(_Fault(reason, name))
        return faults[-1]

    def members(pairs: list[tuple[str, Any]]) -> Any:
        found = dict(pairs)
        return found if len(found) == len(pairs) else _twice(pairs, fault)

    try:
        document = json.loads(
            data.decode("utf-8-sig"),
            object_pairs_hook=members,
            parse_constant=lambda name: fault(f"is {name}, which JSON doesn't know: leave it out or write null"),
            parse_float=lambda digits: _float(digits, fault),
            parse_int=lambda digits: _integer(digits, fault),
        )
    except UnicodeDecodeError as error:
        raise Refused("", f"must be UTF-8: byte {error.start} isn't") from None
    except json.JSONDecodeError as error:
        raise Refused("", f"must be JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
    if faults or _SURROGATE.search(data):
        _refuse_first_fault(document)
    return document


@dataclass(frozen=True, slots=True, eq=False)
class _Fault:
    """Placeholder for a refused value in a document: its JSON pointer is known only after parsing.

    Attributes:
        name: the member at fault, if the fault replaces its whole object; else None.
    """

    reason: str
    name: str | None


_Report: TypeAlias = Callable[..., Any]


def _twice(pairs: list[tuple[str, Any]], fault: _Report) -> Any:
    names = [name for name, _ in pairs]
    return fault("is there twice in one object: give it once", next(name for name in names if names.count(name) > 1))


def _float(digits: str, fault: _Report) -> Any:
    value = float(digits)
    return value if math.isfinite(value) else fault("is a number that no 64-bit float holds")


def _integer(digits: str, fault: _Report) -> Any:
    if len(digits) > _MAX_DIGITS:
        return fault(f"is a whole number of {len(digits):,} digits: at most {_MAX_DIGITS:,} are taken")
    return int(digits)


def _refuse_first_fault(document: Any) -> None:
    """Raise for the first fault, or half of a surrogate pair, in the order of the text."""
    waiting: list[tuple[str, Any]] = [("", document)]
    while waiting:
        at, value = waiting.pop()
        if isinstance(value, _Fault):
            raise Refused(at if value.name is None else step(at, value.name), value.reason)
        if isinstance(value, dict):
            if not all(map(_is_text, value)):
                raise Refused(at, f"has a name with {_HALF}")
            waiting += [(step(at, name), item) for name, item in reversed(value.items())]
        elif isinstance(value, list):
            waiting += [(step(at, index), item) for index, item in reversed(list(enumerate(value)))]
        elif isinstance(value, str) and not _is_text(value):
            raise Refused(at, f"has {_HALF}")


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
