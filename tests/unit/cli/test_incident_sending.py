"""Sending of messages: attempts, their pauses and their time limit, and what is sent when the graph is behind."""

from __future__ import annotations

import socket
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from pydantic import SecretStr

from headwater.errors import ConfigurationError
from headwater.incident import notifying, sending
from headwater.incident.channels import NamedChannel
from headwater.incident.notifying import IncidentNotifications, SentMessages
from headwater.incident.sending import ChannelMessage, is_address, send
from headwater_analysis.incidents.answers import SentNotification
from headwater_analysis.incidents.recipients import Recipient
from headwater_schemas.events import NotificationChange, NotifiedRecipient
from support.incidents import AT
from support.message_service import message_service

if TYPE_CHECKING:
    from collections.abc import Iterator

OPENED = NotificationChange.OPENED
MESSAGE = ChannelMessage(
    incident="INC-1", severity=None, recipient="ann", change=OPENED, title="Bad data", lines=("a", "b"), link=None
)


def recipient(name: str, digest: str = "now", latest: str | None = None) -> Recipient:
    sent = None
    if latest is not None:
        sent = SentNotification(recipient=name, channel="c", change=OPENED, at=AT, digest=latest)
    return Recipient(
        recipient=name, addresses=(), held=(), unlisted=0, cleared=(), latest=sent, change=OPENED, digest=digest
    )


def test_attempts_and_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """An address that accepted the message isn't asked again, and nobody waits for another one's pause twice."""
    failures = {"a": 0, "b": 1, "c": 9, "d": 9}
    steps: list[str | float] = []

    def answer(address: str, message: ChannelMessage) -> str:
        steps.append(address)
        failures[address] -= 1
        return f"{address} refuses" if failures[address] >= 0 else ""

    monkeypatch.setattr(notifying, "send", answer)
    one = notifying._Due(recipient("x"), NamedChannel("one", (SecretStr("a"), SecretStr("b"))), MESSAGE)
    other = notifying._Due(recipient("y"), NamedChannel("other", (SecretStr("c"), SecretStr("d"))), MESSAGE)
    notifying._deliver([one, other], steps.append)
    assert steps == ["a", "b", "c", "d", 1.0, "b", "c", "d", 2.0, "c", "d", 4.0, "c", "d"]
    assert (one.left, one.problem) == ([], "")
    assert ([each.get_secret_value() for each in other.left], other.problem) == (["c", "d"], "c refuses")


def test_an_incident_with_nobody_to_notify() -> None:
    nobody = IncidentNotifications(incident="INC-1", complete=True, unknown="", items=(), unowned=("orders",))
    assert notifying.lines([nobody]) == ["INC-1: 0 recipients to notify; 1 dataset without an owner."]
    unknown = replace(nobody, complete=False, unknown="not known: 1 part of the scope", unowned=())
    assert notifying.lines([unknown]) == ["INC-1: 0 recipients to notify; not known: 1 part of the scope."]


def record(digest: str) -> NotifiedRecipient:
    return NotifiedRecipient(recipient="ann", channel="c", digest=digest, change=OPENED)


def test_the_latest_message_of_this_process_counts_until_the_graph_has_it() -> None:
    sent = SentMessages()
    assert sent.digest("i", recipient("ann")) is None
    assert sent.digest("i", recipient("ann", latest="a")) == "a"
    sent.latest["i", "ann"] = record("b")
    sent.unrecorded.add(("i", "ann"))
    assert sent.digest("i", recipient("ann", latest="a")) == "b"
    assert sent.digest("other", recipient("ann", latest="a")) == "a"
    sent.unrecorded.clear()
    assert sent.digest("i", recipient("ann", latest="a")) == "b"
    # The graph has it. Afterwards another process may send another one.
    assert sent.digest("i", recipient("ann", latest="b")) == "b"
    assert sent.digest("i", recipient("ann", latest="c")) == "c"


@pytest.fixture
def silent_service() -> Iterator[str]:
    """Host and port of a service that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


@pytest.mark.parametrize("scheme", ["json", "alertmanager"])
def test_a_service_that_never_answers(scheme: str, silent_service: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "SECONDS", 0.05)
    assert send(f"{scheme}://{silent_service}", MESSAGE) in ("no answer within 0.05 s", "ReadTimeout")


def test_a_text_goes_out_as_it_is() -> None:
    with message_service() as service:
        assert send(f"json://{service.place}/x", MESSAGE) == ""
        [(path, document)] = service.taken()
        assert (path, document["title"], document["message"]) == ("/x", "Bad data", "a\nb")


def test_an_error_of_a_service_is_named_by_its_type_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(address: str, message: ChannelMessage) -> str:
        raise OSError(f"{address} doesn't answer")

    monkeypatch.setattr(sending, "_send_by_apprise", fail)
    assert send("json://c4n4ry", MESSAGE) == "OSError"


def test_without_apprise_the_install_command_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "apprise", None)
    with pytest.raises(ConfigurationError, match="isn't installed") as refused:
        is_address("json://127.0.0.1")
    assert "[notify]" in refused.value.fix
    assert is_address("alertmanager://127.0.0.1")
