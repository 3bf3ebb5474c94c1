"""Client of the gate of `headwater serve`: looks up the open incidents whose bad data is in a dataset.

    GET {gate_url}/api/v1/gate?dataset=s3://lake/orders&partition=day=2026-11-27&max_severity=SEV2

| answer                                | means                                                       |
|---------------------------------------|-------------------------------------------------------------|
| 200                                   | the open incidents that hold the dataset; none: it is free  |
| 404 with the type of an unknown name  | the graph has no such dataset                               |
| any other answer, or none in time     | unknown: `GateUnavailableError`                             |

A redirect isn't followed and no proxy is used: each would carry the token elsewhere.
"""

from __future__ import annotations

import http.client
import ssl
from typing import Final
from urllib.parse import urlencode, urlsplit

import msgspec

from headwater_producers.spark.common.errors import CaptureSettingsError
from headwater_producers.spark.common.settings import CaptureSettings
from headwater_producers.spark.common.within import within
from headwater_schemas.events import DatasetRef

_PATH: Final = "/api/v1/gate"
_UNKNOWN_NAME: Final = "urn:headwater:not-found"
_MAX_ANSWER_BYTES: Final = 1024 * 1024


class GateUnavailableError(Exception):
    """Unusable or missing answer of the gate. The text has the reason and no secret.

    Attributes:
        is_silent: True if the server gave no answer at all.
    """

    def __init__(self, reason: str, *, is_silent: bool = False) -> None:
        super().__init__(reason)
        self.is_silent = is_silent


class GateHold(msgspec.Struct, frozen=True):
    """Open incident that covers a dataset, or possibly covers it.

    Attributes:
        title, severity: title and severity of the incident; None if not stated.
        certainty: EXACT, INFERRED, UPPER_BOUND; UNKNOWN: bad data may be there.
    """

    incident: str
    title: str | None = None
    severity: str | None = None
    certainty: str = "UNKNOWN"


class GateReply(msgspec.Struct, frozen=True):
    """Part of the gate's answer that decides on a write.

    Attributes:
        is_free: True if all open incidents were checked, and none covers the dataset.
        holds: incidents that cover the dataset, the latest opened first.
    """

    is_free: bool
    holds: tuple[GateHold, ...] = ()


class _Problem(msgspec.Struct, frozen=True):
    """Type of a problem document."""

    type: str = ""


class GateClient:
    """Client of one server's gate, with a new connection for each question. Safe to use from many threads.

    Raises:
        CaptureSettingsError: `gate_url` is missing or no URL, or `gate_ca_location` can't be read.
    """

    def __init__(self, settings: CaptureSettings) -> None:
        try:
            parts = urlsplit(settings.require_gate_url())
            self._host, self._port = parts.hostname or "", parts.port
        except ValueError as error:
            raise CaptureSettingsError(f"gate_url isn't a URL http(s)://host:port: {error}") from None
        if not self._host or parts.query or parts.fragment:
            raise CaptureSettingsError("gate_url isn't a URL http(s)://host:port")
        self._path = parts.path.rstrip("/") + _PATH
        self._tls = _tls(settings) if parts.scheme == "https" else None
        self._settings = settings
        self.where = f"{parts.scheme}://{parts.netloc}"

    def ask(self, dataset: DatasetRef, partition: str | None, seconds: float) -> GateReply | None:
        """Return the gate's answer about a dataset or one of its partitions; None: the graph has no such dataset.

        Args:
            partition: `key=value/…`; None: the whole dataset.
            seconds: longest time to wait for the whole answer.

        Raises:
            GateUnavailableError: the answer is missing or unusable.
        """
        # Namespace and name with a slash between, a form that the server can split.
        query = {"dataset": f"{dataset.namespace}/{dataset.name}", "partition": partition}
        query["max_severity"] = self._settings.gate_max_severity
        target = f"{self._path}?{urlencode({name: value for name, value in query.items() if value is not None})}"
        headers = {"Accept": "application/json", "User-Agent": "headwater-capture", **self._authorization()}
        try:
            status, answer = within(seconds, lambda: self._request(target, headers, seconds), "headwater-gate")
        except TimeoutError:
            raise GateUnavailableError("no answer within gate_timeout_seconds", is_silent=True) from None
        except ssl.SSLCertVerificationError as error:
            raise GateUnavailableError(
                f"its certificate isn't trusted: {error.verify_message}", is_silent=True
            ) from None
        except (OSError, http.client.HTTPException) as error:
            what = getattr(error, "strerror", None) or type(error).__name__
            raise GateUnavailableError(f"no answer: {what}", is_silent=True) from None
        return _reply(status, answer)

    def _request(self, target: str, headers: dict[str, str], seconds: float) -> tuple[int, bytes]:
        connection = (
            http.client.HTTPConnection(self._host, self._port, timeout=seconds)
            if self._tls is None
            else http.client.HTTPSConnection(self._host, self._port, timeout=seconds, context=self._tls)
        )
        try:
            connection.request("GET", target, headers=headers)
            response = connection.getresponse()
            return response.status, response.read(_MAX_ANSWER_BYTES + 1)
        finally:
            connection.close()

    def _authorization(self) -> dict[str, str]:
        token = self._settings.gate_token.get_secret_value() if self._settings.gate_token is not None else ""
        if (file := self._settings.gate_token_file) is not None:
            try:
                token = file.read_text(encoding="utf-8").strip()
            except (OSError, UnicodeDecodeError):
                raise GateUnavailableError("gate_token_file can't be read") from None
        if not token:
            return {}
        if not token.isascii() or not token.isprintable() or " " in token:
            raise GateUnavailableError("gate_token has spaces, or characters that aren't printable ASCII")
        return {"Authorization": f"Bearer {token}"}


def _reply(status: int, answer: bytes) -> GateReply | None:
    if len(answer) > _MAX_ANSWER_BYTES:
        raise GateUnavailableError(f"its answer is larger than {_MAX_ANSWER_BYTES} bytes")
    if status in {http.client.UNAUTHORIZED, http.client.FORBIDDEN}:
        raise GateUnavailableError(f"it refuses gate_token ({status})")
    try:
        if status == http.client.NOT_FOUND and msgspec.json.decode(answer, type=_Problem).type == _UNKNOWN_NAME:
            return None
        if status == http.client.OK:
            reply = msgspec.json.decode(answer, type=GateReply)
            if not reply.is_free and not reply.holds:
                raise GateUnavailableError("more incidents are open than the gate looks at")
            return reply
    except (msgspec.DecodeError, UnicodeDecodeError):
        # A page of a proxy, or of another server.
        raise GateUnavailableError(f"its answer ({status}) isn't a gate's") from None
    raise GateUnavailableError(f"it answers {status}")


def _tls(settings: CaptureSettings) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=settings.gate_ca_location)
    except (OSError, ssl.SSLError):
        raise CaptureSettingsError("gate_ca_location isn't a readable PEM file of certificate authorities") from None
