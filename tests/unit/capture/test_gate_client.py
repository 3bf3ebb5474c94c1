"""Questions to the gate over HTTP: what is sent, and which answers are none."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from headwater_producers.spark import CaptureSettings, CaptureSettingsError
from headwater_producers.spark.driver.gate_client import GateClient, GateUnavailableError
from headwater_schemas.events import DatasetRef
from support.played_gate import EXAMPLE, HOLD, PlayedGate, folder, playing
from support.waiting import patience

ORDERS = DatasetRef("file", "/lake/orders")
TOKEN = "hw_hunter2"


def client(url: str, **settings: Any) -> GateClient:
    return GateClient(CaptureSettings.load(gate_url=url, gate_token=TOKEN, **settings))


def refusal(asked: GateClient, seconds: float | None = None) -> GateUnavailableError:
    with pytest.raises(GateUnavailableError) as raised:
        asked.ask(ORDERS, None, patience(30) if seconds is None else seconds)
    assert "hunter2" not in str(raised.value)
    return raised.value


def test_a_question_has_dataset_partition_severity_and_token(gate: PlayedGate) -> None:
    gate.hold(Path("/lake/orders"), "day=2")
    asked = client(gate.url, gate_max_severity="sev2")
    held = asked.ask(ORDERS, None, patience(30))
    assert held is not None
    assert not held.is_free
    [hold] = held.holds
    expected = HOLD["incident"], HOLD["title"], HOLD["severity"], HOLD["certainty"]
    assert (hold.incident, hold.title, hold.severity, hold.certainty) == expected
    free = asked.ask(ORDERS, "day=1", patience(30))
    assert free is not None
    assert free.is_free
    whole = {"dataset": folder(Path("/lake/orders")), "max_severity": "SEV2"}
    assert gate.questions == [whole, {**whole, "partition": "day=1"}]
    assert gate.tokens == [f"Bearer {TOKEN}"] * 2


def test_a_dataset_that_the_graph_does_not_have_is_no_failure(gate: PlayedGate) -> None:
    gate.unknown.add(folder(Path("/lake/orders")))
    assert client(gate.url).ask(ORDERS, None, patience(30)) is None


def test_the_token_file_is_read_for_each_question(gate: PlayedGate, tmp_path: Path) -> None:
    file = tmp_path / "token"
    asked = client(gate.url, gate_token_file=file)
    assert str(refusal(asked)) == "gate_token_file can't be read"
    for token in ("one", "two"):
        file.write_text(f"{token}\n", encoding="utf-8")
        asked.ask(ORDERS, None, patience(30))
    assert gate.tokens == ["Bearer one", "Bearer two"]


def test_a_token_with_a_line_break_is_not_sent(gate: PlayedGate) -> None:
    asked = GateClient(CaptureSettings.load(gate_url=gate.url, gate_token=f"{TOKEN}\r\nX-Other: 1"))
    assert "gate_token has spaces, or characters" in str(refusal(asked))
    assert gate.questions == []


UNUSABLE: list[tuple[int, bytes, str]] = [
    (401, b"", "it refuses gate_token (401)"),
    (403, b"", "it refuses gate_token (403)"),
    (404, b"<html>nothing here</html>", "its answer (404) isn't a gate's"),
    (404, b'{"type": "urn:headwater:no-such-path"}', "it answers 404"),
    (409, b'{"type": "urn:headwater:ambiguous"}', "it answers 409"),
    (503, b"", "it answers 503"),
    (200, b"", "its answer (200) isn't a gate's"),
    (200, b"<html>log in</html>", "its answer (200) isn't a gate's"),
    (200, b"\xff\xfe{}", "its answer (200) isn't a gate's"),
    (200, b'{"holds": []}', "its answer (200) isn't a gate's"),
    (200, b'{"is_free": "yes", "holds": []}', "its answer (200) isn't a gate's"),
    (200, b'{"is_free": false, "holds": [{}]}', "its answer (200) isn't a gate's"),
    (200, b'{"is_free": false, "holds": [], "truncated": true}', "more incidents are open than the gate looks at"),
]


def test_an_unusable_answer_is_none(gate: PlayedGate, subtests: pytest.Subtests) -> None:
    for status, body, reason in UNUSABLE:
        with subtests.test(status=status, body=body):
            gate.scripted.append((status, {}, body))
            error = refusal(client(gate.url))
            assert (str(error), error.is_silent) == (reason, False)


def test_a_redirect_is_not_followed(gate: PlayedGate) -> None:
    with playing() as elsewhere:
        gate.scripted.append((302, {"Location": f"{elsewhere.url}/api/v1/gate?dataset=x"}, b""))
        assert str(refusal(client(gate.url))) == "it answers 302"
        assert elsewhere.questions == []


def test_no_proxy_is_used(gate: PlayedGate, monkeypatch: pytest.MonkeyPatch) -> None:
    with playing() as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        assert client(gate.url).ask(ORDERS, None, patience(30)) is not None
        assert (len(gate.questions), proxy.questions) == (1, [])


def test_an_answer_is_read_up_to_a_megabyte(gate: PlayedGate) -> None:
    answer = json.dumps(EXAMPLE["answer"]).encode()
    gate.scripted.append((200, {}, answer + b" " * (1024 * 1024 - len(answer))))
    assert client(gate.url).ask(ORDERS, None, patience(30)) is not None
    gate.scripted.append((200, {}, answer + b" " * 1024 * 1024))
    assert str(refusal(client(gate.url))) == "its answer is larger than 1048576 bytes"


def test_a_server_that_gives_no_answer_is_silent(gate: PlayedGate) -> None:
    gate.stalls = True
    late = refusal(client(gate.url), seconds=0.2)
    assert (str(late), late.is_silent) == ("no answer within gate_timeout_seconds", True)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        gone = refusal(client(f"http://127.0.0.1:{unused.getsockname()[1]}"))
    assert (str(gone), gone.is_silent) == ("no answer: Connection refused", True)


def test_a_path_before_the_api_is_kept(gate: PlayedGate) -> None:
    assert client(f"{gate.url}/lineage/").ask(ORDERS, None, patience(30)) is not None


@pytest.mark.parametrize("url", ["http://", "http://host:port", "http://host:1/?x=1"])
def test_a_malformed_url_is_refused(url: str) -> None:
    with pytest.raises(CaptureSettingsError, match=r"gate_url isn't a URL"):
        client(url)


def test_a_missing_url_or_authority_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CaptureSettingsError, match="HEADWATER_GATE_URL"):
        GateClient(CaptureSettings.load(refuse_tainted_inputs=True))
    with pytest.raises(CaptureSettingsError, match="gate_ca_location"):
        client("https://127.0.0.1:1", gate_ca_location=tmp_path / "missing.pem")
