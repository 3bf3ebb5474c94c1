"""Collector at a URL with OpenLineage's HTTP API: one POST per document, on a kept-alive connection.

| answer                              | means                                                          |
|-------------------------------------|----------------------------------------------------------------|
| 2xx                                 | accepted                                                       |
| 408, 425, 429, 5xx, none            | unavailable: try again, after `Retry-After` if given           |
| 3xx, 401, 403, 404, 405, 407        | a setting is wrong; the document isn't at fault                |
| 415 to a compressed document        | a setting is wrong: the collector doesn't accept gzip          |
| any other 4xx                       | this document is refused for good                              |

A redirect isn't followed, because it could send the token to another server.
"""

from __future__ import annotations

import contextlib
import email.utils
import gzip
import http.client
import ssl
from collections.abc import Callable
from datetime import UTC, datetime
from urllib.parse import urlsplit

from headwater_consumers.forward.collectors import (
    CollectorUnavailableError,
    CollectorUnusableError,
    DocumentRefusedError,
    OutgoingDocument,
)
from headwater_consumers.forward.settings import Compression, ForwardSettings

ENDPOINT = "/api/v1/lineage"
"""Path to which OpenLineage's clients post, unless the URL has a path."""

_LATER = frozenset({408, 425, 429})
_OF_SETTINGS = {
    401: "HEADWATER_FORWARD_TOKEN",
    403: "HEADWATER_FORWARD_TOKEN",
    404: "--to",
    405: "--to",
    407: "--to",
}
"""For each HTTP status that isn't the document's fault: the setting to check."""
_OF_GZIP = {415: "HEADWATER_FORWARD_COMPRESSION"}
_ANSWER_BYTES = 2_000
_MOST_DISCARDED_BYTES = 1_048_576
# Level of gzip: a higher one would make a document a few percent smaller, and take three times as long.
_LEVEL = 6


class HttpCollector:
    """Collector that posts documents over HTTP. Connects with the first document.

    Args:
        url: `http://…` or `https://…`, without user and password.

    Raises:
        CollectorUnusableError: the URL is invalid, or a certificate can't be read.
    """

    def __init__(self, url: str, settings: ForwardSettings) -> None:
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username or parts.password:
            raise CollectorUnusableError(
                "A collector's URL is http://host:port or https://host:port, without user and password", setting="--to"
            )
        try:
            self._port = parts.port
        except ValueError as error:
            raise CollectorUnusableError(f"The collector's URL has no valid port: {error}", setting="--to") from error
        self._host = parts.hostname
        self._path = (parts.path if parts.path not in {"", "/"} else ENDPOINT) + (f"?{parts.query}" * bool(parts.query))
        self._settings = settings
        self._gzip = settings.compression is Compression.GZIP
        self._of_settings = {**_OF_SETTINGS, **(_OF_GZIP if self._gzip else {})}
        self._where = f"{parts.scheme}://{parts.hostname}" + (f":{parts.port}" if parts.port else "")
        self._tls = _tls(settings) if parts.scheme == "https" else None
        if self._tls is None and settings.certificate_location is not None:
            raise CollectorUnusableError("A client certificate needs an https URL", setting="--to")
        self._connection: http.client.HTTPConnection | None = None
        self._headers: dict[str, str] = {}

    def deliver(self, document: OutgoingDocument, refused: Callable[[DocumentRefusedError], None]) -> None:
        """Post a document, and wait for the answer.

        Raises:
            CollectorUnavailableError: the collector is unavailable; try again.
            CollectorUnusableError: the collector accepts no documents with these settings.
        """
        data = gzip.compress(document.data, _LEVEL, mtime=0) if self._gzip else document.data
        status, answer, after = self._post(data)
        if 200 <= status < 300:
            return
        if status in _LATER or status >= 500:
            raise CollectorUnavailableError(
                f"The collector at {self._where} answered {status}", after_seconds=_seconds(after)
            )
        if status < 400 or status in self._of_settings:
            raise CollectorUnusableError(
                f"The collector at {self._where} answered {status} to POST {self._path.partition('?')[0]}",
                setting=self._of_settings.get(status, "--to"),
            )
        refused(DocumentRefusedError(str(status), answer))

    def flush(self) -> None:
        """Do nothing: every document was answered already."""

    def close(self) -> None:
        """Close the connection."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _post(self, data: bytes) -> tuple[int, str, str | None]:
        # If the collector has closed a kept connection, the next request fails and is tried once more.
        for is_reused in (self._connection is not None, False):
            try:
                return self._posted(data)
            except (OSError, http.client.HTTPException) as error:
                self.close()
                if not is_reused:
                    raise self._unavailable(error) from error
        raise AssertionError("the last attempt returns or raises")

    def _posted(self, data: bytes) -> tuple[int, str, str | None]:
        connection = self._connection or self._connect()
        connection.request("POST", self._path, data, self._headers)
        response = connection.getresponse()
        answer = response.read(_ANSWER_BYTES)
        rest = response.read(_MOST_DISCARDED_BYTES)
        if len(rest) == _MOST_DISCARDED_BYTES or response.will_close:
            self.close()
        return response.status, answer.decode("utf-8", "replace"), response.getheader("Retry-After")

    def _connect(self) -> http.client.HTTPConnection:
        seconds = self._settings.timeout_seconds
        if self._tls is None:
            self._connection = http.client.HTTPConnection(self._host, self._port, timeout=seconds)
        else:
            self._connection = http.client.HTTPSConnection(self._host, self._port, timeout=seconds, context=self._tls)
        self._headers = {"Content-Type": "application/json", "User-Agent": "headwater-forward", **self._authorization()}
        if self._gzip:
            self._headers["Content-Encoding"] = "gzip"
        return self._connection

    def _authorization(self) -> dict[str, str]:
        token = self._settings.token.get_secret_value()
        if (file := self._settings.token_file) is not None:
            try:
                token = file.read_text(encoding="utf-8").strip()
            except (OSError, UnicodeDecodeError) as error:
                raise CollectorUnusableError(
                    f"The token's file {file} can't be read", setting="HEADWATER_FORWARD_TOKEN_FILE"
                ) from error
        if not token:
            return {}
        if not token.isascii() or not token.isprintable() or " " in token:
            raise CollectorUnusableError(
                "A bearer token consists of printable ASCII characters without spaces",
                setting="HEADWATER_FORWARD_TOKEN",
            )
        return {"Authorization": f"Bearer {token}"}

    def _unavailable(self, error: OSError | http.client.HTTPException) -> Exception:
        if isinstance(error, ssl.SSLCertVerificationError):
            return CollectorUnusableError(
                f"The certificate of {self._where} isn't trusted: {error.verify_message}",
                setting="HEADWATER_FORWARD_CA_LOCATION",
            )
        what = getattr(error, "strerror", None) or str(error) or type(error).__name__
        return CollectorUnavailableError(f"The collector at {self._where} doesn't answer: {what}")


def _tls(settings: ForwardSettings) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=settings.ca_location)
    except (OSError, ssl.SSLError) as error:
        raise CollectorUnusableError(
            f"Certificate authorities can't be read: {error}", setting="HEADWATER_FORWARD_CA_LOCATION"
        ) from error
    if settings.certificate_location is not None:
        try:
            context.load_cert_chain(
                settings.certificate_location,
                settings.key_location,
                settings.key_password.get_secret_value,
            )
        except (OSError, ssl.SSLError) as error:
            raise CollectorUnusableError(
                f"The client's certificate or key can't be read: {error}",
                setting="HEADWATER_FORWARD_CERTIFICATE_LOCATION",
            ) from error
    return context


def _seconds(after: str | None) -> float | None:
    """Parse `Retry-After`, a number of seconds or a date; None if it is missing or invalid."""
    if after is None:
        return None
    if after.strip().isdecimal():
        return float(after.strip()[:9])
    with contextlib.suppress(ValueError, TypeError, OverflowError):
        at = email.utils.parsedate_to_datetime(after)
        return max(0.0, (at.replace(tzinfo=at.tzinfo or UTC) - datetime.now(UTC)).total_seconds())
    return None
