"""`AuditChain`: lines with the hash of the previous line in each, so that gaps and changes are visible.

    {"after":"…","chain":"9f3c…","hash":"…","kind":"OPENED","previous":"000…","sequence":0,"time":"…",…}
    {"chain":"9f3c…","hash":"…","kind":"OUTCOME","previous":"…","request":"…","sequence":1,…}

A line is JSON with sorted keys, no spaces and only ASCII, so that no text in a line can end the line or control a
terminal.

chain       random id of the process that writes it
sequence    position in the chain, from 0
previous    `hash` of the previous line in the same chain; zeros in the first line
hash        SHA-256 of the line without this member
after       in a file that several processes share: hash of the previous line in the file, if it isn't `previous`
signature   in lines of the kinds SIGNED: Ed25519 signature of the line without `hash` and `signature`
key         public key for the signature
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from headwater_audit.record import SIGNED, AuditRecord, Kind, utc_text
from headwater_audit.signing import Signer
from headwater_schemas.clock import utc_now

NOTHING: Final = "0" * 64
"""`previous` of a chain's first line."""
_CONTEXT: Final = b"headwater audit line\n"
"""Prefix of all signed bytes. If the same key also signs something else, that signature is never valid for a line."""

# Created once: `json.dumps` would create an encoder for each line, which takes longer than the encoding.
_ENCODER: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)


def canonical(members: Mapping[str, Any]) -> bytes:
    """Return the bytes of a line that are hashed, without a line feed."""
    return _ENCODER.encode(members).encode("ascii")


def digest(data: bytes) -> str:
    """Return the SHA-256 as 64 hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def signed_bytes(members: Mapping[str, Any]) -> bytes:
    """Return the signed bytes of a line: everything except `hash` and `signature`."""
    return _CONTEXT + canonical({name: each for name, each in members.items() if name not in {"hash", "signature"}})


@dataclass(frozen=True, slots=True)
class ChainPosition:
    """State of a chain, to which the chain can be reset.

    Attributes:
        sequence: sequence of the next line.
        previous: hash of the last line.
        unsigned: number of lines since the last head.
    """

    sequence: int = 0
    previous: str = NOTHING
    unsigned: int = 0


class AuditChain:
    """Chain of one process; builds the chain's lines.

    Args:
        signer: key for the heads (lines that sign all lines before); None: heads are unsigned.
        continues: `chain:sequence` of the last line of the process's abandoned chain; None: it abandoned none.
        clock: function that returns the current time, with a time zone.
    """

    def __init__(
        self,
        signer: Signer | None = None,
        *,
        continues: str | None = None,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self.id = secrets.token_hex(16)
        self.position = ChainPosition()
        self._signer = signer
        self._continues = continues
        self._clock = clock

    def opened(self, after: str | None, *, process: Mapping[str, Any]) -> bytes:
        """Build the first line.

        Args:
            after: hash of the previous line in the file, here and in the other methods; None: there is none.
            process: description of the process, as values of JSON.
        """
        extra = {} if self._continues is None else {"continues": self._continues}
        return self._line(Kind.OPENED, {"process": dict(process), **extra}, after)

    def record(self, record: AuditRecord, after: str | None) -> bytes:
        """Build the line of a record."""
        return self._line(record.kind, record.members(), after)

    def lost(self, count: int, since: datetime, until: datetime, after: str | None) -> bytes:
        """Build the line that states the number of lost records, and when they were lost."""
        return self._line(Kind.LOST, {"count": count, "since": utc_text(since), "until": utc_text(until)}, after)

    def head(self, after: str | None) -> bytes:
        """Build the line that signs all lines before it."""
        return self._line(Kind.HEAD, {}, after)

    def closed(self, after: str | None) -> bytes:
        """Build the last line."""
        return self._line(Kind.CLOSED, {}, after)

    def _line(self, kind: Kind, members: dict[str, Any], after: str | None) -> bytes:
        at = self.position
        members |= {"kind": kind.value, "chain": self.id, "sequence": at.sequence, "previous": at.previous}
        members.setdefault("time", utc_text(self._clock()))
        if after is not None and after != at.previous:
            members["after"] = after
        if kind in SIGNED and self._signer is not None:
            members["key"] = self._signer.public
            members["signature"] = self._signer.sign(signed_bytes(members))
        members["hash"] = hashed = digest(canonical(members))
        self.position = ChainPosition(at.sequence + 1, hashed, 0 if kind in SIGNED else at.unsigned + 1)
        return canonical(members)
