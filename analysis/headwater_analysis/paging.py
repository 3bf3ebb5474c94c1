"""Pages of an answer: limits, and cursors.

    next_cursor = paging.encode((hops, key), question=question)
    hops, key = paging.decode(text, question=question, kinds=(int, str))

A cursor is opaque to clients: Base64 of a version, a digest of the question, and the position: a few plain values. Only
the question that returned a cursor accepts it, so that pages of two questions are never mixed. A cursor isn't secret
and isn't signed: its content only becomes parameters, of the types in `kinds`.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from headwater_analysis.errors import QuestionError
from headwater_analysis.reader import Reader, Transaction
from headwater_schemas.identity import micros

MOST_ON_A_PAGE = 1_000


@dataclass(frozen=True, slots=True)
class Page:
    """Page of a list. A subclass for each list states the type of the items.

    Attributes:
        items: items of this page.
        total: exact number of items on all pages.
        next_cursor: cursor of the next page; None on the last page.
    """

    items: tuple[Any, ...]
    total: int
    next_cursor: str | None


def check_depth(depth: int | None) -> None:
    """Check that a depth reaches any asset.

    Raises:
        QuestionError: the depth is below 1.
    """
    if depth is not None and depth < 1:
        raise QuestionError("`depth` is the maximum number of hops, 1 or more; leave it out for all.", field="depth")


def check_limit(limit: int, most: int = MOST_ON_A_PAGE) -> None:
    """Check the size of a page.

    Raises:
        QuestionError: the limit is below 1, or over `most`.
    """
    if not 1 <= limit <= most:
        raise QuestionError(f"`limit` is from 1 to {most:,}.", field="limit")


_VERSION = 1
_DIGEST_BYTES = 8
_MOST_CHARACTERS = 64_000
_INTEGERS = range(-(2**63), 2**63)  # Neo4j's range; MessagePack's goes up to 2**64 - 1


def encode(position: Sequence[str | int], *, question: object) -> str:
    """Encode the cursor of the page after `position`.

    Args:
        position: sort key of the last item on this page.
        question: everything that identifies the question, including the tenant, without cursor and page size: a tuple
            or a dataclass of plain values. Its `repr` must be equal for equal questions.
    """
    content = msgspec.msgpack.encode((_VERSION, _digest(question), *position))
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def decode(cursor: str, *, question: object, kinds: Sequence[type]) -> tuple[Any, ...]:
    """Decode the position of `cursor`, of the types `kinds`.

    Raises:
        QuestionError: the text isn't a cursor, or belongs to another question or release.
    """
    try:
        version, digest, *position = msgspec.msgpack.decode(
            base64.b64decode(cursor[:_MOST_CHARACTERS] + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        )
    except (ValueError, TypeError, binascii.Error, msgspec.DecodeError, RecursionError) as error:
        raise malformed() from error
    if version != _VERSION:
        raise QuestionError("The cursor is from another release: begin at the first page.", field="cursor")
    if digest != _digest(question):
        raise QuestionError(
            "The cursor belongs to another question: repeat that question, or begin at the first page.", field="cursor"
        )
    if [type(value) for value in position] != list(kinds):
        raise malformed()
    if any(isinstance(value, int) and value not in _INTEGERS for value in position):
        raise malformed()
    return tuple(position)


def decode_start(cursor: str | None, *, question: object) -> int:
    """Decode a cursor whose position is the number of items before the page; 0 for the first page.

    Raises:
        QuestionError: see `decode`; or the number is negative.
    """
    if cursor is None:
        return 0
    (start,) = decode(cursor, question=question, kinds=(int,))
    if start < 0:
        raise malformed()
    return int(start)


def malformed() -> QuestionError:
    """Return the error for a malformed cursor, for callers that check more than the types of a position."""
    return QuestionError("This isn't a cursor: use `next_cursor` of the previous page.", field="cursor")


def _digest(question: object) -> bytes:
    return hashlib.blake2b(repr(question).encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).digest()


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
"""Placeholder for an unknown time. The statements take it as a parameter: creating it for each row costs 2 µs."""


def encode_moment(began: datetime | None, key: str, *, question: object) -> str:
    """Encode the cursor of the page after a node with this time and key."""
    return encode((micros(began or EPOCH), key), question=question)


def decode_moment(cursor: str | None, *, question: object) -> tuple[datetime | None, str]:
    """Decode the time and key of the last node before the page; (None, "") for the first page.

    Raises:
        QuestionError: the cursor belongs to another question.
    """
    if cursor is None:
        return None, ""
    at, key = decode(cursor, question=question, kinds=(int, str))
    try:
        return EPOCH + timedelta(microseconds=at), key
    except OverflowError as error:
        raise malformed() from error


def page_by_key(
    reader: Reader,
    folder: str,
    name: str,
    filters: Mapping[str, Any],
    limit: int,
    cursor: str | None,
    more: Callable[[Transaction], Mapping[str, Any]] | None = None,
) -> tuple[list[Any], int, str | None]:
    """Return a page of nodes in order of key: their properties, the number that passes the filters, the next cursor.

    Args:
        folder: folder of the statements.
        name: name of the statement that reads a page after `$given.after`; the statement `count_<name>` counts the
            nodes.
        filters: parameters of both statements.
        cursor: cursor of the page; None: the first page.
        more: further parameters of both statements, looked up in the graph.

    Raises:
        QuestionError: the cursor belongs to another question, or the limit isn't from 1 to 1,000.
    """
    check_limit(limit)
    asked = ("list", name, reader.tenant, sorted(filters.items()))
    after = decode(cursor, question=asked, kinds=(str,))[0] if cursor is not None else ""

    def question(tx: Transaction) -> tuple[list[Any], int]:
        given = {**filters, **(more(tx) if more is not None else {})}
        total = tx.one(f"{folder}/count_{name}", **given)["total"]
        rows = tx.rows(f"{folder}/{name}", **given, after=after, limit=limit + 1)
        return [row["properties"] for row in rows], total

    rows, total = reader.read(question)
    following = encode((rows[limit - 1]["key"],), question=asked) if rows[limit:] else None
    return rows[:limit], total, following
