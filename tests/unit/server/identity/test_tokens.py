"""API tokens in a file: `headwater token`, and the server that reads the file."""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from headwater.cli import main
from headwater_schemas.redaction import redact
from headwater_server.identity import Identity, IdentitySource, Scope
from headwater_server.identity.credentials import CredentialError, CredentialFault
from headwater_server.identity.tokens import (
    TokenNameError,
    TokensFileError,
    TokenVerifier,
    create_token,
    list_tokens,
    revoke_token,
)

NOW = datetime(2026, 11, 28, tzinfo=UTC)
LATER = NOW + timedelta(days=1)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "tokens.json"


def made(file: Path, name: str, *scopes: Scope, **given: Any) -> str:
    token, secret = create_token(file, name, scopes or [Scope.READ], **{"now": NOW, "expires": None, **given})
    assert token.name == name
    return secret


def fault(verifier: TokenVerifier, secret: str) -> CredentialFault:
    with pytest.raises(CredentialError) as refused:
        verifier.identify(secret)
    assert len(secret) < 8 or secret not in str(refused.value)
    return refused.value.fault


def test_a_token_is_its_holders_identity(file: Path) -> None:
    secret = made(file, "ci", Scope.WRITE, Scope.READ, tenant="a", groups=["x", "y"], expires=LATER)
    assert TokenVerifier(file, lambda: NOW).identify(secret) == Identity(
        IdentitySource.TOKEN, "ci", "a", frozenset({"x", "y"}), frozenset({Scope.READ, Scope.WRITE}), LATER
    )


def test_the_file_has_the_hash_and_nobody_else_may_read_it(file: Path) -> None:
    secret = made(file, "ci")
    assert re.fullmatch(r"hw_[0-9a-f]{64}", secret)
    text = file.read_text()
    assert secret not in text
    assert secret.removeprefix("hw_") not in text
    assert file.stat().st_mode & 0o777 == 0o600
    assert secret not in repr(list_tokens(file))
    made(file, "cd")
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_secret_is_redacted_by_its_shape(file: Path) -> None:
    secret = made(file, "ci")
    assert secret not in redact(f"sent with {secret} to the server")


def test_changes_are_effective_at_once(file: Path) -> None:
    verifier = TokenVerifier(file, lambda: NOW)
    secret = made(file, "ci")
    assert verifier.identify(secret).subject == "ci"
    other = made(file, "cd")
    assert verifier.identify(other).subject == "cd"
    revoke_token(file, "ci", now=NOW)
    assert fault(verifier, secret) is CredentialFault.REVOKED
    assert verifier.identify(other).subject == "cd"


def test_an_expired_token_is_refused_from_that_moment_on(file: Path) -> None:
    now = NOW
    secret = made(file, "ci", expires=LATER)
    verifier = TokenVerifier(file, lambda: now)
    verifier.identify(secret)
    now = LATER - timedelta(microseconds=1)
    verifier.identify(secret)
    now = LATER
    assert fault(verifier, secret) is CredentialFault.EXPIRED


def test_other_secrets_are_unknown(file: Path, subtests: pytest.Subtests) -> None:
    secret = made(file, "ci")
    verifier = TokenVerifier(file, lambda: NOW)
    (token,) = list_tokens(file)
    for other in ["", "hw_", "ci", secret[:-1], secret + "0", secret.upper(), token.sha256, f"hw_{token.sha256}", "é"]:
        with subtests.test(other=other):
            assert fault(verifier, other) is CredentialFault.UNKNOWN


BROKEN: list[tuple[str, Callable[[str], str]]] = [
    ("no JSON", lambda text: text[:-9]),
    ("empty", lambda text: ""),
    ("another version", lambda text: text.replace('"version": 1', '"version": 2')),
    ("an unknown field", lambda text: text.replace('"tenant"', '"tenants"')),
    ("an unknown scope", lambda text: text.replace('"read"', '"all"')),
    ("no scope", lambda text: re.sub(r'"scopes": \[[^]]*\]', '"scopes": []', text)),
    ("a time without zone", lambda text: text.replace("2026-11-28T00:00:00Z", "2026-11-28T00:00:00")),
    ("no hash", lambda text: re.sub(r'"sha256": "[^"]*"', '"sha256": "x"', text)),
    ("a token twice", lambda text: re.sub(r"\[\n(    \{.*?\n    \})", r"[\n\1,\n\1", text, flags=re.DOTALL)),
]


def test_a_broken_file_keeps_the_last_good_tokens(
    file: Path, subtests: pytest.Subtests, caplog: pytest.LogCaptureFixture
) -> None:
    secret = made(file, "ci")
    good = file.read_text()
    for what, broken in BROKEN:
        with subtests.test(what=what):
            assert broken(good) != good
            verifier = TokenVerifier(file, lambda: NOW)
            caplog.clear()
            file.write_text(broken(good))
            assert not verifier.check()
            assert verifier.identify(secret).subject == "ci"
            assert verifier.identify(secret).subject == "ci"
            (logged,) = [record for record in caplog.records if record.levelno == logging.ERROR]
            assert str(file) in logged.getMessage()
            with pytest.raises(TokensFileError, match="broken"):
                TokenVerifier(file, lambda: NOW)
            with pytest.raises(TokensFileError, match="broken"):
                revoke_token(file, "ci", now=NOW)
            assert file.read_text() == broken(good)
            file.write_text(good)
            assert verifier.check()


def test_a_file_that_is_gone_has_no_valid_token(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    secret = made(file, "ci")
    verifier = TokenVerifier(file, lambda: NOW)
    kept = file.rename(file.with_name("kept"))
    assert fault(verifier, secret) is CredentialFault.UNKNOWN
    assert fault(verifier, secret) is CredentialFault.UNKNOWN
    assert not verifier.readable
    assert len([record for record in caplog.records if "gone" in record.getMessage()]) == 1
    kept.rename(file)
    assert verifier.identify(secret).subject == "ci"
    assert verifier.readable


def test_a_file_that_everybody_may_write_is_refused(file: Path) -> None:
    secret = made(file, "ci")
    verifier = TokenVerifier(file, lambda: NOW)
    file.chmod(0o602)
    assert not verifier.check()
    assert verifier.identify(secret).subject == "ci"
    with pytest.raises(TokensFileError, match="every user"):
        TokenVerifier(file)
    file.chmod(0o600)
    assert verifier.check()


def test_writers_at_the_same_time_lose_nothing(file: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        secrets = list(pool.map(lambda number: made(file, f"t{number}"), range(32)))
    verifier = TokenVerifier(file, lambda: NOW)
    assert {verifier.identify(secret).subject for secret in secrets} == {f"t{number}" for number in range(32)}
    assert {each.name for each in file.parent.iterdir()} == {"tokens.json", "tokens.json.lock"}


def test_a_write_that_fails_changes_nothing(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(file, "ci")
    before = file.read_bytes()

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(TokensFileError, match="No space left"):
        made(file, "cd")
    assert file.read_bytes() == before
    assert {each.name for each in file.parent.iterdir()} == {"tokens.json", "tokens.json.lock"}


def test_a_link_to_the_file_stays_one(file: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.json"
    made(file, "ci")
    link.symlink_to(file)
    secret = made(link, "cd")
    assert link.is_symlink()
    assert TokenVerifier(link, lambda: NOW).identify(secret).subject == "cd"


def test_names_are_used_once(file: Path, subtests: pytest.Subtests) -> None:
    made(file, "ci")
    revoke_token(file, "ci", now=NOW)
    for name in ["ci", "", "-x", "a b", "a\n", "ü", "x" * 101]:
        with subtests.test(name=name), pytest.raises(TokenNameError):
            made(file, name)
    with pytest.raises(TokenNameError):
        made(file, "cd", groups=[""])
    with pytest.raises(TokenNameError) as unknown:
        revoke_token(file, "cd", now=NOW)
    assert unknown.value.names == ("ci",)


def test_what_is_revoked_stays_so(file: Path) -> None:
    made(file, "ci")
    assert revoke_token(file, "ci", now=NOW).revoked == NOW
    assert revoke_token(file, "ci", now=LATER).revoked == NOW


@pytest.fixture
def run(file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Run `headwater token … --json`, and return the status and the document."""
    monkeypatch.setenv("HEADWATER_SERVE_TOKENS_FILE", str(file))
    monkeypatch.chdir(file.parent)

    def ran(*arguments: str) -> tuple[int, Any]:
        status = main(["token", *arguments, "--json"])
        return status, json.loads(capsys.readouterr().out or "null")

    return ran


def test_the_commands(file: Path, run: Callable[..., Any]) -> None:
    status, created = run("create", "ci", "--scope", "write", "--scope", "read", "--expires", "90d", "--tenant", "a")
    assert status == 0
    identity = TokenVerifier(file).identify(created.pop("secret"))
    assert (identity.subject, identity.tenant, identity.scopes) == ("ci", "a", frozenset({Scope.READ, Scope.WRITE}))
    assert run("create", "reader", "--expires", "never", "--group", "g")[1]["scopes"] == ["read"]
    status, listed = run("list")
    assert (status, listed[0], [each["state"] for each in listed]) == (0, created, ["valid", "valid"])
    assert "secret" not in json.dumps(listed)
    assert "sha256" not in json.dumps(listed)
    status, revoked = run("revoke", "ci")
    assert (status, revoked["state"]) == (0, "revoked")
    assert [each["state"] for each in run("list")[1]] == ["revoked", "valid"]


def test_the_secret_alone_is_on_stdout(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HEADWATER_SERVE_TOKENS_FILE", str(file))
    monkeypatch.chdir(file.parent)
    assert main(["token", "create", "ci"]) == 0
    printed = capsys.readouterr()
    assert TokenVerifier(file).identify(printed.out.strip()).subject == "ci"
    assert "isn't shown again" in printed.err
    assert printed.out.strip() not in printed.err
    assert main(["token", "list"]) == 0
    assert re.search(r"^ci +valid +read", capsys.readouterr().out, re.MULTILINE)


def test_mistakes_have_their_status(
    file: Path, run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    run("create", "ci")
    cases = [
        (("create", "ci"), 2),
        (("create", "a b"), 2),
        (("create", "x", "--expires", "soon"), 2),
        (("create", "x", "--expires", "0d"), 2),
        (("create", "x", "--expires", "2020-01-01"), 2),
        (("create", "x", "--scope", "all"), 2),
        (("revoke", "nobody"), 3),
    ]
    for arguments, status in cases:
        with subtests.test(arguments=arguments):
            assert run(*arguments)[0] == status
    file.write_text("{")
    assert run("list")[0] == 6
    assert run("create", "y")[0] == 6
    monkeypatch.delenv("HEADWATER_SERVE_TOKENS_FILE")
    status, document = run("list")
    assert status == 6
    assert "HEADWATER_SERVE_TOKENS_FILE" in document["error"]["fix"]
