"""`headwater login` and `headwater logout`: the server that questions go to."""

from __future__ import annotations

import contextlib
import sys
from dataclasses import dataclass
from typing import Annotated

import typer
from pydantic import SecretStr

from headwater.console import JsonOption, console, shortened
from headwater.errors import InputError, SubjectNotFoundError
from headwater.remote import logins
from headwater.remote.choice import URL, Chosen, chosen_server, server_url, token_given
from headwater.remote.server import RemoteIdentity, Server, UnauthenticatedError

_MOST_READ = 65_536
_ORIGIN = "URL"


@dataclass(frozen=True, slots=True)
class LoggedIn:
    """Document of `--json`."""

    url: str
    me: RemoteIdentity


def login(
    url: Annotated[
        str, typer.Argument(metavar="URL", help="Address of a `headwater serve`: https://lineage.example.org.")
    ],
    *,
    with_token: Annotated[
        bool, typer.Option("--with-token", help="Read the token from stdin, instead of asking for it.")
    ] = False,
    json_output: JsonOption = False,
) -> None:
    """Log in to a server: from then on questions go there, without a password or address of the database.

    The command asks for an API token (`headwater token create`) or an access token of the server's provider, unless the
    server answers everybody. The token is kept in a file that only you can read.

    headwater login https://lineage.example.org

    headwater login https://lineage.example.org --with-token < token
    """
    address = server_url(url, _ORIGIN)
    token = _from_stdin() if with_token else _token_for(address)
    found = _me(Chosen(address, token, _ORIGIN))
    kept = logins.read()
    servers = {**kept.servers, address: logins.SavedLogin(token=token)}
    logins.write(kept.model_copy(update={"current": address, "servers": servers}))
    who = f"as {shortened(found.subject)}" if found.subject else "without a name"
    filtered = ", and answers leave out what you may not see" if found.filtered else ""
    console.result(
        LoggedIn(address, found), f"Logged in to {address}, {who}, tenant {shortened(found.tenant)}{filtered}."
    )
    asked = chosen_server()
    if asked is None:
        console.warning("Questions still go to the database that HEADWATER_NEO4J_URI or the settings file names.")
    elif asked.url != address:
        console.warning(f"Questions still go to {asked.url}, by {URL}.")
    else:
        console.message("Questions now go to this server. `headwater logout` ends this.")


def logout(
    url: Annotated[
        str | None, typer.Argument(metavar="[URL]", help="Address of the server. Default: the current one.")
    ] = None,
    *,
    json_output: JsonOption = False,
) -> None:
    """Forget the credential for a server, and stop asking the server. The token stays valid until it is revoked."""
    kept = logins.read()
    address = kept.current if url is None else server_url(url, _ORIGIN)
    if address is None:
        raise SubjectNotFoundError("There is no log-in.")
    if address not in kept.servers:
        raise SubjectNotFoundError(f"There is no log-in to {address}.", nearest=tuple(kept.servers))
    servers = {each: login for each, login in kept.servers.items() if each != address}
    current = None if kept.current == address else kept.current
    logins.write(kept.model_copy(update={"current": current, "servers": servers}))
    console.result({"url": address}, f"Logged out of {address}.")


def _me(chosen: Chosen) -> RemoteIdentity:
    with contextlib.closing(Server(chosen)) as server:
        return server.me()


def _token_for(address: str) -> SecretStr | None:
    """Ask for the token on the terminal; None if the server answers without a token."""
    try:
        _me(Chosen(address, None, _ORIGIN))
    except UnauthenticatedError:
        return _typed_token(address)
    return None


def _typed_token(address: str) -> SecretStr:
    if not sys.stdin.isatty():
        raise InputError(f"{address} asks for a token.", fix="Give it on stdin: `headwater login URL --with-token`.")
    return token_given(typer.prompt("Token", hide_input=True, err=True), "The typed text")


def _from_stdin() -> SecretStr:
    return token_given(sys.stdin.read(_MOST_READ), "Stdin")
