"""OIDC provider: its discovery document and keys, fetched rarely and kept while the provider is unavailable.

Senders of requests must not be able to make this server flood the provider. So there is one fetch at a time, shared by
all requests that need it, and a pause after it:

| state | what a request does |
|---|---|
| no keys, or keys older than `KEPT_SECONDS` | waits for a fetch; 503 if it fails, or during the pause after a failure |
| keys older than `FRESH_SECONDS` | uses these keys; a fetch runs in the background |
| keys without the token's `kid` | waits for a fetch, unless one ended within the last `PAUSE_SECONDS` |

A fetch consists of two requests, within `_FETCH_SECONDS` together. Each answer has at most `_LARGEST_BYTES`. Redirects
aren't followed.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx2
import msgspec
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, Key, OKPKey, RSAKey
from joserfc.jws import JWSRegistry
from joserfc.util import urlsafe_b64decode

from headwater_server.identity.credentials import ProviderUnavailableError

log = logging.getLogger("headwater.serve")

FRESH_SECONDS = 300.0
"""Age from which keys are fetched again in the background."""
KEPT_SECONDS = 14_400.0
"""Maximum age of keys in use while the provider is unavailable."""
PAUSE_SECONDS = 30.0
"""Pause after a fetch before an unknown `kid` causes the next one."""
RETRY_SECONDS = 5.0
"""Pause after a failed fetch."""
_FETCH_SECONDS = 5.0
_LARGEST_BYTES = 1_048_576
_MOST_KEYS = 100
_LEAST_RSA_BITS = 2_048
_PUBLIC = frozenset({"kty", "use", "key_ops", "alg", "kid", "n", "e", "crv", "x", "y"})
"""Members of a key that are read: only public ones, even if a provider publishes a private key by mistake."""


class Metadata(msgspec.Struct, frozen=True):
    """Used members of a provider's discovery document (OpenID Connect Discovery 1.0, 3).

    Attributes:
        issuer: the issuer, which has to be the configured one.
        jwks_uri: URL of the provider's keys.
        authorization_endpoint: URL to which browsers are sent to log in.
        token_endpoint: URL at which a code is exchanged for tokens.
        end_session_endpoint: URL to which browsers are sent to log out; None if the provider has none.
        token_endpoint_auth_methods_supported: methods of client authentication at the token endpoint.
    """

    issuer: str
    jwks_uri: str
    authorization_endpoint: str | None = None
    token_endpoint: str | None = None
    end_session_endpoint: str | None = None
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)


@dataclass(frozen=True, slots=True)
class _Documents:
    """Result of a fetch.

    Attributes:
        keys: usable keys for signatures.
        fetched: time of the fetch, in seconds of the clock of `Provider`.
    """

    metadata: Metadata
    keys: tuple[Key, ...]
    fetched: float


class ProviderDocumentError(Exception):
    """A document of the provider can't be used. The message names the reason."""


class Provider:
    """Discovery document and keys of one issuer. For one event loop.

    Args:
        issuer: URL of the issuer, spelled as in its tokens.
        clock: monotonic seconds.
    """

    def __init__(self, issuer: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.issuer = issuer
        self._clock = clock
        self._documents: _Documents | None = None
        self._fetching: asyncio.Task[None] | None = None
        self._failed = False
        self._next = clock()
        """Time before which no fetch begins."""
        # Made once: reading the machine's authorities would block the event loop for too long in a request.
        self._tls = httpx2.create_ssl_context()

    def client_options(self) -> dict[str, Any]:
        """Options of all HTTP clients that send requests to the provider."""
        return {"verify": self._tls, "timeout": _FETCH_SECONDS, "follow_redirects": False}

    async def metadata(self) -> Metadata:
        """Return the discovery document.

        Raises:
            ProviderUnavailableError: the document isn't known, and can't be fetched now.
        """
        return (await self._current()).metadata

    async def key(self, kid: str | None, algorithm: str) -> Key | None:
        """Return the key of a signature; None if the provider has no such key.

        Args:
            kid: id of the key; None: the only key for this algorithm.
            algorithm: one of `lists.ALGORITHMS`.

        Raises:
            ProviderUnavailableError: the keys, or this key, aren't known, and can't be fetched now.
        """
        documents = await self._current()
        found = _select(documents.keys, kid, algorithm)
        if found is None and self._may_fetch():
            await self._fetch()
            documents = await self._current()
            found = _select(documents.keys, kid, algorithm)
        if found is None and self._failed:
            raise ProviderUnavailableError
        return found

    async def _current(self) -> _Documents:
        """Return documents that aren't too old.

        Raises:
            ProviderUnavailableError: there are none, and none can be fetched now.
        """
        if not (found := self._kept()) and self._may_fetch():
            await self._fetch()
            found = self._kept()
        if found is None:
            raise ProviderUnavailableError
        if self._clock() - found.fetched >= FRESH_SECONDS and self._may_fetch():
            self._begin()
        return found

    def _kept(self) -> _Documents | None:
        found = self._documents
        return found if found is not None and self._clock() - found.fetched < KEPT_SECONDS else None

    def _may_fetch(self) -> bool:
        return self._fetching is not None or self._clock() >= self._next

    def _begin(self) -> asyncio.Task[None]:
        if self._fetching is None:
            self._fetching = asyncio.get_running_loop().create_task(self._fetch_documents())
        return self._fetching

    async def _fetch(self) -> None:
        # Shielded: if one client disconnects, other requests still wait for the same fetch.
        await asyncio.shield(self._begin())

    async def _fetch_documents(self) -> None:
        """Fetch both documents. After a failure, which is logged, the previous documents are kept."""
        try:
            self._documents = await self._fetched()
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, TimeoutError, ProviderDocumentError) as error:
            self._next = self._clock() + RETRY_SECONDS
            if not self._failed:
                log.warning(
                    "The OIDC provider %s can't be reached: %s. Its last keys stay in use for up to %d s; it is "
                    "asked again every %d s.",
                    self.issuer,
                    str(error) or type(error).__name__,
                    KEPT_SECONDS,
                    RETRY_SECONDS,
                )
            self._failed = True
        else:
            self._next = self._clock() + PAUSE_SECONDS
            self._failed = False
        finally:
            self._fetching = None

    async def _fetched(self) -> _Documents:
        """Fetch and return both documents.

        Raises:
            ProviderDocumentError: a document can't be used.
            HTTPError, InvalidURL, OSError, TimeoutError: a document can't be fetched.
        """
        began = self._clock()
        url = f"{self.issuer.rstrip('/')}/.well-known/openid-configuration"
        async with asyncio.timeout(_FETCH_SECONDS), httpx2.AsyncClient(**self.client_options()) as client:
            metadata = _metadata_in(await _body(client, url), self.issuer)
            keys = _keys_in(await _body(client, metadata.jwks_uri))
        return _Documents(metadata, keys, began)


def is_safe_url(url: str) -> bool:
    """Return True for an absolute URL without credentials: HTTPS, or HTTP on a loopback address."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return False
    if parts.username is not None or parts.fragment or not host:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and host in {"localhost", "127.0.0.1", "::1"})


async def _body(client: httpx2.AsyncClient, url: str) -> bytes:
    """Fetch the body of a document.

    Raises:
        ProviderDocumentError: the answer isn't 200, or is too large.
        HTTPError, InvalidURL, OSError: there is no answer.
    """
    async with client.stream("GET", url, headers={"Accept": "application/json"}) as answer:
        if answer.status_code != httpx2.codes.OK:
            raise ProviderDocumentError(f"{url} answers {answer.status_code}")
        body = bytearray()
        async for part in answer.aiter_bytes():
            body += part
            if len(body) > _LARGEST_BYTES:
                raise ProviderDocumentError(f"{url} has more than {_LARGEST_BYTES} bytes")
        return bytes(body)


def _metadata_in(body: bytes, issuer: str) -> Metadata:
    """Parse the discovery document of the issuer.

    Raises:
        ProviderDocumentError: the document is another issuer's, or can't be used.
    """
    try:
        found = msgspec.json.decode(body, type=Metadata)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ProviderDocumentError(f"the discovery document is broken: {error}") from error
    if found.issuer != issuer:
        raise ProviderDocumentError(
            "the discovery document names another issuer; HEADWATER_SERVE_OIDC_ISSUER has to "
            "be exactly the same, also its last slash"
        )
    for url in (found.jwks_uri, found.authorization_endpoint, found.token_endpoint, found.end_session_endpoint):
        if url is not None and not is_safe_url(url):
            raise ProviderDocumentError("the discovery document has a URL that isn't HTTPS")
    return found


class _KeySet(msgspec.Struct, frozen=True):
    keys: list[dict[str, Any]]


def _keys_in(body: bytes) -> tuple[Key, ...]:
    """Return the keys of a set that can verify signatures. Symmetric, small, unknown and encryption keys are left out.

    Raises:
        ProviderDocumentError: the body isn't a set of keys.
    """
    try:
        documents = msgspec.json.decode(body, type=_KeySet).keys
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ProviderDocumentError(f"the keys are broken: {error}") from error
    return tuple(key for each in documents[:_MOST_KEYS] if (key := _key_in(each)) is not None)


def _key_in(document: dict[str, Any]) -> Key | None:
    public = {name: value for name, value in document.items() if name in _PUBLIC}
    operations = public.get("key_ops", ["verify"])
    if public.get("use", "sig") != "sig" or not isinstance(operations, list) or "verify" not in operations:
        return None
    try:
        match public.get("kty"):
            case "RSA":
                # Checked before the key is made: joserfc warns about small keys.
                size = int.from_bytes(urlsafe_b64decode(public["n"].encode())).bit_length()
                return RSAKey.import_key(public) if size >= _LEAST_RSA_BITS else None
            case "EC":
                return ECKey.import_key(public)
            case "OKP":
                return OKPKey.import_key(public) if public.get("crv") == "Ed25519" else None
    except (JoseError, ValueError, TypeError, KeyError, OverflowError):
        pass
    return None


def _select(keys: tuple[Key, ...], kid: str | None, algorithm: str) -> Key | None:
    found = [key for key in keys if (kid is None or key.kid == kid) and _fits(key, algorithm)]
    return found[0] if found and (kid is not None or len(found) == 1) else None


def _fits(key: Key, algorithm: str) -> bool:
    try:
        JWSRegistry.algorithms[algorithm].check_key(key)
    except JoseError:
        return False
    return True
