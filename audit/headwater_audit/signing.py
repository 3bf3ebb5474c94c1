"""Ed25519 keys: the private key in a file of its owner, the public key as 43 characters of Base64.

`cryptography` is imported only where a key is used: an audit without a key doesn't need it.
"""

from __future__ import annotations

import base64
import binascii
import os
from pathlib import Path
from typing import TYPE_CHECKING

from headwater_audit.errors import AuditKeyError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_PUBLIC_BYTES = 32


class Signer:
    """A private key. It is never shown."""

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key
        self.public = _text(key.public_key().public_bytes_raw())
        """The public key."""

    def sign(self, data: bytes) -> str:
        """Return the signature of `data`, in Base64."""
        return _text(self._key.sign(data))


def make_key(path: Path) -> str:
    """Write a new private key to a file that only its owner may read, and return the public key.

    Raises:
        AuditKeyError: the file exists already, or can't be written.
    """
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.generate()
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(pem)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise AuditKeyError(f"{path} can't be written: {error.strerror}.") from error
    return Signer(key).public


def load_signer(path: Path) -> Signer:
    """Read a private key.

    Raises:
        AuditKeyError: the file can't be read, other users may read it, or it has no Ed25519 key.
    """
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            pem = file.read()
    except OSError as error:
        raise AuditKeyError(f"{path} can't be read: {error.strerror}.") from error
    if mode & 0o077:
        raise AuditKeyError(f"Others may read the key in {path}: its mode is {mode & 0o777:o}, and must be 600.")
    try:
        key = serialization.load_pem_private_key(pem, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        # Raised without its cause, which may quote the file.
        raise AuditKeyError(f"{path} has no private key in PEM without a password.") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise AuditKeyError(f"The key in {path} isn't an Ed25519 key.")
    return Signer(key)


def public_key(text: str) -> str:
    """Return the public key in the form that lines use.

    Raises:
        AuditKeyError: the text isn't a public key.
    """
    if _bytes(text.strip(), _PUBLIC_BYTES) is None:
        raise AuditKeyError("A public key of the audit is 43 characters of Base64, as `headwater audit key` prints it.")
    return text.strip().rstrip("=")


def is_signed(public: str, signature: str, data: bytes) -> bool:
    """Return whether the signature of `data` was made by the owner of the public key."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    key, signed = _bytes(public, _PUBLIC_BYTES), _bytes(signature, 64)
    if key is None or signed is None:
        return False
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signed, data)
    except InvalidSignature:
        return False
    return True


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode("ascii").rstrip("=")


def _bytes(text: str, size: int) -> bytes | None:
    """Decode Base64 without padding; None unless it has exactly `size` bytes in canonical form."""
    try:
        data = base64.b64decode(text.rstrip("=") + "=" * (-len(text.rstrip("=")) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return None
    return data if len(data) == size and _text(data) == text.rstrip("=") else None
