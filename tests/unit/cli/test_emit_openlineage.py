"""`headwater emit openlineage`: which documents are found, sent, refused and counted."""

from __future__ import annotations

import io
import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from rich.progress import Progress

from headwater.cli import main
from headwater.commands import emit
from headwater.commands.emit import EmissionCounts, _send_when_there_is_room, _streamed
from headwater.errors import UnreachableError
from headwater_openlineage.intake.sink import Undeliverable
from support.events import full_run_event
from support.openlineage import PRODUCER, FakeSink, run_data


def check(capsys: pytest.CaptureFixture[str], *files: str) -> tuple[int, dict[str, Any]]:
    status = main(["emit", "openlineage", *files, "--dry-run", "--json"])
    return status, json.loads(capsys.readouterr().out)


def test_arrays_and_lines_are_read_from_files_and_from_stdin(
    subtests: pytest.Subtests, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cases = [
        b"[" + run_data(1) + b",\n" + run_data(2) + b"]",
        run_data(1) + b"\n\n" + run_data(2) + b"\n",
        b"\n \n" + run_data(1) + b"\r\n" + run_data(2),
        json.dumps([json.loads(run_data(1)), json.loads(run_data(2))], indent=2).encode(),
    ]
    for data in cases:
        with subtests.test(data=data):
            (tmp_path / "events").write_bytes(data)
            status, document = check(capsys, str(tmp_path / "events"))
            assert (status, document["read"], document["refused"]) == (0, 2, 0)
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
            assert check(capsys, "-")[1] == document


def test_a_file_may_be_one_document(
    subtests: pytest.Subtests, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for indent in [None, 2]:
        with subtests.test(indent=indent):
            for number in range(2):
                (tmp_path / f"{number}.json").write_text(json.dumps(json.loads(run_data(number)), indent=indent))
            status, document = check(capsys, *(str(tmp_path / f"{number}.json") for number in range(2)))
            assert (status, document["read"], document["refused"]) == (0, 2, 0)


def test_what_is_refused_is_named_by_file_line_and_field(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "events.jsonl"
    lines = [run_data(1), b"{nonsense}", b"", run_data(2, run={}), b"[" * 1_000 + b"]" * 1_000, run_data(3)]
    file.write_bytes(b"\n".join(lines))
    status, document = check(capsys, str(file))
    assert (status, document["read"], document["refused"]) == (2, 5, 3)
    found = [(each["line"], each["pointer"], each["reason"]) for each in document["refusals"]]
    assert found == [(2, "", "not_json"), (4, "/run/runId", "not_an_event"), (5, "", "not_json")]
    assert all(each["file"] == str(file) and each["message"] for each in document["refusals"])
    assert main(["emit", "openlineage", str(file), "--dry-run"]) == 2
    printed = capsys.readouterr()
    assert f"{file}, line 4: /run/runId: " in printed.err
    assert "3 of 5 events were refused" in printed.err


def test_what_is_not_to_the_letter_is_sent_and_noted_or_refused_if_strict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "events.jsonl"
    file.write_bytes(run_data(1) + b"\n" + run_data(2, run={"runId": "run-17"}) + b"\n" + run_data(3))
    status, document = check(capsys, str(file))
    assert (status, document["refused"], document["noted"]) == (0, 0, 1)
    assert [(each["line"], each["pointer"]) for each in document["notes"]] == [(2, "/run/runId")]
    status, document = check(capsys, "--strict", str(file))
    assert (status, document["refused"], document["refusals"][0]["line"], document["noted"]) == (2, 1, 2, 0)
    monkeypatch.setenv("HEADWATER_OPENLINEAGE_STRICT", "true")
    assert check(capsys, str(file))[0] == 2


def test_an_array_that_is_torn_is_refused_after_what_is_whole(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "events.json").write_bytes(b"[" + run_data(1) + b",\n" + run_data(2)[:-1])
    status, document = check(capsys, str(tmp_path / "events.json"))
    assert (status, document["read"], document["refused"]) == (2, 1, 1)
    assert "the array isn't closed" in document["refusals"][0]["message"]


def test_refusals_are_all_counted_and_so_many_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(emit, "_MOST_LISTED", 3)
    (tmp_path / "events").write_bytes(b"{}\n" * 50)
    status, document = check(capsys, str(tmp_path / "events"))
    assert (status, document["refused"], len(document["refusals"])) == (2, 50, 3)


def test_files_that_arent_there_and_an_empty_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(capsys, str(tmp_path / "none"))[0] == 2
    (tmp_path / "empty").touch()
    status, document = check(capsys, str(tmp_path / "empty"))
    assert (status, document["read"]) == (0, 0)


def test_lines_of_a_stream_are_given_as_they_come() -> None:
    class Slow(io.RawIOBase):
        given = 0

        def readable(self) -> bool:
            return True

        def readline(self, _size: int | None = -1) -> bytes:
            self.given += 1
            return run_data(self.given) + b"\n"

    stream = Slow()
    found = _streamed(stream)  # type: ignore[arg-type]
    assert [next(found).line for _ in range(3)] == [1, 2, 3]
    assert stream.given == 3


def test_a_full_buffer_is_waited_for_while_anything_arrives(monkeypatch: pytest.MonkeyPatch) -> None:
    sink, done, waits = FakeSink(), EmissionCounts(), []
    sink.room = 0
    clock = [0.0]

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        clock[0] += 50
        if len(waits) < 4:
            done.sent += 1
        else:
            sink.room = 1

    monkeypatch.setattr(time, "sleep", sleep)
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    _send_when_there_is_room([full_run_event()], sink, lambda _: None, done)
    assert (len(waits), len(sink.taken)) == (4, 1)
    sink.room = 0
    monkeypatch.setattr(time, "sleep", lambda _: clock.__setitem__(0, clock[0] + 50))
    with pytest.raises(UnreachableError, match="3 events were sent, then none for 60 s"):
        _send_when_there_is_room([full_run_event()], sink, lambda _: None, done)


def test_an_event_too_large_for_kafka_is_refused_by_its_line() -> None:
    done = EmissionCounts()
    done.settled("f", 7, 3, [Undeliverable(each, "MSG_SIZE_TOO_LARGE", for_good=True) for each in ("1", "2")])
    done.settled("f", 8, 2, [])
    done.settled("f", 9, 2, [Undeliverable("3", "NOT_AUTHORIZED", for_good=False)])
    assert (done.sent, done.refused, done.too_large, done.failed) == (4, 1, 2, 1)
    assert (done.refusals[0].line, done.refusals[0].reason) == (7, "too_large")


def test_the_longest_document_is_a_setting(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "events.jsonl"
    file.write_bytes(run_data(1, producer="https://example.com/" + "x" * (1 << 20)))
    status, document = check(capsys, str(file))
    assert status == 2
    assert "at most 1,048,576" in document["refusals"][0]["message"]
    monkeypatch.setenv("HEADWATER_OPENLINEAGE_DOCUMENT_MAX_BYTES", str(2 << 20))
    assert check(capsys, str(file))[0] == 0


def test_it_shows_how_far_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[dict[str, Any]] = []
    monkeypatch.setattr(Progress, "update", lambda *_, **what: shown.append(what))
    file = tmp_path / "events.jsonl"
    lines = [run_data(1), b"nonsense", run_data(2)]
    file.write_bytes(b"\n".join(lines))
    check(capsys, str(file))
    assert [each["advance"] for each in shown] == [len(line) for line in lines]
    assert shown[-1]["description"].endswith("1 refused")


def test_a_correction_is_of_datasets_and_jobs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dataset = {
        "eventTime": "2026-11-20T10:00:00Z",
        "producer": PRODUCER,
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/DatasetEvent",
        "dataset": {"namespace": "postgres://db:5432", "name": "shop.public.orders", "facets": {}},
    }
    (tmp_path / "events").write_bytes(json.dumps(dataset).encode() + b"\n" + run_data(1))
    status = main(["emit", "openlineage", str(tmp_path / "events"), "--correct", "planted", "--dry-run", "--json"])
    document = json.loads(capsys.readouterr().out)
    assert (status, document["events"], document["refused"]) == (2, 1, 1)
    assert "--correct is for DatasetEvents and JobEvents" in document["refusals"][0]["message"]
