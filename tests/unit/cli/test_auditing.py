"""Commands that change something leave a record, where an audit is configured; and the commands of the audit."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import pytest
import typer

from headwater import auditing, cli, command_list
from headwater.errors import ExitCode, InputError, UnreachableError
from headwater_audit.file import lines_of
from headwater_audit.signing import make_key
from support.audit import file_writer, record, signer, write

READS = {
    *("status", "doctor", "events", "show", "search", "upstream", "downstream", "diff", "trace", "blast"),
    *("runs list", "runs show", "runs inputs", "runs outputs", "runs intervals", "runs versions", "runs last-good"),
    *(
        "impact",
        "review",
        "privacy",
        "may-delete",
        "check",
        "policy check",
        "policy explain",
        "policy neo4j",
        "export openlineage",
        "export contract",
    ),
    *("dlq list", "dlq show", "outbox list", "graph dump", "graph verify", "retention list", "token list"),
    *("audit verify", "audit search", "incident list", "incident show", "incident plan", "incident figures", "gate"),
    "campaign",
}
OTHERS = {
    "serve": "records each request by itself",
    "mcp": "records each question by itself",
    "run": "runs in a Spark driver; what its job writes is on the events topic",
    "login": "changes a file of the user alone; the server records what is asked",
    "logout": "the same",
    "audit key": "makes the key without which the configured audit can't be opened yet",
}
"""Commands without a record ⇒ why."""


def leaves() -> Iterator[str]:
    """All commands, with the words that name them."""
    for name, command in command_list.COMMANDS.items():
        if command.module.startswith(command_list.CHECKOUT_ONLY):
            continue  # measures stacks of its own
        module = cli._load(name)
        if not hasattr(module, "app"):
            yield name
            continue
        assert not module.app.registered_groups
        for info in module.app.registered_commands:
            callback: Any = info.callback
            yield f"{name} {info.name or callback.__name__.replace('_', '-')}"


def test_every_command_is_known_to_change_something_or_not() -> None:
    """A new command that changes something belongs into `headwater.command_list.CHANGES`."""
    classified = [*command_list.CHANGES, *READS, *OTHERS]
    assert len(set(classified)) == len(classified)
    assert sorted(leaves()) == sorted(classified)


@pytest.fixture
def audit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "audit.jsonl"
    monkeypatch.setenv("HEADWATER_AUDIT_FILE", str(path))
    monkeypatch.setenv("HEADWATER_DATA_DIR", str(tmp_path / "data"))
    return path


@pytest.fixture
def probe(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[..., None]], None]:
    """Make a function the command `probe change`, which changes something."""

    def register(function: Callable[..., None]) -> None:
        module = ModuleType("headwater.commands.probe")
        module.app = typer.Typer()  # type: ignore[attr-defined]
        module.app.command("change")(function)
        module.app.command("read")(function)
        monkeypatch.setitem(__import__("sys").modules, module.__name__, module)
        monkeypatch.setitem(command_list.COMMANDS, "probe", command_list.Command(module.__name__, "Probes", "Probes."))
        monkeypatch.setattr(auditing, "CHANGES", {"probe change"})

    return register


def records(path: Path) -> list[dict[str, Any]]:
    return [each for each in (json.loads(line.data) for line in lines_of([path])) if "request" in each]


def test_a_command_leaves_its_intent_and_its_exit_status(
    audit: Path, probe: Callable[[Callable[..., None]], None], subtests: pytest.Subtests
) -> None:
    ends: list[BaseException | None] = []

    def change(
        names: list[str],
        password: Annotated[str | None, typer.Option()] = None,
        tenant: Annotated[str | None, typer.Option()] = None,
        limit: Annotated[int, typer.Option()] = 3,
        yes: Annotated[bool, typer.Option("--yes")] = False,
        json_output: Annotated[bool, typer.Option("--json")] = False,
    ) -> None:
        assert [each["kind"] for each in records(audit)] == ["INTENT"]
        if ends[-1] is not None:
            raise ends[-1]

    probe(change)
    for end, status in [
        (None, 0),
        (InputError("no"), 2),
        (UnreachableError("away"), 4),
        (ZeroDivisionError("defect"), 1),
        (KeyboardInterrupt(), 130),
        (SystemExit(7), 7),
        (typer.Exit(3), 3),
    ]:
        with subtests.test(end=repr(end)):
            audit.unlink(missing_ok=True)
            ends.append(end)
            assert cli.main(["probe", "change", "a", "b\n", "--password", "hunter2", "--tenant", "t"]) == status
            intent, outcome = records(audit)
            assert (outcome["kind"], outcome["exit"], outcome["command"]) == ("OUTCOME", status, "probe change")
            assert outcome["filters"] == {
                "names": ["a", "b\n"],
                "password": ["[redacted]"],
                "tenant": ["t"],
                "limit": ["3"],
            }
            assert (intent["request"], intent["tenant"], intent["source"]) == (outcome["request"], "t", "command")
            assert intent["subject"]
            assert "hunter2" not in audit.read_text()


def test_a_command_that_reads_leaves_none(audit: Path, probe: Callable[[Callable[..., None]], None]) -> None:
    probe(lambda: None)
    assert cli.main(["probe", "read"]) == 0
    assert not audit.exists()


def test_a_command_that_can_not_be_recorded_does_not_begin(
    audit: Path,
    probe: Callable[[Callable[..., None]], None],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    ran: list[int] = []
    probe(lambda: ran.append(1))
    monkeypatch.setenv("HEADWATER_AUDIT_FILE", str(audit / "missing"))
    assert cli.main(["probe", "change"]) == ExitCode.UNREACHABLE
    assert not ran
    assert "Nothing was changed" in capsys.readouterr().err
    monkeypatch.setenv("HEADWATER_AUDIT_REQUIRED", "false")
    assert cli.main(["probe", "change"]) == 0
    assert ran == [1]
    shown = capsys.readouterr().err
    assert "This run isn't recorded" in shown
    assert "outcome of this run isn't recorded" in shown


def test_settings_that_can_not_be_used_are_refused(
    audit: Path,
    probe: Callable[[Callable[..., None]], None],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    probe(lambda: None)
    monkeypatch.setenv("HEADWATER_AUDIT_KEY_FILE", str(audit))
    assert cli.main(["probe", "change"]) == ExitCode.CONFIGURATION
    assert "HEADWATER_AUDIT_KEY_FILE" in capsys.readouterr().err
    monkeypatch.setenv("HEADWATER_AUDIT_TOPIC", "true")
    assert cli.main(["probe", "change"]) == ExitCode.BAD_INPUT
    assert "exclude each other" in capsys.readouterr().err
    monkeypatch.delenv("HEADWATER_AUDIT_FILE")
    monkeypatch.delenv("HEADWATER_AUDIT_KEY_FILE")
    assert cli.main(["probe", "change"]) == ExitCode.CONFIGURATION
    assert "No Kafka is configured" in capsys.readouterr().err


def test_a_command_of_the_stack_needs_no_topic_of_its_own_kafka(
    audit: Path, probe: Callable[[Callable[..., None]], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    probe(lambda: None)
    monkeypatch.setattr(auditing, "OF_THE_STACK", {"probe change"})
    assert cli.main(["probe", "change"]) == 0
    assert len(records(audit)) == 2, "a file has it"
    monkeypatch.delenv("HEADWATER_AUDIT_FILE")
    monkeypatch.setenv("HEADWATER_AUDIT_TOPIC", "true")
    assert cli.main(["probe", "change"]) == 0


def test_a_key_is_made_and_its_public_part_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["audit", "key", str(tmp_path / "key.pem"), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert len(document["public_key"]) == 43
    assert cli.main(["audit", "key", str(tmp_path / "key.pem")]) == ExitCode.BAD_INPUT
    assert "PRIVATE" not in "".join(capsys.readouterr())


def test_verification_ends_with_5_and_the_place(
    audit: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key = signer()
    write(file_writer(audit, by=key), 3)
    public = tmp_path / "public"
    public.write_text(f"{key.public}\n")
    for named in (key.public, str(public)):
        assert cli.main(["audit", "verify", "--public-key", named, "--json"]) == 0
    earlier = capsys.readouterr().out
    document = json.loads(earlier[earlier.rindex('{\n  "lines"') :])
    assert (document["sound"], document["records"], document["heads_checked"]) == (True, 3, 2)
    heads = tmp_path / "heads.json"
    heads.write_text(json.dumps(document))
    assert cli.main(["audit", "verify", "--heads", str(heads)]) == 0

    lines = audit.read_bytes().splitlines(keepends=True)
    audit.write_bytes(b"".join(lines[:-1]))
    assert cli.main(["audit", "verify", "--file", str(audit)]) == 0, "as if the process had been killed"
    assert "not closed" in capsys.readouterr().out
    assert cli.main(["audit", "verify", "--heads", str(heads)]) == ExitCode.CHECK_FAILED
    assert "cut off" in capsys.readouterr().out

    audit.write_bytes(b"".join([*lines[:2], lines[2].replace(b"orders-1", b"orders-7"), *lines[3:]]))
    assert cli.main(["audit", "verify"]) == ExitCode.CHECK_FAILED
    shown = capsys.readouterr()
    assert f"{audit}:3" in shown.out
    assert "changed" in shown.out


def test_what_can_not_be_read_is_bad_input(audit: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cases = [
        ["verify"],
        ["verify", "--file", str(tmp_path)],
        ["verify", "--file", "x", "--topic"],
        ["verify", "--public-key", "x"],
        ["verify", "--heads", str(audit)],
        ["verify", "--heads", __file__],
        ["search"],
        ["search", "--since", "tomorrow"],
        ["search", "--outcome", "x"],
    ]
    for arguments in cases:
        assert cli.main(["audit", *arguments]) == ExitCode.BAD_INPUT, arguments
    monkeypatch.delenv("HEADWATER_AUDIT_FILE")
    assert cli.main(["audit", "verify"]) == ExitCode.BAD_INPUT


def test_a_search_prints_records_one_by_one(audit: Path, capsys: pytest.CaptureFixture[str]) -> None:
    writer = file_writer(audit)
    for number in range(5):
        writer.write(record(number, address="\x1b[2J\u202e"))
    writer.close()
    assert cli.main(["audit", "search", "--dataset", "orders-3"]) == 0
    shown = capsys.readouterr()
    (line,) = shown.out.splitlines()
    assert line.isprintable()
    assert all(part in line for part in ("2026-11-28T05:00:03.000Z", "token:ci", "asset", "done 200", "orders-3"))
    assert "1 record." in shown.err
    assert cli.main(["audit", "search", "--until", "2026-11-28T05:00:02Z", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [each["results"] for each in document["records"]] == [0, 1]
    assert cli.main(["audit", "search", "--subject", "nobody", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"records": []}


def test_a_search_shows_lines_that_somebody_made_up(audit: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made_up: list[dict[str, Any]] = [
        {"kind": []},
        {"kind": "OUTCOME", "time": 7},
        {"kind": "OUTCOME", "time": "7", "status": [], "filters": {"a": 1}, "source": {}, "results": {}},
        {"kind": "INTENT", "time": "8", "exit": {}, "filters": {"a": [[], None]}, "operation": ["x\n"]},
    ]
    audit.write_text("".join(f"{json.dumps(each)}\n" for each in made_up))
    assert cli.main(["audit", "search", "--dataset", "", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["records"]) == 1
    assert cli.main(["audit", "search"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
    assert cli.main(["audit", "search", "--outcome", "failed"]) == 0
    assert cli.main(["audit", "verify"]) == ExitCode.CHECK_FAILED


def test_the_private_key_of_the_settings_gives_the_public_one(
    audit: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make_key(tmp_path / "key.pem")
    write(file_writer(audit, by=signer()), 1)
    monkeypatch.setenv("HEADWATER_AUDIT_KEY_FILE", str(tmp_path / "key.pem"))
    assert cli.main(["audit", "verify"]) == ExitCode.CHECK_FAILED
    assert "signature" in capsys.readouterr().out
