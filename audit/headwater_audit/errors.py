"""Errors of the audit.

AuditError
├── AuditUnwritableError    a record isn't durable: refuse its request or command
└── AuditKeyError           the key's file can't be used: a setting has to be changed
"""

from __future__ import annotations


class AuditError(Exception):
    """Any error of the audit."""


class AuditUnwritableError(AuditError):
    """A record isn't durable.

    Attributes:
        clean: True if no line is in the file or on the topic, so that the chain can continue from its old position.
    """

    def __init__(self, message: str, *, clean: bool = True) -> None:
        super().__init__(message)
        self.clean = clean


class AuditKeyError(AuditError):
    """The file of a key can't be read or written, or has no Ed25519 key. The message contains no part of the key."""
