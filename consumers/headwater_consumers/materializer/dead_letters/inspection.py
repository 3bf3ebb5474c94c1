"""Inspection of dead letters, for people: selection, counts, ages, and the content of a letter."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from headwater_consumers.materializer.dead_letters.letter import RecordCoordinates, StoredDeadLetter
from headwater_openlineage.decoding import decode
from headwater_openlineage.intake.receiving import Refusal, RefusalReason, receive
from headwater_openlineage.redacting import without_secrets
from headwater_schemas.codec import Decoder
from headwater_schemas.errors import DecodeError
from headwater_schemas.events.build import DEFAULT_TENANT
from headwater_schemas.redacted_values import redacted_json


@dataclass(frozen=True, slots=True)
class LetterFilter:
    """Filter of dead letters. A letter is selected if all set criteria match.

    Attributes:
        job: job or dataset of the letters: `namespace/name`, or only the name.
        since: earliest time of publication, inclusive.
        until: latest time of publication, exclusive.
    """

    reasons: frozenset[str] = frozenset()
    job: str | None = None
    since: datetime | None = None
    until: datetime | None = None

    def takes(self, letter: StoredDeadLetter) -> bool:
        """Return True if the letter matches.

        A letter without a time matches only if neither `since` nor `until` is given.
        """
        if self.reasons and letter.reason not in self.reasons:
            return False
        if self.job is not None and not _has_name(letter.job, self.job):
            return False
        if self.since is None and self.until is None:
            return True
        time = letter.time
        return (
            time is not None
            and (self.since is None or time >= self.since)
            and (self.until is None or time < self.until)
        )


class LatestLetters:
    """Latest dead letter of each record. Resent and replayed letters supersede earlier ones.

    After a crash a letter may be sent twice, and a failed replay makes another letter of the same bytes.
    """

    def __init__(self, letters: Iterable[StoredDeadLetter]) -> None:
        self._last: dict[RecordCoordinates, str] = {}
        self._superseded: set[str] = set()
        for letter in letters:
            if letter.source is not None:
                self._last[letter.source] = letter.where
            if letter.replayed_from is not None:
                self._superseded.add(letter.replayed_from)

    def stands(self, letter: StoredDeadLetter) -> bool:
        """Return True if the letter is the latest of its record."""
        if letter.source is None:
            return True
        return self._last[letter.source] == letter.where and named(letter.source) not in self._superseded


def named(source: RecordCoordinates) -> str:
    """Format a source as `topic_id/partition/offset`, or with the topic's name if it has no id."""
    return f"{source.partition.topic_id or source.partition.topic}/{source.partition.number}/{source.offset}"


def _has_name(job: str | None, name: str) -> bool:
    return job is not None and (job == name or job.partition("/")[2] == name or job.endswith(f"/{name}"))


@dataclass(slots=True)
class LetterGroup:
    """Letters of one reason and one job.

    Attributes:
        job: `namespace/name`; None if the records' keys don't have it.
        bytes: total size of the letters' keys and values.
        oldest, newest: publication times of the first and the last letter.
        sample: location of one letter of the group, for `dlq show`.
    """

    reason: str
    job: str | None
    letters: int = 0
    bytes: int = 0
    oldest: datetime | None = None
    newest: datetime | None = None
    sample: str = ""

    def add(self, letter: StoredDeadLetter) -> None:
        """Count a letter."""
        self.letters += 1
        self.bytes += letter.record.size
        self.sample = letter.where
        if (time := letter.time) is not None:
            self.oldest = time if self.oldest is None else min(self.oldest, time)
            self.newest = time if self.newest is None else max(self.newest, time)


class Census:
    """Groups of the letters added so far.

    Attributes:
        overtaken: number of superseded letters, which aren't in the groups.
    """

    def __init__(self) -> None:
        self.overtaken = self.acknowledged = 0
        self._groups: dict[tuple[str, str | None], LetterGroup] = {}

    def add(self, letter: StoredDeadLetter) -> None:
        """Count a letter."""
        key = (letter.reason, letter.job)
        self._groups.setdefault(key, LetterGroup(*key)).add(letter)

    @property
    def groups(self) -> list[LetterGroup]:
        """Groups, the largest first."""
        return sorted(self._groups.values(), key=lambda group: (-group.letters, group.reason, group.job or ""))

    @property
    def letters(self) -> int:
        """Number of letters, in all groups."""
        return sum(group.letters for group in self._groups.values())

    @property
    def waiting(self) -> int:
        """Number of pending letters."""
        return self.letters - self.acknowledged

    @property
    def by_reason(self) -> dict[str, int]:
        """Number of letters by reason, the most frequent first."""
        counts: dict[str, int] = defaultdict(int)
        for group in self._groups.values():
            counts[group.reason] += group.letters
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


# Only magic and fingerprint: the rest may contain a secret.
_SHOWN_BYTES = 10


@dataclass(frozen=True, slots=True)
class Content:
    """Content of a record's value, decoded as far as possible.

    Attributes:
        bytes: length of the value.
        starts: the first 10 bytes, in hexadecimal.
        problem: fault by this release's rules; None if the value is a valid event now.
        fields: decoded fields, redacted; None if the bytes don't follow a known schema.
    """

    bytes: int
    starts: str
    problem: str | None
    fields: dict[str, Any] | None


def content(value: bytes | None, decoder: Decoder) -> Content:
    """Decode a value as far as possible.

    Raises:
        TransientError: the schema can't be looked up now.
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
        fields, _ = redacted_json(_printable(datum))
    return Content(len(value or b""), (value or b"")[:_SHOWN_BYTES].hex(" "), problem, fields)


def document_content(value: bytes | None, *, max_bytes: int) -> Content:
    """Decode an OpenLineage document of a letter of the bridge, as far as possible.

    Args:
        max_bytes: maximum length of a document.
    """
    problem, fields = None, None
    received = receive(value or b"", tenant=DEFAULT_TENANT, max_bytes=max_bytes)
    if isinstance(received, Refusal):
        problem = f"{received.pointer}: {received.message}" if received.pointer else received.message
    if not isinstance(received, Refusal) or received.reason is not RefusalReason.NOT_JSON:
        fields, _ = without_secrets(decode(value or b"", max_bytes=max_bytes))
    return Content(len(value or b""), (value or b"")[:_SHOWN_BYTES].hex(" "), problem, fields)


def _printable(value: Any) -> Any:
    match value:
        case dict():
            return {name: _printable(inner) for name, inner in value.items()}
        case list():
            return [_printable(inner) for inner in value]
        case bytes():
            return value.hex()
    return value
