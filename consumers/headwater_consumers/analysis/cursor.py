"""Cursors: where the next page of an answer begins.

    next_cursor = cursor.encode((hops, key), question=question)
    hops, key = cursor.decode(text, question=question, kinds=(int, str))

A cursor is opaque to who asks: Base64 of a version, a digest of the question and the position, a few plain values. Only
the question that it came from takes it, so that pages of two questions are never mixed. It isn't a secret and isn't
signed: what is in it becomes nothing but a parameter, of the types that `kinds` names.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from typing import TYPE_CHECKING, Any

import msgspec

from headwater_consumers.analysis.errors import QuestionError

if TYPE_CHECKING:
    from collections.abc import Sequence

_VERSION = 1
_DIGEST_BYTES = 8
_MOST_CHARACTERS = 64_000
_INTEGERS = range(-(2**63), 2**63)  # Neo4j's; MessagePack has 2**64 - 1 as well


def encode(position: Sequence[str | int], *, question: object) -> str:
    """A cursor that leads to just after `position`.

    Args:
        position: what sorts the last item of this page.
        question: all that makes the question what it is, the tenant included and the cursor and page size left out: a
            tuple or a dataclass of plain values, whose `repr` is the same for equal ones.
    """
    content = msgspec.msgpack.encode((_VERSION, _digest(question), *position))
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def decode(cursor: str, *, question: object, kinds: Sequence[type]) -> tuple[Any, ...]:
    """The position that `cursor` leads to, of the types `kinds`.

    Raises:
        QuestionError: it is no cursor, or one of another question or release.
    """
    try:
        version, digest, *position = msgspec.msgpack.decode(
            base64.b64decode(cursor[:_MOST_CHARACTERS] + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        )
    except (ValueError, TypeError, binascii.Error, msgspec.DecodeError, RecursionError) as error:
        raise malformed() from error
    if version != _VERSION:
        raise QuestionError("The cursor is of another release: begin at the first page.", field="cursor")
    if digest != _digest(question):
        raise QuestionError(
            "The cursor is of another question: ask the same again, or begin at the first page.", field="cursor"
        )
    if [type(value) for value in position] != list(kinds):
        raise malformed()
    if any(isinstance(value, int) and value not in _INTEGERS for value in position):
        raise malformed()
    return tuple(position)


def decode_start(cursor: str | None, *, question: object) -> int:
    """The number of items before the page, of a question whose position is just that; 0 of the first page.

    Raises:
        QuestionError: as `decode` does, or the number is negative.
    """
    if cursor is None:
        return 0
    (start,) = decode(cursor, question=question, kinds=(int,))
    if start < 0:
        raise malformed()
    return int(start)


def malformed() -> QuestionError:
    """The error of a cursor that no answer gave, for those who read more into a position than its types."""
    return QuestionError("That is no cursor: take `next_cursor` of the page before.", field="cursor")


def _digest(question: object) -> bytes:
    return hashlib.blake2b(repr(question).encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).digest()
