"""`Verifier`: reads lines in order, and finds gaps, changed, moved and inserted lines, and missing ends.

The verifier keeps the end of each unclosed chain, and eight bytes of each closed one: memory grows with the number of
processes that wrote, not with the number of lines.

A chain without its last line isn't a finding: its process may still run, or was killed. Neither is an unfinished line
whose hash the next append names. The result states the limits of a verification. Lines after the last head are covered
only by their hashes, which anybody can compute. And without a copy of an earlier head, a file whose end was cut off
looks like the file of a killed process.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from headwater_audit.chain import NOTHING, canonical, digest, signed_bytes
from headwater_audit.file import PlacedLine
from headwater_audit.record import SIGNED, Kind
from headwater_audit.signing import is_signed

_KINDS: Final = frozenset(Kind)
_MOST_FINDINGS: Final = 1_000
_MOST_INTENTS: Final = 10_000
_ORDERED: Final = frozenset({"file"})
"""Streams in which each line names the previous line of any chain."""


class AuditFault(StrEnum):
    """Kinds of findings."""

    NOT_A_LINE = "not-a-line"
    """The audit doesn't write such lines."""
    CHANGED = "changed"
    """The line was changed: its hash differs."""
    REWRITTEN = "rewritten"
    """The previous line of the chain was changed after this line was written."""
    GAP = "gap"
    """Lines of the chain are missing before this one."""
    REPEATED = "repeated"
    """The line follows a later line of its chain: it was moved, or is there twice."""
    BEGINNING = "beginning"
    """The chain doesn't begin with its first line."""
    REMOVED = "removed"
    """A line directly before this line in the file was removed, moved, inserted or changed."""
    SIGNATURE = "signature"
    """The signature of a head isn't by a given key, or is missing."""
    AFTER_END = "after-end"
    """The line follows the last line of its chain."""
    END = "end"
    """A line of an earlier verification is missing."""


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """A place where lines aren't as they were written.

    Attributes:
        place: place of the line, for example `audit.jsonl:17`.
        chain: chain of the line; None if it has none.
        sequence: position of the line in its chain.
        detail: description of the fault, as a sentence.
    """

    fault: AuditFault
    place: str
    chain: str | None
    sequence: int | None
    detail: str


@dataclass(frozen=True, slots=True)
class ChainHead:
    """The last line of a chain at some time. Stored elsewhere, it lets a later verification find a cut-off end."""

    chain: str
    sequence: int
    hash: str


@dataclass(frozen=True, slots=True)
class Unclosed:
    """A chain without its last line: its process runs, was killed, or the end is missing.

    Attributes:
        uncovered: number of lines after the last line with a signature, right or wrong: a wrong one is a finding.
        intents: number of changes that were begun, without a recorded outcome.
    """

    chain: str
    sequence: int
    place: str
    uncovered: int
    intents: int


@dataclass(slots=True)
class _State:
    """Current end of a chain."""

    sequence: int
    hashes: tuple[str, ...]
    place: str
    covered: int = -1
    intents: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Verification:
    """Result of a verification.

    Attributes:
        records: number of lines about requests and commands.
        lost: number of lost records, by the LOST lines.
        heads_checked: number of heads whose signature was checked with a given key.
        unfinished: places of unfinished lines that the next append names, or that end the last file.
        heads: last lines of unclosed chains and of each stream, to be stored elsewhere.
    """

    lines: int
    records: int
    chains: int
    lost: int
    heads_checked: int
    found: int
    findings: tuple[AuditFinding, ...]
    unfinished: tuple[str, ...]
    unclosed: tuple[Unclosed, ...]
    heads: tuple[ChainHead, ...]


class Verifier:
    """Verifier of lines. Give all lines to `see`, in order, then call `result`.

    Args:
        keys: public keys; each head must have a signature by one of them. Empty: signatures aren't checked.
        heads: `Verification.heads` of an earlier verification.
    """

    def __init__(self, keys: Iterable[str] = (), heads: Iterable[ChainHead] = ()) -> None:
        self._keys = frozenset(keys)
        self._earlier = {(each.chain, each.sequence): each.hash for each in heads}
        self._expected = dict(self._earlier)
        self._open: dict[str, _State] = {}
        self._closed: set[bytes] = set()
        self._before: dict[str, tuple[str, ...]] = {}
        """Hashes of the last line of each stream: the one in the line, and the computed one."""
        self._last: dict[str, ChainHead] = {}
        self._pending: dict[str, PlacedLine] = {}
        """Unfinished line at the current end of each stream."""
        self._findings: list[AuditFinding] = []
        self._found = self._lines = self._records = self._chains = self._lost = self._checked = 0
        self._unfinished: list[str] = []

    def see(self, line: PlacedLine) -> None:
        """Verify the next line of a stream."""
        self._lines += 1
        parsed = _parsed(line.data)
        if parsed is None:
            self._report_pending(line.stream)
            self._pending[line.stream] = line
            self._before[line.stream] = (digest(line.data),)
            return
        members, written = parsed
        stated = members["hash"]
        actual = digest(canonical({name: each for name, each in members.items() if name != "hash"}))
        hashes = (stated, actual)
        if stated != actual or written != line.data:
            self._add(AuditFault.CHANGED, line, members, "The line isn't as it was written: its hash differs.")
        covers = members["kind"] in SIGNED and (not self._keys or self._signed_by_given_key(line, members))
        before = self._found
        self._check_chain(line, members, hashes, covers=covers)
        if line.stream in _ORDERED:
            # A gap of the chain is reported once.
            self._check_order(line, members, is_reported=self._found > before)
        self._report_pending(line.stream)
        self._count(members)
        self._before[line.stream] = hashes
        self._last[line.stream] = ChainHead(members["chain"], members["sequence"], stated)
        self._mark_found(members, hashes)

    def truncated(self, place: str) -> None:
        """Report that the beginning of a stream is gone."""
        self._report(
            AuditFinding(AuditFault.BEGINNING, place, None, None, "Earlier records were deleted, or have expired.")
        )

    def result(self) -> Verification:
        """Return the result for all lines so far."""
        for stream, line in list(self._pending.items()):
            if line.whole:
                self._report_pending(stream)
            else:
                self._unfinished.append(line.place)
                del self._pending[stream]
        for chain, sequence in self._expected:
            detail = "The line was there at an earlier verification, and is missing: the end was cut off."
            self._report(AuditFinding(AuditFault.END, "the end", chain, sequence, detail))
        self._expected = {}
        unclosed = tuple(
            Unclosed(chain, state.sequence, state.place, state.sequence - state.covered, len(state.intents))
            for chain, state in self._open.items()
        )
        heads = {ChainHead(chain, state.sequence, state.hashes[0]) for chain, state in self._open.items()}
        return Verification(
            lines=self._lines,
            records=self._records,
            chains=self._chains,
            lost=self._lost,
            heads_checked=self._checked,
            found=self._found,
            findings=tuple(self._findings),
            unfinished=tuple(self._unfinished),
            unclosed=unclosed,
            heads=tuple(sorted(heads | set(self._last.values()), key=lambda each: (each.chain, each.sequence))),
        )

    def _report_pending(self, stream: str) -> None:
        """Report a stream's pending unfinished line, which no later line explained."""
        if (line := self._pending.pop(stream, None)) is not None:
            self._report(
                AuditFinding(AuditFault.NOT_A_LINE, line.place, None, None, "The audit doesn't write such lines.")
            )

    def _signed_by_given_key(self, line: PlacedLine, members: Mapping[str, Any]) -> bool:
        """Check the signature of a head; return True if a given key made it."""
        key, signature = members.get("key"), members.get("signature")
        self._checked += 1
        if not isinstance(key, str) or not isinstance(signature, str):
            self._add(AuditFault.SIGNATURE, line, members, "The head isn't signed.")
            return False
        if key not in self._keys or not is_signed(key, signature, signed_bytes(members)):
            self._add(AuditFault.SIGNATURE, line, members, "The head's signature isn't by a given key.")
            return False
        return True

    def _check_order(self, line: PlacedLine, members: Mapping[str, Any], *, is_reported: bool) -> None:
        """Compare the previous line in the file with the one that was there when the line was written."""
        after, before = members.get("after", members["previous"]), self._before.get(line.stream)
        if before is not None and after in before:
            if (pending := self._pending.pop(line.stream, None)) is not None:
                self._unfinished.append(pending.place)
        elif is_reported:
            return
        elif before is not None:
            self._add(
                AuditFault.REMOVED,
                line,
                members,
                "Lines directly before this line were removed, moved, inserted or changed.",
            )
        elif after in self._earlier.values():
            self._expected = {where: known for where, known in self._expected.items() if known != after}
        elif after != NOTHING:
            self._add(
                AuditFault.BEGINNING,
                line,
                members,
                f"Lines before this line are missing; the last missing line had hash {after}.",
            )

    def _check_chain(
        self, line: PlacedLine, members: Mapping[str, Any], hashes: tuple[str, ...], *, covers: bool
    ) -> None:
        """Compare a line with the end of its chain."""
        chain, sequence, previous = members["chain"], members["sequence"], members["previous"]
        state = self._open.get(chain)
        if state is None:
            if _short(chain) in self._closed:
                self._add(AuditFault.AFTER_END, line, members, "The line follows the last line of its chain.")
                return
            self._chains += 1
            is_first = members["kind"] == Kind.OPENED and sequence == 0 and previous == NOTHING
            if not is_first and self._earlier.get((chain, sequence - 1)) != previous:
                self._add(
                    AuditFault.BEGINNING, line, members, f"Lines of the chain before position {sequence} are missing."
                )
            self._expected.pop((chain, sequence - 1), None)  # the previous line is in an archive
            state = self._open[chain] = _State(sequence, hashes, line.place, covered=sequence - 1)
        elif sequence == state.sequence + 1:
            if previous not in state.hashes:
                self._add(
                    AuditFault.REWRITTEN,
                    line,
                    members,
                    f"The chain's previous line, {state.place}, isn't the line that this one followed.",
                )
        elif sequence > state.sequence:
            missing = f"{state.sequence + 1} to {sequence - 1}" if sequence - state.sequence > 2 else f"{sequence - 1}"
            self._add(AuditFault.GAP, line, members, f"Missing in the chain after {state.place}: {missing}.")
        else:
            self._add(
                AuditFault.REPEATED,
                line,
                members,
                f"The line was moved or is there twice: the chain already goes on to {state.place}.",
            )
            return
        state.sequence, state.hashes, state.place = sequence, hashes, line.place
        if covers:
            state.covered = sequence
        if members["kind"] == Kind.CLOSED:
            del self._open[chain]
            self._closed.add(_short(chain))

    def _count(self, members: Mapping[str, Any]) -> None:
        state = self._open.get(members["chain"])
        request = members.get("request")
        if members["kind"] == Kind.LOST and isinstance(members.get("count"), int):
            self._lost += members["count"]
        if not isinstance(request, str):
            return
        self._records += 1
        if state is None:
            return
        if members["kind"] == Kind.INTENT and len(state.intents) < _MOST_INTENTS:
            state.intents.add(request)
        elif members["kind"] == Kind.OUTCOME:
            state.intents.discard(request)

    def _mark_found(self, members: Mapping[str, Any], hashes: tuple[str, ...]) -> None:
        where = members["chain"], members["sequence"]
        if self._expected.get(where) in hashes:
            del self._expected[where]

    def _add(self, fault: AuditFault, line: PlacedLine, members: Mapping[str, Any], detail: str) -> None:
        self._report(AuditFinding(fault, line.place, members["chain"], members["sequence"], detail))

    def _report(self, finding: AuditFinding) -> None:
        self._found += 1
        if len(self._findings) < _MOST_FINDINGS:
            self._findings.append(finding)


def _short(chain: str) -> bytes:
    return bytes.fromhex(digest(chain.encode())[:16])


def _parsed(data: bytes) -> tuple[dict[str, Any], bytes] | None:
    """Members of a line, and the bytes that the audit writes for them; None if it isn't an audit line."""
    try:
        members = json.loads(data)
        written = canonical(members)
    except (ValueError, RecursionError):
        return None
    if not isinstance(members, dict):
        return None
    sequence = members.get("sequence")
    texts = (members.get(name) for name in ("chain", "hash", "kind", "previous"))
    if not all(isinstance(text, str) for text in texts) or type(sequence) is not int or sequence < 0:
        return None
    return (members, written) if members["kind"] in _KINDS else None
