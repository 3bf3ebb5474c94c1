"""`headwater token`: API tokens of `headwater serve`."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from headwater.console import JsonOption, console, plain_table, shortened
from headwater.errors import ConfigurationError, InputError, NotConfiguredError, SubjectNotFoundError
from headwater.settings import load_settings
from headwater.times import from_iso, span
from headwater_server.identity.identity import Scope
from headwater_server.identity.tokens import (
    ApiToken,
    TokenNameError,
    TokensFileError,
    create_token,
    list_tokens,
    revoke_token,
)

app = typer.Typer(
    help="API tokens of `headwater serve`: create, list and revoke them, without a restart.", no_args_is_help=True
)

_LIFETIME = re.compile(r"(\d{1,5})\s*([hdw])", re.IGNORECASE)
_NEVER = "never"

NameArgument = Annotated[str, typer.Argument(help="Name of the token.")]


@app.command("create")
def create(
    name: NameArgument,
    scope: Annotated[
        list[Scope] | None, typer.Option(help="Action that the token allows; repeatable. Default: read.")
    ] = None,
    expires: Annotated[
        str, typer.Option(metavar="TIME", help="End of validity: 12h, 90d, 52w from now, ISO 8601, or never.")
    ] = "90d",
    tenant: Annotated[str | None, typer.Option(help="Tenant of the token. Default: the server's.")] = None,
    group: Annotated[list[str] | None, typer.Option(help="Group of the token's holder; repeatable.")] = None,
    json_output: JsonOption = False,
) -> None:
    """Create a token and print its secret, which is shown this once and stored nowhere.

    The file of HEADWATER_SERVE_TOKENS_FILE gets the name and a hash. A server that uses the file accepts the token at
    once. A name can't be used again, not even after a revocation, because the audit refers to it.
    """
    now = datetime.now(UTC)
    end = _end(expires, now)
    with _reported():
        token, secret = create_token(
            _file(), name, scope or [Scope.READ], now=now, expires=end, tenant=tenant, groups=group or []
        )
    console.result({"secret": secret, **_document(token, now)}, Text(secret))
    lasts = "doesn't expire" if end is None else f"expires {_shown(end)}"
    console.message(f"Token {token.name} allows {', '.join(token.scopes)} and {lasts}. This secret isn't shown again.")


@app.command("list")
def list_(json_output: JsonOption = False) -> None:
    """List the tokens: names, scopes, tenant, groups and times, but neither secrets nor hashes."""
    now = datetime.now(UTC)
    with _reported():
        tokens = list_tokens(_file())
    console.result([_document(token, now) for token in tokens], _table(tokens, now) if tokens else "No tokens.")


@app.command("revoke")
def revoke(name: NameArgument, json_output: JsonOption = False) -> None:
    """Revoke a token. A server that uses the file refuses the token at once."""
    now = datetime.now(UTC)
    with _reported():
        token = revoke_token(_file(), name, now=now)
    console.result(_document(token, now), f"{token.name} is revoked since {_shown(token.revoked or now)}.")


def _file() -> Path:
    file = load_settings().serve.tokens_file
    if file is None:
        raise NotConfiguredError(
            "No file of API tokens is configured.",
            fix="Set HEADWATER_SERVE_TOKENS_FILE, here and where `headwater serve` runs.",
        )
    return Path(file)


@contextlib.contextmanager
def _reported() -> Iterator[None]:
    """Translate errors of the file and of names."""
    try:
        yield
    except TokensFileError as error:
        raise ConfigurationError(str(error), fix="Check HEADWATER_SERVE_TOKENS_FILE.") from error
    except TokenNameError as error:
        if error.names:
            raise SubjectNotFoundError(str(error), nearest=error.names) from error
        raise InputError(
            str(error), fix="Names have letters, digits and ._@-, 100 at most, and begin with a letter or digit."
        ) from error


def _end(text: str, now: datetime) -> datetime | None:
    """Parse `--expires`; None for `never`.

    Raises:
        typer.BadParameter: the text isn't a time, or the time is in the past.
    """
    written = text.strip().lower()
    if written == _NEVER:
        return None
    try:
        if (lifetime := _LIFETIME.fullmatch(written)) is not None:
            end = now + span(lifetime[1], lifetime[2])
        else:
            end = from_iso(text.strip())
    except (ValueError, OverflowError):
        raise typer.BadParameter(
            f"{shortened(text)!r} is no time; write 12h, 90d, 52w, ISO 8601, or never.", param_hint="--expires"
        ) from None
    if end <= now:
        raise typer.BadParameter(f"{shortened(text)!r} is in the past.", param_hint="--expires")
    return end


def _state(token: ApiToken, now: datetime) -> str:
    if token.revoked is not None:
        return "revoked"
    return "expired" if token.expires is not None and now >= token.expires else "valid"


def _document(token: ApiToken, now: datetime) -> dict[str, Any]:
    return {
        "name": token.name,
        "state": _state(token, now),
        "scopes": [scope.value for scope in token.scopes],
        "tenant": token.tenant,
        "groups": list(token.groups),
        "created": _shown(token.created),
        "expires": None if token.expires is None else _shown(token.expires),
        "revoked": None if token.revoked is None else _shown(token.revoked),
    }


def _table(tokens: tuple[ApiToken, ...], now: datetime) -> Table:
    table = plain_table("token", "state", "scopes", "tenant", "groups", "expires")
    for token in tokens:
        table.add_row(
            token.name,
            _state(token, now),
            ", ".join(token.scopes),
            token.tenant or "",
            ", ".join(token.groups),
            _NEVER if token.expires is None else _shown(token.expires),
        )
    return table


def _shown(time: datetime) -> str:
    return time.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
