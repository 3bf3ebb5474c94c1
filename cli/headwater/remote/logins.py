"""File of log-ins: the servers of `headwater login` with their credentials, readable only by its owner.

{"current": "https://lineage.example.org", "servers": {"https://lineage.example.org": {"token": "hw_…"}}}
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Final

import typer
from pydantic import BaseModel, ConfigDict, SecretStr, ValidationError, field_serializer

from headwater.errors import InputError
from headwater.stack.paths import private_folder

_FILE: Final = "logins.json"


class SavedLogin(BaseModel):
    """Credential for a server; `token` None: the server is asked without a token."""

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    token: SecretStr | None = None

    @field_serializer("token", when_used="json")
    def _in_clear(self, token: SecretStr | None) -> str | None:
        return None if token is None else token.get_secret_value()


class Logins(BaseModel):
    """Content of the file: address of the current server, and credentials by address."""

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True)

    current: str | None = None
    servers: dict[str, SavedLogin] = {}


def path() -> Path:
    """Path of the file, in the user's folder of settings; it may not exist."""
    return Path(typer.get_app_dir("headwater")) / _FILE


def read() -> Logins:
    """Read the file; without a file there are no log-ins.

    Raises:
        InputError: the file can't be read, or isn't a file of log-ins.
    """
    file = path()
    try:
        return Logins.model_validate_json(file.read_bytes())
    except FileNotFoundError:
        return Logins()
    except OSError as error:
        raise InputError(f"{file} can't be read: {error.strerror}.") from error
    except ValidationError as error:
        raise InputError(f"{file} isn't a file of log-ins.", fix="Delete it, and log in again.") from error


def write(logins: Logins) -> None:
    """Replace the file atomically.

    Raises:
        InputError: the file can't be written.
    """
    file = path()
    try:
        private_folder(file.parent)
        with tempfile.NamedTemporaryFile("w", dir=file.parent, delete=False, encoding="utf-8") as draft:
            draft.write(logins.model_dump_json(indent=2))
        Path(draft.name).replace(file)
    except OSError as error:
        raise InputError(f"{file} can't be written: {error.strerror}.") from error


def current() -> str | None:
    """Address of the server of the last log-in; None if there is no log-in."""
    return read().current


def token_of(url: str) -> SecretStr | None:
    """Token for a server; None if the file has none."""
    login = read().servers.get(url)
    return None if login is None else login.token
