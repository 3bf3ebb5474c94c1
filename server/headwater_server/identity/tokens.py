"""API tokens in a file: names, hashes, scopes. The file never has a secret.

A secret is `hw_` and 64 hexadecimal digits (256 random bits), a form that secret scanners can find. Its SHA-256 is the
key of look-ups. The time of a look-up doesn't help to guess a secret: it depends on the hash of the guess, whose digits
nobody can choose. A slow hash would add nothing to 256 random bits.

    {"version": 1, "tokens": [{"name": "ci", "sha256": "…", "scopes": ["write"], "tenant": null, "groups": [],
     "created": "2026-11-28T05:00:00Z", "expires": "2027-02-26T05:00:00Z", "revoked": null}]}

Writers hold a lock (`<file>.lock`), write a new file with mode 0600 in the same folder, and rename it. Readers take no
lock: they read the old file or the new one.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import logging
import os
import secrets
import stat
import tempfile
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from headwater_schemas.clock import utc_now
from headwater_server.identity.credentials import CredentialError, CredentialFault
from headwater_server.identity.identity import Identity, IdentitySource, Scope

log = logging.getLogger("headwater.serve")

PREFIX = "hw_"
_SECRET_BYTES = 32
_NAME = r"\A[A-Za-z0-9][A-Za-z0-9._@-]{0,99}\Z"
_GONE = None
"""Signature of a missing file."""
_UNSEEN = ()
"""Signature of a file that can't be examined."""


class ApiToken(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """API token in the file.

    Attributes:
        name: name, unique in the file including revoked tokens, because the audit records it.
        sha256: SHA-256 of the secret, as 64 hexadecimal digits.
        tenant: the only tenant whose graph the token may ask; None: the server's tenant.
        expires: time from which the token isn't valid; None if it doesn't expire.
        revoked: time of revocation; None if it isn't revoked.
    """

    name: Annotated[str, msgspec.Meta(pattern=_NAME)]
    sha256: Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{64}\Z")]
    scopes: Annotated[tuple[Scope, ...], msgspec.Meta(min_length=1)]
    created: Annotated[datetime, msgspec.Meta(tz=True)]
    tenant: Annotated[str, msgspec.Meta(min_length=1)] | None = None
    groups: tuple[Annotated[str, msgspec.Meta(min_length=1)], ...] = ()
    expires: Annotated[datetime, msgspec.Meta(tz=True)] | None = None
    revoked: Annotated[datetime, msgspec.Meta(tz=True)] | None = None

    def identity(self) -> Identity:
        """Identity of the token's holder."""
        return Identity(
            IdentitySource.TOKEN, self.name, self.tenant, frozenset(self.groups), frozenset(self.scopes), self.expires
        )


class _Document(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    version: Literal[1]
    tokens: tuple[ApiToken, ...]


class TokensFileError(Exception):
    """The file can't be read or written, isn't a file of tokens, or can be written by every user.

    The message names the file and the reason.
    """


class TokenNameError(Exception):
    """A name can't be used: the token's is taken, ill-formed or unknown; or the tenant's or a group's is ill-formed."""

    def __init__(self, message: str, names: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.names = tuple(names)


class TokenVerifier:
    """Verifier of API tokens. It reads the file again whenever the file has changed.

    While the file is broken, or can't be read, the tokens of its last good content stay valid. Without the file, no
    token is valid.

    Args:
        clock: function that returns the current time, with a time zone.

    Raises:
        TokensFileError: the file exists, and is broken, can't be read, or can be written by every user.
    """

    def __init__(self, path: Path, clock: Callable[[], datetime] = utc_now) -> None:
        self._path = path
        self._clock = clock
        self._by_hash: dict[str, tuple[ApiToken, Identity]] = {}
        self._signature: tuple[int, ...] | None = _GONE
        self.readable = True
        """False while the file is missing, broken or unreadable."""
        try:
            self._read()
        except FileNotFoundError:
            self._missing()

    def identify(self, secret: str) -> Identity:
        """Return the identity of a token's holder.

        Raises:
            CredentialError: the token is unknown, revoked or expired.
        """
        self._refresh()
        found = self._by_hash.get(_hash(secret))
        if found is None:
            raise CredentialError(CredentialFault.UNKNOWN, "This API token isn't known here.")
        token, identity = found
        if token.revoked is not None:
            raise CredentialError(CredentialFault.REVOKED, "This API token has been revoked.")
        if token.expires is not None and self._clock() >= token.expires:
            raise CredentialError(CredentialFault.EXPIRED, "This API token has expired.")
        return identity

    def check(self) -> bool:
        """Check the file now; return True if it can be read."""
        self._refresh()
        return self.readable

    def _refresh(self) -> None:
        try:
            signature = _signature(self._path.stat())
        except FileNotFoundError:
            if self._signature is not _GONE:
                self._missing()
            return
        except OSError as error:
            self._signature = _UNSEEN
            self._broken(f"The tokens file {self._path} can't be read: {error.strerror}.")
            return
        if signature == self._signature:
            return
        try:
            self._read()
        except FileNotFoundError:
            self._missing()
        except TokensFileError as error:
            self._signature = signature
            self._broken(str(error))

    def _read(self) -> None:
        """Read the file.

        Raises:
            FileNotFoundError: the file is missing.
            TokensFileError: the file is broken, can't be read, or can be written by every user.
        """
        tokens, signature = _read(self._path)
        self._by_hash = {token.sha256: (token, token.identity()) for token in tokens}
        self._signature, self.readable = signature, True

    def _missing(self) -> None:
        log.error("The tokens file %s is missing: no API token is valid until it exists again.", self._path)
        self._by_hash, self._signature, self.readable = {}, _GONE, False

    def _broken(self, reason: str) -> None:
        if self.readable:
            log.error("%s Its last valid tokens stay valid until the file is repaired.", reason)
        self.readable = False


def list_tokens(path: Path) -> tuple[ApiToken, ...]:
    """Read the tokens, in the order of their creation; none if the file is missing.

    Raises:
        TokensFileError: the file is broken or can't be read.
    """
    try:
        return _read(path)[0]
    except FileNotFoundError:
        return ()


def create_token(
    path: Path,
    name: str,
    scopes: Sequence[Scope],
    *,
    now: datetime,
    expires: datetime | None,
    tenant: str | None = None,
    groups: Sequence[str] = (),
) -> tuple[ApiToken, str]:
    """Create a token, and the file if it is missing.

    Returns:
        The token, and its secret, which isn't stored.

    Raises:
        TokenNameError: the name is taken or ill-formed, or the tenant or a group is ill-formed.
        TokensFileError: the file is broken, or can't be read or written.
    """
    secret = PREFIX + secrets.token_hex(_SECRET_BYTES)
    token = ApiToken(name, _hash(secret), tuple(sorted(set(scopes))), now, tenant, tuple(groups), expires)
    try:
        token = msgspec.convert(msgspec.to_builtins(token), ApiToken)
    except msgspec.ValidationError as error:
        raise TokenNameError(f"A token can't have this name, tenant or group: {error}.") from None
    with _changing(path) as tokens:
        if any(each.name == name for each in tokens):
            raise TokenNameError(f"There is a token {name} already, and names aren't used again.")
        tokens.append(token)
    return token, secret


def revoke_token(path: Path, name: str, *, now: datetime) -> ApiToken:
    """Revoke a token. A token that is already revoked isn't changed.

    Raises:
        TokenNameError: there is no such token.
        TokensFileError: the file is broken, or can't be read or written.
    """
    with _changing(path) as tokens:
        index = next((index for index, each in enumerate(tokens) if each.name == name), None)
        if index is None:
            raise TokenNameError(f"There is no token {name}.", [each.name for each in tokens])
        if tokens[index].revoked is None:
            tokens[index] = msgspec.structs.replace(tokens[index], revoked=now)
        return tokens[index]


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _signature(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _read(path: Path) -> tuple[tuple[ApiToken, ...], tuple[int, ...]]:
    """Read the tokens of a file; return them and the signature of the read file.

    Raises:
        FileNotFoundError: the file is missing.
        TokensFileError: the file is broken or can't be read.
    """
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            content = file.read()
    except FileNotFoundError:
        raise
    except OSError as error:
        raise TokensFileError(f"The tokens file {path} can't be read: {error.strerror}.") from error
    if status.st_mode & stat.S_IWOTH:
        raise TokensFileError(f"The tokens file {path} can be written by every user of this machine.")
    try:
        tokens = msgspec.json.decode(content, type=_Document).tokens
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise TokensFileError(f"The tokens file {path} is broken: {error}.") from error
    for what in ("name", "sha256"):
        if len({getattr(token, what) for token in tokens}) < len(tokens):
            raise TokensFileError(f"The tokens file {path} is broken: two tokens have the same {what}.")
    return tokens, _signature(status)


@contextlib.contextmanager
def _changing(path: Path) -> Iterator[list[ApiToken]]:
    """Hold the lock; write the tokens at the end of the block, if they changed.

    Raises:
        TokensFileError: the file is broken, or can't be read or written.
    """
    # The target of a symbolic link is replaced, not the link.
    file = path.resolve()
    try:
        lock = os.open(f"{file}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise TokensFileError(f"The tokens file {path} can't be written: {error.strerror}.") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        before = list_tokens(file)
        tokens = list(before)
        yield tokens
        if tuple(tokens) != before:
            _replace(file, msgspec.json.format(msgspec.json.encode(_Document(1, tuple(tokens))), indent=2) + b"\n")
    finally:
        os.close(lock)


def _replace(file: Path, content: bytes) -> None:
    """Write a file atomically and durably; only its owner may read it.

    Raises:
        TokensFileError: the file can't be written.
    """
    try:
        # `mkstemp` creates the file with mode 0600.
        descriptor, temporary = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
        try:
            with os.fdopen(descriptor, "wb") as writing:
                if file.exists():
                    # If an administrator writes the file, the server's user still has to read it.
                    with contextlib.suppress(PermissionError):
                        os.fchown(writing.fileno(), file.stat().st_uid, file.stat().st_gid)
                writing.write(content)
                writing.flush()
                os.fsync(writing.fileno())
            Path(temporary).replace(file)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        folder = os.open(file.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise TokensFileError(f"The tokens file {file} can't be written: {error.strerror}.") from error
