"""RegistryClient: the requests to a Confluent-compatible schema registry that events need.

https://docs.confluent.io/platform/current/schema-registry/develop/api.html
"""

from __future__ import annotations

import base64
import http.client
import json
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from headwater_schemas.avro_schema import AvroSchema
from headwater_schemas.errors import CredentialsRefusedError, RegistryRefusedError, SchemasUnavailableError
from headwater_schemas.kafka.settings import Address

ASK_AGAIN_SECONDS = 60.0
_MEDIA_TYPE = "application/vnd.schemaregistry.v1+json"
_MAX_ABSENT = 10_000


class RegistrySettings(BaseModel):
    """A schema registry and its credentials.

    Attributes:
        url: `http(s)://host:port` of a Confluent-compatible registry; None: there is no registry.
        username, password: credentials for basic authentication, if the registry requires it.
        timeout_seconds: time limit of each request.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    url: Address | None = Field(default=None, pattern=r"^https?://")
    username: str | None = None
    password: SecretStr | None = None
    timeout_seconds: float = Field(default=10.0, gt=0)


class RegistryClient:
    """Client that looks up schemas in a registry, and registers Headwater's schemas. Safe to use from many threads.

    Args:
        clock: monotonic seconds.

    Raises:
        ValueError: `settings` names no registry.
    """

    def __init__(self, settings: RegistrySettings, *, clock: Callable[[], float] = time.monotonic) -> None:
        if settings.url is None:
            raise ValueError("no schema registry is configured: HEADWATER_REGISTRY_URL isn't set")
        self._settings = settings
        self._url = settings.url.rstrip("/")
        self._clock = clock
        self._schemas: dict[int, AvroSchema] = {}
        self._absent: dict[int, float] = {}
        self._lock = threading.Lock()

    def schema(self, schema_id: int) -> AvroSchema | None:
        """Return the Avro schema with this id; None if it certainly doesn't exist.

        Raises:
            SchemasUnavailableError: the registry doesn't answer now.
            CredentialsRefusedError: the registry refuses the credentials.
        """
        with self._lock:
            if (schema := self._schemas.get(schema_id)) is not None:
                return schema
            asked = self._absent.get(schema_id)
            if asked is not None and self._clock() - asked < ASK_AGAIN_SECONDS:
                return None
            found = self._ask(schema_id)
            if found is not None:
                self._schemas[schema_id] = found
            else:
                if len(self._absent) >= _MAX_ABSENT:
                    self._absent.clear()
                self._absent[schema_id] = self._clock()
            return found

    def register(self, subject: str, schema: AvroSchema) -> int:
        """Register a schema, unless it is registered already, and return its id.

        Raises:
            SchemasUnavailableError: the registry doesn't answer now.
            RegistryRefusedError: the registry refuses the schema.
            CredentialsRefusedError: the registry refuses the credentials.
        """
        path = f"/subjects/{urllib.parse.quote(subject, safe='')}/versions"
        status, answer = self._request(path, {"schema": schema.text})
        if status != http.client.OK or not isinstance(answer.get("id"), int):
            raise RegistryRefusedError(
                f"the schema registry at {self._where} answers {status} to the schema for {subject}: "
                f"{answer.get('message', 'no reason')}",
                setting="HEADWATER_REGISTRY_URL",
            )
        schema_id: int = answer["id"]
        return schema_id

    def _ask(self, schema_id: int) -> AvroSchema | None:
        status, answer = self._request(f"/schemas/ids/{schema_id}")
        if status != http.client.OK or answer.get("schemaType", "AVRO") != "AVRO":
            return None
        try:
            return AvroSchema.published(str(answer.get("schema")))
        except ValueError:
            return None

    def _request(self, path: str, body: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        """Return status and JSON object of an answer with status 200 or 4xx."""
        url = self._url + path
        headers = {"Accept": _MEDIA_TYPE, "Content-Type": _MEDIA_TYPE}
        if self._settings.username is not None:
            password = self._settings.password.get_secret_value() if self._settings.password else ""
            token = base64.b64encode(f"{self._settings.username}:{password}".encode()).decode()
            headers["Authorization"] = f"Basic {token}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(url, data=data, headers=headers)  # noqa: S310 - http(s) by the settings' pattern
        try:
            with urllib.request.urlopen(request, timeout=self._settings.timeout_seconds) as response:  # noqa: S310
                return response.status, _object(response.read())
        except urllib.error.HTTPError as error:
            with error:
                status, content = error.code, error.read()
        except (OSError, http.client.HTTPException) as error:
            raise SchemasUnavailableError(f"the schema registry at {self._where} doesn't answer: {error}") from error
        if status in {http.client.UNAUTHORIZED, http.client.FORBIDDEN}:
            raise CredentialsRefusedError(
                f"the schema registry at {self._where} refuses the credentials ({status})",
                setting="HEADWATER_REGISTRY_USERNAME, HEADWATER_REGISTRY_PASSWORD",
            )
        if status >= http.client.INTERNAL_SERVER_ERROR or status == http.client.TOO_MANY_REQUESTS:
            raise SchemasUnavailableError(f"the schema registry at {self._where} answers {status}")
        return status, _object(content)

    @property
    def _where(self) -> str:
        parts = urllib.parse.urlsplit(self._url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def _object(content: bytes) -> dict[str, Any]:
    """Parse a JSON object; empty if a proxy answered something else."""
    try:
        answer = json.loads(content)
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}
