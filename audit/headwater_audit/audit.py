"""`Audit`: the writer of a process, and its policy if records can't be written. `opened` makes it from the settings."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from headwater_audit.file import AuditFile
from headwater_audit.settings import AuditSettings
from headwater_audit.signing import load_signer
from headwater_audit.writer import AuditWriter, Destination


@dataclass(frozen=True, slots=True)
class Audit:
    """The audit of a process. Close the writer when the process ends.

    Attributes:
        required: whether to refuse requests and commands that can't be recorded.
    """

    writer: AuditWriter
    required: bool = True


def opened(
    settings: AuditSettings, *, topic: Callable[[], Destination], process: Mapping[str, Any] | None = None
) -> Audit | None:
    """Begin a chain at the configured destination; None: no audit is configured.

    A destination that can't be written yet isn't an error: records are refused until it is writable.

    Args:
        topic: function that makes the destination for `settings.topic`.
        process: description of the process for the chain's first line.

    Raises:
        AuditKeyError: the key's file can't be used.
    """
    if not settings.enabled:
        return None
    signer = None if settings.key_file is None else load_signer(settings.key_file)
    destination = (
        topic()
        if settings.file is None
        else AuditFile(settings.file, max_bytes=settings.file_max_bytes, fsync=settings.fsync)
    )
    writer = AuditWriter(
        destination,
        signer=signer,
        process=process,
        head_records=settings.head_records,
        head_seconds=settings.head_seconds,
        timeout_seconds=settings.timeout_seconds,
    )
    return Audit(writer, settings.required)


def request_id() -> str:
    """Random id of a request, or of a command's run."""
    return secrets.token_hex(16)
