"""`headwater incident notify` on a real Kafka, Neo4j and consumer, with a real service on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from headwater import cli
from headwater.incident import notifying
from support.materializer.process import consuming
from support.message_service import MessageService, message_service

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Command = Callable[..., Any]

pytestmark = [pytest.mark.stack, pytest.mark.timeout(300)]

CLEAN = "file:/lake/clean"
ALERTS = "/am/api/v2/alerts"
OPENING = ("incident", "open", "Negative delays", "--query", "enrich", "--batches", "3..5", "--severity", "sev2")


@pytest.fixture
def service() -> Iterator[MessageService]:
    with message_service() as found:
        yield found


@pytest.fixture
def channels(service: MessageService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A channel of the consumer by `on_call`, one of the owner, and operators with an Alertmanager. No pauses."""
    monkeypatch.setattr(notifying, "PAUSES_SECONDS", (0.0, 0.0, 0.0))
    return declared(
        tmp_path,
        'link = "https://page.example/#/incident/{incident}"',
        "[channels]",
        f'"#board" = "json://{service.place}/board"',
        f'"team:lake" = "json://{service.place}/lake"',
        "[defaults]",
        f'operators = "alertmanager://{service.place}/am"',
    )


def declared(tmp_path: Path, *lines: str) -> str:
    file = tmp_path / "channels.toml"
    file.write_text("\n".join(lines) + "\n", "utf-8")
    return str(file)


def delivered(found: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """Recipients of the one incident that had something to learn, with reason and result."""
    [incident] = found["items"]
    return {
        each["recipient"]: (each["change"], each["delivery"])
        for each in incident["items"]
        if each["delivery"] != "UNCHANGED"
    }


def all_of(change: str, delivery: str = "SENT") -> dict[str, tuple[str, str]]:
    return dict.fromkeys(("defaults.operators", "board", "team:lake"), (change, delivery))


def sent(service: MessageService) -> dict[str, list[str]]:
    """Path of each channel, with the lines of the message that came by it; one message each."""
    found = service.taken()
    assert len({path for path, _ in found}) == len(found)
    return {path: text_of(document) for path, document in found}


def text_of(document: Any) -> list[str]:
    if isinstance(document, dict):
        return [document["title"], *document["message"].splitlines()]
    annotations = document[0]["annotations"]
    return [annotations["summary"], *annotations["description"].splitlines()]


def test_one_message_for_each_change(
    followed_pipeline: dict[str, str],
    headwater: Command,
    service: MessageService,
    channels: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    name = headwater(*OPENING)["incident"]
    notify = ("incident", "notify", "--channels", channels)
    found = headwater(*notify, "--by", "ann")
    assert delivered(found) == all_of("OPENED")
    assert (found["sent"], found["items"][0]["unowned"], found["items"][0]["unknown"]) == (3, [], "")
    messages = sent(service)
    assert set(messages) == {"/board", "/lake", ALERTS}
    title, since, reached, advice, page = messages["/board"]
    assert title == f"Bad data: Negative delays (SEV2, {name})"
    assert "Opened: 20" in since
    assert reached == f"Your data: bad data is in {CLEAN}."
    assert advice == (
        f"Details: headwater incident show {name} — check before a job reads the data: headwater gate {CLEAN}"
    )
    assert page == f"Page: https://page.example/#/incident/{name}"
    assert messages[ALERTS][2] == f"All datasets: bad data is in {CLEAN}."

    # Another run of the command has nothing new to say, and neither has a record of the same reach.
    headwater("incident", "refresh")
    assert delivered(headwater(*notify)) == {}
    assert sent(service) == {}
    shown = headwater("incident", "show", name)
    assert {each["recipient"]: (each["channel"], each["change"]) for each in shown["notified"]} == {
        "board": ("#board", "OPENED"),
        "defaults.operators": ("defaults.operators", "OPENED"),
        "team:lake": ("team:lake", "OPENED"),
    }
    action = next(each for each in shown["history"] if each["action"] == "NOTIFIED")
    assert (action["by"], "board by #board (OPENED)" in action["text"]) == ("ann", True)
    capsys.readouterr()
    assert cli.main(["incident", "show", name, "--no-reach"]) == 0
    assert "board by #board: OPENED at 20" in capsys.readouterr().out

    headwater("incident", "note", name, "--severity", "sev1")
    assert delivered(headwater(*notify, name[:8])) == all_of("CHANGED")
    assert sent(service)["/lake"][0] == f"Bad data, changed: Negative delays (SEV1, {name})"

    # One of two partitions is repaired: the dataset still holds bad data.
    for day in (3, 4):
        headwater("incident", "repair", name, "--dataset", CLEAN, "--partition", f"day={day}", "--reason", "Ran again.")
        assert delivered(headwater(*notify)) == ({} if day == 3 else all_of("CLEARED"))
    messages = sent(service)
    assert messages["/board"][2] == "Your data: no bad data is left."
    assert messages["/lake"][2] == "Your data: no bad data is left; 1 clean again."
    assert messages["/lake"][3].startswith("There is nothing to do.")

    headwater("incident", "resolve", name, "repaired", "--reason", "Done.")
    assert delivered(headwater(*notify)) == all_of("RESOLVED")
    assert sent(service)["/board"][0] == f"Resolved: Negative delays (SEV1, {name})"
    assert headwater(*notify)["items"] == []
    assert delivered(headwater(*notify, name)) == {}
    assert sent(service) == {}
    headwater("incident", "reopen", name)
    assert delivered(headwater(*notify)) == all_of("OPENED")
    assert headwater("graph", "verify")["holds"]


def test_a_failure_is_tried_again_and_stops_nobody_else(
    followed_pipeline: dict[str, str], headwater: Command, service: MessageService, channels: str
) -> None:
    headwater(*OPENING, "--no-reach")
    notify = ("incident", "notify", "--channels", channels)
    # The board's second attempt is accepted. The lake's four attempts aren't.
    service.statuses = {"/board": [500], "/lake": [500, 503, 404, 500]}
    found = headwater(*notify, status=5)
    assert delivered(found) == all_of("OPENED") | {"team:lake": ("OPENED", "FAILED")}
    paths = [path for path, _ in service.taken()]
    assert {path: paths.count(path) for path in paths} == {"/board": 2, "/lake": 4, ALERTS: 1}
    # Nothing of the failed one was recorded, so it alone is sent now.
    again = delivered(headwater(*notify))
    assert {who: delivery for who, (_, delivery) in again.items()} == {"team:lake": "SENT"}
    assert set(sent(service)) == {"/lake"}
    assert delivered(headwater(*notify)) == {}


def test_a_dry_run_sends_and_records_nothing(
    followed_pipeline: dict[str, str],
    headwater: Command,
    service: MessageService,
    channels: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    name = headwater(*OPENING, "--no-reach")["incident"]
    notify = ("incident", "notify", "--channels", channels, "--dry-run")
    found = headwater(*notify)
    assert (delivered(found), found["sent"]) == (all_of("OPENED", "WOULD_SEND"), 0)
    capsys.readouterr()
    assert cli.main([*notify]) == 0
    text = capsys.readouterr().out
    assert f"{name}: would be notified: board by #board (OPENED)." in text
    assert f"  Your data: bad data is in {CLEAN}." in text
    assert "0 sent in 1 round, 3 would be sent." in text
    assert service.taken() == []
    shown = headwater("incident", "show", name, "--no-reach")
    assert (shown["notified"], [each["action"] for each in shown["history"]]) == ([], ["OPENED"])


def test_who_has_no_channel_is_listed(
    followed_pipeline: dict[str, str],
    headwater: Command,
    service: MessageService,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    name = headwater(*OPENING, "--no-reach")["incident"]
    headwater("incident", "scope", name, "--dataset", "file:/lake/b")
    file = declared(tmp_path, "[channels]", f'board = "json://{service.place}/board"')
    assert cli.main(["incident", "notify", "--channels", file]) == 0
    text = capsys.readouterr().out
    assert f"{name}: notified: board by board (OPENED)." in text
    assert f"{name}: not notified: no channel for team:lake." in text
    assert "1 dataset without an owner" in text
    assert "1 sent in 1 round, 1 without a channel." in text
    found = headwater("incident", "notify", "--channels", file)
    assert delivered(found) == {"team:lake": ("REACHED", "NO_CHANNEL")}
    assert found["items"][0]["unowned"] == ["file:/lake/b"]
    # A default is the channel of everybody without one.
    file = declared(tmp_path, "[defaults]", f'everybody = "json://{service.place}/all"')
    assert delivered(headwater("incident", "notify", "--channels", file)) == {"team:lake": ("REACHED", "SENT")}
    assert [path for path, _ in service.taken()] == ["/board", "/all"]


CANARY = "c4n4ry"


def test_no_output_event_or_log_has_an_address(
    followed_pipeline: dict[str, str],
    headwater: Command,
    service: MessageService,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Two services that accept, one that refuses, and one that isn't there."""
    monkeypatch.setattr(notifying, "PAUSES_SECONDS", (0.0,))
    monkeypatch.setenv("CANARY", CANARY)
    headwater(*OPENING, "--no-reach")
    file = declared(
        tmp_path,
        "[channels]",
        f'"#board" = ["json://{CANARY}:{CANARY}@{service.place}/${{CANARY}}", "json://{service.place}/ok"]',
        '"team:lake" = ["json://127.0.0.1:1/${CANARY}"]',
        "[defaults]",
        f'operators = "alertmanager://{CANARY}:{CANARY}@{service.place}/{CANARY}"',
    )
    refusing = f"/{CANARY}/api/v2/alerts"
    service.statuses = {refusing: [401, 401]}
    caplog.set_level(1)
    capsys.readouterr()
    assert cli.main(["incident", "notify", "--channels", file]) == 5
    out, err = capsys.readouterr()
    assert "not notified: defaults.operators by defaults.operators: HTTP status 401." in out
    assert "not notified: team:lake by team:lake: the service didn't accept it." in out
    assert [path for path, _ in service.taken()].count(f"/{CANARY}") == 1
    assert cli.main(["events"]) == 0
    assert cli.main(["graph", "dump", "--internal"]) == 0
    dump, more = capsys.readouterr()
    assert "#board" in dump
    assert CANARY not in out + err + dump + more + caplog.text


def test_rounds_repeat_nothing_while_the_graph_is_behind(
    pipeline_graph: dict[str, str],
    headwater: Command,
    service: MessageService,
    channels: str,
    stop_after: Callable[..., None],
) -> None:
    """No consumer runs while the messages are sent, so the graph doesn't get their records."""
    with consuming(pipeline_graph):
        headwater(*OPENING, "--no-reach")
    stop_after(notifying, "one_round", 3)
    done = headwater("incident", "notify", "--channels", channels, "--every", "10ms", "--wait", "0")
    assert (done["rounds"], done["sent"], delivered(done)) == (3, 3, {})
    assert set(sent(service)) == {"/board", "/lake", ALERTS}
