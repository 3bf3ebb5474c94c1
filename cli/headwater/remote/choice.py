"""Choice of the destination of questions: a server, or the graph's database.

The first existing one of these is used:

1. the server of HEADWATER_URL, with HEADWATER_TOKEN or its token from `headwater login`;
2. the database of a setting, from HEADWATER_NEO4J_URI or a file;
3. the server of the last `headwater login`;
4. the running stack's database.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from pydantic import SecretStr

from headwater.errors import InputError
from headwater.remote import logins
from headwater.settings import load_settings
from headwater_schemas.visible import visible

URL: Final = "HEADWATER_URL"
TOKEN: Final = "HEADWATER_TOKEN"  # noqa: S105  the variable's name
_LONGEST_TOKEN: Final = 16_384
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class Chosen:
    """A server.

    Attributes:
        url: address of the server, without a slash at the end.
        token: credential; None: no credential is sent.
        origin: source of the address, for people.
    """

    url: str
    token: SecretStr | None
    origin: str

    def mend(self) -> str:
        """Advice for a credential that isn't valid."""
        if os.environ.get(TOKEN):
            return f"Check {TOKEN}."
        return f"Log in: `headwater login {self.url}`."


def chosen_server(tenant: str | None = None) -> Chosen | None:
    """Return the server that questions go to; None if questions go to the database.

    Raises:
        InputError: the address can't be used, a variable is given without the other, the file of log-ins is broken, or
            a tenant is given for a server.
    """
    chosen = _chosen()
    if chosen is not None and tenant is not None:
        raise InputError("--tenant works only with a database; a server answers for the tenant of the credential.")
    return chosen


def _chosen() -> Chosen | None:
    given, token = os.environ.get(URL), os.environ.get(TOKEN)
    if given:
        url = server_url(given, URL)
        return Chosen(url, token_given(token, TOKEN) if token else logins.token_of(url), URL)
    if token:
        raise InputError(f"{TOKEN} is set without {URL}.", fix=f"Set {URL}=https://lineage.example.org, too.")
    last = logins.current()
    if last is None or load_settings().neo4j.uri is not None:
        return None
    return Chosen(last, logins.token_of(last), "headwater login")


def token_given(text: str, origin: str) -> SecretStr:
    """Return a token without surrounding white space.

    Raises:
        InputError: the text isn't a token. The message doesn't contain the text.
    """
    token = text.strip()
    if not token or len(token) > _LONGEST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        raise InputError(f"{origin} is no token: a token is one line of ASCII without spaces.")
    return SecretStr(token)


def server_url(text: str, origin: str) -> str:
    """Return the address of a server without a slash at the end.

    Raises:
        InputError: the text isn't an address of a server, or a credential would be sent to it in clear text.
    """
    fix = "Write it like https://lineage.example.org."
    wrong = InputError(f"{origin}: {visible(text[:200])!r} is no address of a server.", fix=fix)
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise wrong from None
    if parts.scheme not in ("http", "https") or not host:
        raise wrong
    if parts.username is not None or "?" in text or "#" in text:
        raise InputError(f"{origin}: an address has no user, question mark or #.", fix=fix)
    if parts.scheme == "http" and host not in _LOOPBACK:
        raise InputError(
            f"{origin}: http://{visible(host)} would get the credential in clear.",
            fix="Use https, or a tunnel to this machine.",
        )
    return text.rstrip("/")
