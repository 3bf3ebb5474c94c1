"""TLS of the server: certificate, key and client CA from files, read again when they change; and TLS connections.

asyncio's `SSLProtocol` is between the socket and a `Connection`. Each connection gets the current context when it is
accepted, so a new certificate or client CA takes effect without a restart. Handshakes have their own limits:

- each may take at most `head_timeout_seconds`;
- there are at most 128 at a time, 32 of them from one client. A further handshake ends the oldest one. Otherwise
  anybody could exhaust the process's files by opening connections and sending nothing.

A resumed session keeps the client certificate of its first handshake. The certificate's end is checked with each
request. A new client CA comes with a new context, which doesn't resume older sessions.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from asyncio.sslproto import SSLProtocol
from dataclasses import dataclass, field
from math import ceil
from pathlib import Path
from typing import Any, NoReturn, cast

from uvicorn.config import Config
from uvicorn.server import ServerState

from headwater_server.connections import Connection, Connections, network_of
from headwater_server.settings import AccessSettingsError

log = logging.getLogger("headwater.serve")

HANDSHAKES_MAX = 128
"""Maximum number of handshakes at the same time, in addition to the connections."""
_HANDSHAKES_PER_CLIENT_MAX = 32
_SHUTDOWN_SECONDS = 5


class TlsFilesError(AccessSettingsError):
    """A file of the server's TLS can't be used. The message names the file and the reason, and never has the key."""


class ServerTls:
    """Current TLS context, from files that may change.

    While changed files are broken or don't match, the previous context stays in use.

    Args:
        certificate: PEM file with the certificate and its chain.
        key: PEM file with the key, without a password; None: the key is in the certificate's file.
        client_ca: PEM file with the authorities of client certificates; None: clients aren't asked for certificates.
        required: True to end handshakes of clients without a certificate.

    Raises:
        TlsFilesError: the files can't be used.
    """

    def __init__(self, certificate: Path, key: Path | None, client_ca: Path | None, *, required: bool) -> None:
        self._certificate = certificate
        self._key = key
        self._client_ca = client_ca
        self._required = required
        self._signature = self._files_signature()
        self._context = self._load()
        self.current = True
        """False while the files are broken and the previous context is in use."""

    def context(self) -> ssl.SSLContext:
        """Context for the next connection."""
        signature = self._files_signature()
        if signature != self._signature:
            self._signature = signature
            try:
                self._context = self._load()
            except TlsFilesError as error:
                self.current = False
                log.error("%s The previous certificates stay in use until the files are repaired.", error)  # noqa: TRY400
            else:
                self.current = True
                log.info("The TLS certificate %s is in use.", self._certificate)
        return self._context

    def check(self) -> bool:
        """Check the files now; return True if their current content is in use."""
        self.context()
        return self.current

    def _files_signature(self) -> tuple[object, ...]:
        """Signature of the files, which changes whenever one of them changes."""
        found: list[object] = []
        for file in (self._certificate, self._key, self._client_ca):
            try:
                status = None if file is None else file.stat()
            except OSError as error:
                found.append(error.errno)
            else:
                found.append(status and (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns))
        return tuple(found)

    def _load(self) -> ssl.SSLContext:
        """Make a context from the current files.

        Raises:
            TlsFilesError: the files can't be used.
        """
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(["http/1.1"])
        key = self._key or self._certificate
        try:
            context.load_cert_chain(self._certificate, key, password=_no_password)
        except (OSError, ValueError) as error:
            raise TlsFilesError(
                f"The TLS certificate {self._certificate} with the key {key} can't be used: {_reason(error)}.",
                "Check HEADWATER_SERVE_TLS_CERTIFICATE and HEADWATER_SERVE_TLS_KEY: PEM, the certificate first, then "
                "its chain; the key without a password.",
            ) from None
        if self._client_ca is None:
            return context
        try:
            context.load_verify_locations(self._client_ca)
        except (OSError, ValueError) as error:
            raise TlsFilesError(
                f"The client CA {self._client_ca} can't be used: {_reason(error)}.",
                "Check HEADWATER_SERVE_TLS_CLIENT_CA: PEM, one certificate or several.",
            ) from None
        context.verify_mode = ssl.CERT_REQUIRED if self._required else ssl.CERT_OPTIONAL
        # The trusted authority may be an intermediate one, without its root.
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        return context


def _no_password() -> NoReturn:
    # Without this callback, OpenSSL would ask for the password on the terminal.
    raise ValueError("the key has a password")


def _reason(error: Exception) -> str:
    if isinstance(error, ssl.SSLError):
        return (error.reason or "not PEM, or missing").replace("_", " ").lower()
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


@dataclass
class TlsConnections:
    """Protocol factory for uvicorn: `Connection`s over TLS, and the handshakes in progress.

    Attributes:
        connections: limits, and connections with a complete handshake.
        tls: source of the next connection's context.
        handshakes: network of the client for each handshake in progress, the oldest first.
        evicted: number of handshakes that were ended in favour of others.
    """

    connections: Connections
    tls: ServerTls
    handshakes: dict[_TlsProtocol, str] = field(default_factory=dict)
    evicted: int = 0

    def __call__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> asyncio.BaseProtocol:
        """Make the protocol of a connection that was just accepted."""
        inner = Connection(config, server_state, app_state, _loop, connections=self.connections)
        return _TlsProtocol(inner, self)

    def begin(self, protocol: _TlsProtocol, client: str) -> None:
        """Add a new handshake; if there are too many, end the oldest one."""
        theirs = [each for each, of in self.handshakes.items() if of == client]
        if len(theirs) >= _HANDSHAKES_PER_CLIENT_MAX:
            self._evict(theirs[0])
        elif len(self.handshakes) >= HANDSHAKES_MAX:
            self._evict(next(iter(self.handshakes)))
        self.handshakes[protocol] = client

    def abort(self) -> None:
        """End all handshakes."""
        for protocol in tuple(self.handshakes):
            protocol.abort()

    def _evict(self, protocol: _TlsProtocol) -> None:
        self.evicted += 1
        del self.handshakes[protocol]
        protocol.abort()


class _TlsProtocol(SSLProtocol):
    """TLS of one connection."""

    def __init__(self, inner: Connection, all_: TlsConnections) -> None:
        loop = asyncio.get_running_loop()
        self._all = all_
        self._raw: asyncio.Transport | None = None
        self._shaken: asyncio.Future[Any] = loop.create_future()
        self._shaken.add_done_callback(self._end_handshake)
        super().__init__(
            loop,
            inner,
            all_.tls.context(),
            self._shaken,
            server_side=True,
            ssl_handshake_timeout=ceil(all_.connections.settings.head_timeout_seconds),
            ssl_shutdown_timeout=_SHUTDOWN_SECONDS,
        )

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin the handshake."""
        self._raw = cast("asyncio.Transport", transport)
        self._all.begin(self, network_of(self._address()))
        super().connection_made(transport)

    def abort(self) -> None:
        """Close the connection at once."""
        if self._raw is not None:
            self._raw.abort()

    def _address(self) -> str:
        address = None if self._raw is None else self._raw.get_extra_info("peername")
        return str(address[0]) if address else ""

    def _end_handshake(self, shaken: asyncio.Future[Any]) -> None:
        self._all.handshakes.pop(self, None)
        error = None if shaken.cancelled() else shaken.exception()
        if isinstance(error, ssl.SSLError | ConnectionAbortedError):
            why = error.reason if isinstance(error, ssl.SSLError) else "it took too long"
            detail = getattr(error, "verify_message", None)
            log.warning("TLS handshake with %s failed: %s", self._address(), f"{why}: {detail}" if detail else why)
