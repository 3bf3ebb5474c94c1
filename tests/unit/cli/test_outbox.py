"""`headwater outbox` on real files: what is listed, dropped and left alone. With a broker: tests/integration/outbox."""

from __future__ import annotations

import json
import re
import shlex
import socket
from pathlib import Path
from typing import Any

import pytest

from headwater import errors
from headwater.cli import main
from headwater.commands import outbox
from headwater_producers.outbox.adoption import DAMAGED
from headwater_producers.outbox.store import SUFFIX, Store
from headwater_schemas.record import Record

WRONG = "broker-1_9092-0123456789ab"


def left(root: Path, destination: str, job: str, events: int) -> Store:
    """A file with events of one job; its process lives until it is closed."""
    (root / destination).mkdir(parents=True, exist_ok=True)
    store = Store.create(root / destination)
    key = json.dumps(["default", "app", job]).encode()
    records = [(number, Record(f"{job}{number}", "INTERVAL", key, b"value")) for number in range(1, events + 1)]
    store.append(records)
    store.admit(records)
    return store


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEADWATER_OUTBOX_PATH", str(tmp_path / "outbox"))
    return tmp_path / "outbox"


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any]:
    status = main(["outbox", *arguments, "--json"])
    return status, json.loads(capsys.readouterr().out)


def test_what_waits_is_listed_by_destination_and_job(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    left(root, WRONG, "orders", 9).close()
    left(root, "right-1", "bills", 2).close()
    status, document = run(capsys, "list")
    assert (status, document["events"]) == (0, 11)
    assert [(each["destination"], each["jobs"], each["in_use"]) for each in document["outboxes"]] == [
        (WRONG, {"app/orders": 9}, False),
        ("right-1", {"app/bills": 2}, False),
    ]
    assert main(["outbox", "list"]) == 0
    shown = capsys.readouterr()
    assert "app/orders" in shown.out
    # The command that it names does it: it fails for want of a Kafka, not of an argument.
    [hint] = re.findall(r"`[^`]*headwater (outbox relay[^`]*)` sends them", shown.err)
    assert main(shlex.split(hint)) == errors.ExitCode.CONFIGURATION
    assert run(capsys, "list")[1]["events"] == 11, "looking changes nothing"


def test_nothing_there_is_no_error(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "list") == (0, {"path": str(root), "events": 0, "outboxes": []})
    assert main(["outbox", "list"]) == 0
    assert "Nothing waits in" in capsys.readouterr().out
    assert run(capsys, "drop", "--all", "--yes")[1]["dropped"] == 0


def test_what_a_live_process_holds_is_listed_without_a_count_and_not_dropped(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    live = left(root, WRONG, "orders", 9)
    left(root, WRONG, "orders", 4).close()
    [one, other] = run(capsys, "list")[1]["outboxes"]
    assert (one["in_use"], one["events"], other["in_use"], other["events"]) == (True, None, False, 4)
    status, document = run(capsys, "drop", WRONG, "--yes")
    assert (status, document["dropped"], document["in_use"]) == (5, 4, 1)
    assert live.is_there
    assert live.count == 9
    live.close()


def test_drop_asks_for_yes_and_then_leaves_nothing(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    left(root, WRONG, "orders", 9).close()
    left(root, "right-1", "bills", 2).close()
    status, document = run(capsys, "drop", WRONG)
    assert (status, document["error"]["message"]) == (2, "9 events would be lost; nothing is dropped without --yes.")
    assert run(capsys, "drop", WRONG, "--yes") == (
        0,
        {"path": str(root), "dropped": 9, "files": 1, "in_use": 0, "problems": []},
    )
    assert [folder.name for folder in root.iterdir()] == ["right-1"]


@pytest.mark.parametrize("command", ["relay", "drop"])
def test_what_is_meant_has_to_be_named(command: str, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    left(root, WRONG, "orders", 1).close()
    assert run(capsys, command)[0] == 2
    status, document = run(capsys, command, "../elsewhere")
    assert (status, document["error"]["nearest"]) == (3, [WRONG])


def test_a_file_that_cannot_be_read_is_a_problem_and_stays(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    left(root, WRONG, "orders", 1).close()
    broken = root / WRONG / f"broken{SUFFIX}"
    broken.write_bytes(b"no database" * 1_000)
    (root / WRONG / f"old{SUFFIX}{DAMAGED}").write_bytes(b"half")
    files = {each["file"]: each for each in run(capsys, "list")[1]["outboxes"]}
    assert len(files) == 3
    assert files[str(broken)]["events"] is None
    assert "not a database" in files[str(broken)]["problem"]
    status, document = run(capsys, "drop", "--all", "--yes")
    assert (status, document["dropped"], document["files"], len(document["problems"])) == (5, 1, 2, 1)
    assert [each.name for each in (root / WRONG).iterdir()] == [broken.name]


def test_without_a_broker_all_stays(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    left(root, WRONG, "orders", 9).close()
    monkeypatch.setattr(outbox, "_CONNECT_SECONDS", 1.0)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        monkeypatch.setenv("HEADWATER_KAFKA_BOOTSTRAP_SERVERS", f"127.0.0.1:{probe.getsockname()[1]}")
        status, document = run(capsys, "relay", WRONG)
    assert (status, document["error"]["kind"]) == (4, "unreachable")
    assert run(capsys, "list")[1]["events"] == 9


def test_a_topic_that_kafka_does_not_take_is_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["topic", "create", "a/b"]) == 2
    assert main(["topic", "create", ".."]) == 2
    assert "A topic can't be named '..'" in capsys.readouterr().err
