"""Start of `headwater serve`: refused where everybody could ask, or nobody could send."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from headwater.commands.serve import _access
from headwater.errors import ConfigurationError
from headwater_server.identity.tokens import TokenVerifier
from headwater_server.settings import ServeSettings

if TYPE_CHECKING:
    import pytest

NETWORK = {"host": "0.0.0.0", "allowed_hosts": "lineage.example"}


def fix(**serve: Any) -> str:
    """Advice with which these settings are refused; empty if they aren't."""
    try:
        _access(ServeSettings.model_validate(serve))
    except ConfigurationError as error:  # exit status 6
        return error.fix
    return ""


def test_what_is_refused(tmp_path: Path, subtests: pytest.Subtests) -> None:
    tokens, broken = str(tmp_path / "tokens.json"), tmp_path / "broken.json"
    broken.write_text("{")
    proxy = {"proxy_networks": "10.0.0.7", "proxy_secret": "0123456789abcdef"}
    cases: list[tuple[dict[str, Any], str]] = [
        ({}, ""),
        ({"intake": True, "declare": True}, ""),
        ({"host": "127.0.0.2"}, ""),
        (NETWORK, "HEADWATER_SERVE_TOKENS_FILE"),
        ({**NETWORK, "intake": True}, "HEADWATER_SERVE_TOKENS_FILE"),
        ({**NETWORK, "host": "::"}, "--allow-anonymous-reads"),
        ({**NETWORK, "allow_anonymous_reads": True}, ""),
        ({**NETWORK, "allow_anonymous_reads": True, "intake": True}, "--scope write"),
        ({"allow_anonymous_reads": True, "declare": True}, "HEADWATER_SERVE_TOKENS_FILE"),
        ({**NETWORK, "tokens_file": tokens}, ""),
        ({**NETWORK, "tokens_file": tokens, "allow_anonymous_reads": True, "intake": True}, ""),
        ({**NETWORK, **proxy}, ""),
        ({**NETWORK, "proxy_networks": "10.0.0.7"}, "HEADWATER_SERVE_PROXY_SECRET"),
        ({"tokens_file": str(broken)}, "HEADWATER_SERVE_TOKENS_FILE"),
        ({"tls_certificate": str(broken)}, "HEADWATER_SERVE_TLS_CERTIFICATE"),
        ({"tls_client_ca": str(broken)}, "HEADWATER_SERVE_TLS_CERTIFICATE"),
    ]
    for given, expected in cases:
        with subtests.test(given=given):
            found = fix(**given)
            assert bool(found) == bool(expected)
            assert expected in found


def test_a_tokens_file_may_come_later(tmp_path: Path) -> None:
    authentication, tls = _access(ServeSettings.model_validate({**NETWORK, "tokens_file": str(tmp_path / "later")}))
    assert isinstance(authentication.tokens, TokenVerifier)
    assert not authentication.tokens.check()
    assert tls is None
