"""Servers that questions go to: which one is chosen, log-ins, and what their problems become."""

from __future__ import annotations

import asyncio
import io
import json
import stat
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pydantic import SecretStr

from headwater import errors
from headwater.cli import main
from headwater.remote import logins, server
from headwater.remote.choice import Chosen, chosen_server, server_url
from headwater.remote.tools import Elsewhere
from headwater_analysis import errors as of_questions
from headwater_analysis.search import SearchPage
from headwater_server.identity import Scope
from headwater_server.mcp.asks import Answer
from headwater_server.problems import ProblemType
from support.api import client_of, fake_graph
from support.api_tokens import TOKEN, tokens_file

HOME = "https://lineage.example.org"


@pytest.fixture(autouse=True)
def _no_logins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


def answering(status: int, content: Any, monkeypatch: pytest.MonkeyPatch) -> list[httpx2.Request]:
    """Let every server answer so; returns the requests that come."""
    asked: list[httpx2.Request] = []
    client = httpx2.Client

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(request)
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        return httpx2.Response(status, content=body)

    def made(**options: Any) -> httpx2.Client:
        return client(transport=httpx2.MockTransport(answer), **options)

    monkeypatch.setattr(httpx2, "Client", made)
    return asked


def ask(token: str | None = None) -> Any:
    return server.Server(Chosen(HOME, SecretStr(token) if token else None, "URL")).get(("search",), SearchPage)


def test_a_server_is_chosen_before_a_database_and_a_log_in_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert chosen_server() is None
    logins.write(logins.Logins(current=HOME, servers={HOME: logins.SavedLogin(token=SecretStr("hw_a"))}))
    found = chosen_server()
    assert found is not None
    assert found.token is not None
    assert (found.url, found.token.get_secret_value(), found.origin) == (HOME, "hw_a", "headwater login")
    monkeypatch.setenv("HEADWATER_NEO4J_URI", "bolt://127.0.0.1:1")
    assert chosen_server() is None
    monkeypatch.setenv("HEADWATER_URL", f"{HOME}/")
    found = chosen_server()
    assert found is not None
    assert found.token is not None
    assert (found.url, found.token.get_secret_value(), found.origin) == (HOME, "hw_a", "HEADWATER_URL")
    monkeypatch.setenv("HEADWATER_TOKEN", "hw_b")
    found = chosen_server()
    assert found is not None
    assert found.token is not None
    assert found.token.get_secret_value() == "hw_b"
    assert "hw_b" not in repr(found)


def test_a_log_in_is_sent_to_its_own_server_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    logins.write(logins.Logins(current=HOME, servers={HOME: logins.SavedLogin(token=SecretStr("hw_a"))}))
    monkeypatch.setenv("HEADWATER_URL", "https://elsewhere.example.org")
    found = chosen_server()
    assert found is not None
    assert found.token is None


@pytest.mark.parametrize(("given", "sent"), [("hw_b\n", "hw_b"), ("hw b", None), ("hw_ß", None), (" ", None)])
def test_a_token_of_a_variable_is_one_line_of_ascii(
    monkeypatch: pytest.MonkeyPatch, given: str, sent: str | None
) -> None:
    monkeypatch.setenv("HEADWATER_URL", HOME)
    monkeypatch.setenv("HEADWATER_TOKEN", given)
    if sent is None:
        with pytest.raises(errors.InputError, match="HEADWATER_TOKEN is no token"):
            chosen_server()
        return
    found = chosen_server()
    assert found is not None
    assert found.token is not None
    assert found.token.get_secret_value() == sent


def test_a_token_without_an_address_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_TOKEN", "hw_b")
    with pytest.raises(errors.InputError, match="HEADWATER_TOKEN is set without HEADWATER_URL"):
        chosen_server()


@pytest.mark.parametrize(
    "wrong",
    [
        "lineage.example.org",
        "ftp://x",
        "https://",
        "https://a:b@x",
        "https://x?y=1",
        "http://lineage.example.org",
        "https://x:y",
        "https://x?",
        "https://x#",
    ],
)
def test_addresses_that_are_refused(wrong: str) -> None:
    with pytest.raises(errors.InputError, match="URL"):
        server_url(wrong, "URL")


@pytest.mark.parametrize("right", ["https://x/lineage/", "http://localhost:8470", "http://[::1]:8470"])
def test_addresses_that_are_used(right: str) -> None:
    assert server_url(right, "URL") == right.rstrip("/")


def test_every_problem_has_its_error(monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests) -> None:
    own = {"not-found", "ambiguous", "question", "parameters", "unauthenticated", "credentials"}
    none = {"no-such-path", "method", "media-type"}  # not of this server, or of this release
    of_intake = {"event", "kafka-unavailable", "declaration", "revision"}
    known = {each.value.removeprefix("urn:headwater:") for each in ProblemType}
    assert own | none | of_intake | server._PROBLEMS.keys() == known
    statuses = {
        "unauthenticated": (401, errors.ExitCode.CONFIGURATION),
        "forbidden": (403, errors.ExitCode.CONFIGURATION),
        "parameters": (422, errors.ExitCode.BAD_INPUT),
        "busy": (503, errors.ExitCode.UNREACHABLE),
        "time-limit": (504, errors.ExitCode.UNEXPECTED),
        "no-such-path": (404, errors.ExitCode.CONFIGURATION),
    }
    for kind, (status, code) in statuses.items():
        with subtests.test(kind=kind), monkeypatch.context() as patch:
            problem = {"type": f"urn:headwater:{kind}", "title": "", "status": status, "detail": "Why."}
            answering(status, problem, patch)
            with pytest.raises(errors.HeadwaterError) as raised:
                ask()
            assert raised.value.exit_code == code
            assert raised.value.fix or code == errors.ExitCode.BAD_INPUT


def test_problems_of_names_keep_the_names(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        answering(404, {"type": "urn:headwater:not-found", "detail": "None.", "nearest": ["a"]}, patch)
        with pytest.raises(of_questions.NotFoundError) as missing:
            ask()
        assert missing.value.nearest == ("a",)
    with monkeypatch.context() as patch:
        answering(409, {"type": "urn:headwater:ambiguous", "detail": "Two.", "candidates": ["a", "b"]}, patch)
        with pytest.raises(of_questions.AmbiguousError) as several:
            ask()
        assert several.value.candidates == ("a", "b")


@pytest.mark.parametrize(
    ("status", "content", "code"),
    [
        (200, b"<html>", errors.ExitCode.UNEXPECTED),
        (200, b"{}", errors.ExitCode.UNEXPECTED),
        (200, b"[]", errors.ExitCode.UNEXPECTED),
        (302, b"", errors.ExitCode.CONFIGURATION),
        (403, b"<html>", errors.ExitCode.CONFIGURATION),
        (404, b"\xff", errors.ExitCode.CONFIGURATION),
        (502, b"<html>", errors.ExitCode.UNREACHABLE),
        (500, b'{"type": 3}', errors.ExitCode.CONFIGURATION),
    ],
)
def test_something_else_answers(status: int, content: bytes, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = answering(status, content, monkeypatch)
    with pytest.raises(errors.HeadwaterError) as raised:
        ask("hw_secret")
    assert raised.value.exit_code == code
    assert HOME in raised.value.message
    assert "hw_secret" not in raised.value.message + raised.value.fix
    assert len(asked) == 1  # a redirect isn't followed


def test_no_server_answers(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("HEADWATER_URL", "http://127.0.0.1:9")
    assert main(["search", "orders"]) == errors.ExitCode.UNREACHABLE
    said = capsys.readouterr().err
    assert "http://127.0.0.1:9 can't be reached" in said
    assert "HEADWATER_URL" in said


@pytest.mark.parametrize(
    "arguments",
    [
        ["search", "x", "--tenant", "acme"],
        ["check", "--exemptions", "{file}"],
        ["trace", "orders", "0", "1", "--archive", "/archive"],
        ["trace", "orders", "0:1", "1:2025-01-31T12:00"],
        ["review", "old.py", "new.py"],
    ],
)
def test_what_only_a_database_answers_is_refused(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    asked = answering(500, {}, monkeypatch)
    (tmp_path / "exemptions.yaml").write_text("exemptions: []\n", encoding="utf-8")
    monkeypatch.setenv("HEADWATER_URL", HOME)
    given = [each.replace("{file}", str(tmp_path / "exemptions.yaml")) for each in arguments]
    assert main(given) == errors.ExitCode.BAD_INPUT, capsys.readouterr().err
    assert not asked


def test_log_in_and_out(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    graph = fake_graph(tokens_file=tokens_file(tmp_path / "tokens.json", Scope.READ))
    with client_of(graph) as client:
        url = str(client.base_url).rstrip("/")
        assert main(["login", url]) == errors.ExitCode.BAD_INPUT
        assert "--with-token" in capsys.readouterr().err
        monkeypatch.setattr("sys.stdin", io.StringIO("hw_" + "00" * 32))
        assert main(["login", url, "--with-token"]) == errors.ExitCode.CONFIGURATION
        assert not logins.path().exists()
        monkeypatch.setattr("sys.stdin", io.StringIO(f"{TOKEN}\n"))
        assert main(["login", url, "--with-token"]) == 0
        said = capsys.readouterr()
        assert f"Logged in to {url}, as tests" in said.out
        assert "Questions now go to this server" in said.err
        assert TOKEN not in said.out + said.err
        assert stat.S_IMODE(logins.path().stat().st_mode) == 0o600
        found = chosen_server()
        assert found is not None
        assert found.url == url
        for name, value, why in (
            ("HEADWATER_NEO4J_URI", "bolt://127.0.0.1:1", "Questions still go to the database"),
            ("HEADWATER_URL", HOME, f"Questions still go to {HOME}"),
        ):
            monkeypatch.setenv(name, value)
            monkeypatch.setattr("sys.stdin", io.StringIO(TOKEN))
            assert main(["login", url, "--with-token"]) == 0
            assert why in capsys.readouterr().err
            monkeypatch.delenv(name)
        assert main(["logout"]) == 0
        assert chosen_server() is None
        assert TOKEN not in logins.path().read_text(encoding="utf-8")
        assert main(["logout"]) == errors.ExitCode.NOT_FOUND


def test_a_server_that_answers_everybody_takes_no_token() -> None:
    with client_of(fake_graph()) as client:
        url = str(client.base_url).rstrip("/")
        assert main(["login", url]) == 0
        found = chosen_server()
        assert found is not None
        assert (found.url, found.token) == (url, None)


def test_a_broken_file_of_log_ins_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    logins.path().parent.mkdir(parents=True)
    logins.path().write_text('{"current": 1, "token": "hw_secret"}', encoding="utf-8")
    assert main(["search", "orders"]) == errors.ExitCode.BAD_INPUT
    said = capsys.readouterr().err
    assert "logins.json" in said
    assert "hw_secret" not in said


@pytest.mark.parametrize("content", [b"<html>", b"[]", b'{"a": NaN}', b""])
def test_what_no_server_of_tools_answers_is_a_problem(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    async def asked() -> Answer:
        async with Elsewhere(Chosen(HOME, SecretStr(TOKEN), "URL")) as elsewhere:
            answering = httpx2.MockTransport(lambda _: httpx2.Response(200, content=content))
            monkeypatch.setattr(elsewhere, "_client", httpx2.AsyncClient(transport=answering))
            return await elsewhere("GET", "/api/v1/search", [("q", "a")], None)

    answer = asyncio.run(asked())
    assert answer.status == 503
    assert json.loads(answer.content)["type"] == "urn:headwater:server-unreachable"
    assert TOKEN not in answer.content.decode()
