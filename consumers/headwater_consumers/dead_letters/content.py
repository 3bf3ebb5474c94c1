"""What a letter's value holds, as far as it can be decoded, without what looks like a secret."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headwater_schemas.errors import DecodeError
from headwater_schemas.redaction import redact

if TYPE_CHECKING:
    from headwater_schemas.codec import Decoder

# Magic and fingerprint, and no more: what follows may be anything, a secret too.
_SHOWN_BYTES = 10


@dataclass(frozen=True, slots=True)
class Content:
    """A value.

    Attributes:
        bytes: how long it is.
        starts: its first 10 bytes, in hexadecimal.
        problem: what is wrong with it by this release; None where it is a good event now.
        fields: what was decoded, redacted; None where the bytes don't follow a known schema.
    """

    bytes: int
    starts: str
    problem: str | None
    fields: dict[str, Any] | None


def content(value: bytes | None, decoder: Decoder) -> Content:
    """Decode a value as far as it goes.

    Raises:
        TransientError: its schema can't be looked up now.
    """
    problem, fields = None, None
    try:
        decoder.decode(value)
    except DecodeError as error:
        problem = str(error)
    try:
        datum = decoder.datum(value)
    except DecodeError:
        datum = None
    if isinstance(datum, dict):
        fields = _without_secrets(datum)
    return Content(len(value or b""), (value or b"")[:_SHOWN_BYTES].hex(" "), problem, fields)


def _without_secrets(value: Any) -> Any:
    match value:
        case dict():
            return {name: _without_secrets(inner) for name, inner in value.items()}
        case list():
            return [_without_secrets(inner) for inner in value]
        case str():
            return redact(value)
        case bytes():
            return value.hex()
    return value
