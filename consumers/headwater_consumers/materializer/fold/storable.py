"""Values that Neo4j can't hold: integers over 64 bits, lone surrogates, numbers that are none.

None of them can come out of Avro, but events are made in other ways too.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import msgspec

from headwater_consumers.materializer.fold.rejection import unstorable

if TYPE_CHECKING:
    from headwater_schemas.events import LineageEvent

_INTEGERS = range(-(1 << 63), 1 << 63)
# 0xcf opens an unsigned 64-bit integer, of which those over 2^63 - 1 go on so; bytes of times may do so by chance.
_LARGE = re.compile(rb"\xcf[\x80-\xff]")
_encoder = msgspec.msgpack.Encoder()


def check_storable(event: LineageEvent) -> None:
    """Reject an event with such a value, naming the first.

    MessagePack can't hold the first two either, and tries in a hundredth of the time that a walk over all fields takes.
    It takes unsigned integers up to 2^64, so the walk looks at events that it fails on, or that hold a large integer.
    """
    try:
        encoded = _encoder.encode(event)
    except (UnicodeEncodeError, OverflowError):
        _walk("", msgspec.structs.asdict(event))
        raise
    if _LARGE.search(encoded):
        _walk("", msgspec.structs.asdict(event))


def check_finite(value: float | None, field: str) -> None:
    """Reject a number that is none: JSON has no NaN, and a NaN equals nothing, itself included."""
    if value is not None and not math.isfinite(value):
        raise unstorable(field, "not a finite number")


def _walk(field: str, value: Any) -> None:
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise unstorable(field, f"a lone surrogate at character {error.start}") from None
    elif isinstance(value, int) and value not in _INTEGERS:
        raise unstorable(field, "an integer over 64 bits")
    elif isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            _walk(f"{field}.{name}", getattr(value, name))
    elif isinstance(value, dict):
        for name, item in value.items():
            _walk(f"{field} (a name)", name)
            _walk(f"{field}.{name}" if field else name, item)
    elif isinstance(value, tuple):
        for index, item in enumerate(value):
            _walk(f"{field}[{index}]", item)
