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
    except (ValueError, TypeError, binascii.Error, msgspec.DecodeError) as error:
        raise QuestionError("That is no cursor: take `next_cursor` of the page before.", field="cursor") from error
    if version != _VERSION:
        raise QuestionError("The cursor is of another release: begin at the first page.", field="cursor")
    if digest != _digest(question):
        raise QuestionError(
            "The cursor is of another question: ask the same again, or begin at the first page.", field="cursor"
        )
    # bool is an int to isinstance.
    if [type(value) for value in position] != list(kinds):
        raise QuestionError("That is no cursor: take `next_cursor` of the page before.", field="cursor")
    return tuple(position)


def _digest(question: object) -> bytes:
    return hashlib.blake2b(repr(question).encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).digest()
