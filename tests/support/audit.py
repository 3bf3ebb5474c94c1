"""Lines of the audit that a test makes up, and what a verification finds in them."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from headwater_audit.errors import AuditUnwritableError
from headwater_audit.file import AuditFile, PlacedLine
from headwater_audit.record import AuditRecord, Kind, filters_of
from headwater_audit.signing import Signer
from headwater_audit.verifying import ChainHead, Verification, Verifier
from headwater_audit.writer import AuditWriter, Build, Tail
from support.waiting import patience

START = datetime(2026, 11, 28, 5, tzinfo=UTC)


def signer() -> Signer:
    """Key of the tests."""
    return Signer(Ed25519PrivateKey.from_private_bytes(bytes(range(32))))


def record(number: int = 0, kind: Kind = Kind.OUTCOME, **others: object) -> AuditRecord:
    filters, _ = filters_of([("id", f"kafka://broker:9092/orders-{number}")])
    values: dict[str, object] = {
        "tenant": "default",
        "address": "192.0.2.7",
        "method": "GET",
        "route": "/api/v1/assets/{id}",
        "operation": "asset",
        "filters": filters,
        "results": number,
        "status": 200,
        "milliseconds": 1.5,
        **others,
    }
    time = START + timedelta(seconds=number)
    return AuditRecord(kind, time, f"request-{number}", "token", "ci", **values)  # type: ignore[arg-type]


class Memory:
    """Destination that keeps lines, as a file would or, without an order, as a topic."""

    def __init__(self, *, ordered: bool = True) -> None:
        self.lines: list[bytes] = []
        self._ordered = ordered

    def __str__(self) -> str:
        return "memory"

    def append(self, build: Build) -> None:
        tail = Tail(json.loads(self.lines[-1])["hash"] if self.lines else None)
        self.lines += build(tail if self._ordered else None)

    def close(self) -> None:
        """There is nothing to close."""


class Breakable(Memory):
    """Destination that fails while `broken` is set, and hangs while `released` isn't."""

    def __init__(self) -> None:
        super().__init__()
        self.broken = threading.Event()
        self.released = threading.Event()
        self.released.set()

    def append(self, build: Build) -> None:
        assert self.released.wait(patience(30))
        if self.broken.is_set():
            raise AuditUnwritableError("the disk is full")
        super().append(build)

    def records(self) -> list[dict[str, Any]]:
        """Lines of records so far."""
        return [line for line in map(json.loads, list(self.lines)) if "request" in line]

    def kinds(self) -> list[str]:
        """Kinds of all lines so far."""
        return [json.loads(line)["kind"] for line in list(self.lines)]


def chain_of(count: int, *, by: Signer | None = None, head_records: int = 4) -> list[bytes]:
    """Lines of a closed chain with so many records."""
    memory = Memory()
    write(AuditWriter(memory, signer=by, head_records=head_records, timeout_seconds=patience(30)), count)
    return memory.lines


def write(writer: AuditWriter, count: int, first: int = 0) -> None:
    """Write records, and close the writer."""
    for number in range(first, first + count):
        writer.write(record(number))
    writer.close()


def file_writer(path: Path, *, max_bytes: int = 1 << 30, by: Signer | None = None) -> AuditWriter:
    return AuditWriter(AuditFile(path, max_bytes=max_bytes), signer=by, head_records=4, timeout_seconds=patience(30))


def placed(lines: Iterable[bytes], stream: str = "file") -> list[PlacedLine]:
    return [PlacedLine(stream, f"a:{number}", line) for number, line in enumerate(lines, 1)]


def verified(lines: Iterable[PlacedLine], keys: Sequence[str] = (), heads: Sequence[ChainHead] = ()) -> Verification:
    verifier = Verifier(keys, heads)
    for line in lines:
        verifier.see(line)
    return verifier.result()
