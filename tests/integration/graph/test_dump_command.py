"""`headwater graph dump` as a user runs it."""

from __future__ import annotations

import hashlib
import json
import random
from pathlib import Path

import pytest

from headwater.cli import main
from headwater.errors import ExitCode
from headwater_graph.fold import fold
from headwater_graph.oracle import oracle
from headwater_graph.write import GraphWriter
from support.graph.colliding import colliding_events
from support.stack import StackUnderTest

pytestmark = [pytest.mark.stack, pytest.mark.usefixtures("settings_of_stack")]


@pytest.fixture
def expected(writer: GraphWriter) -> bytes:
    delta = fold(colliding_events(random.Random(3), 40))
    writer.apply(delta)
    return "".join(f"{line}\n" for line in oracle(delta)).encode()


def test_to_stdout(expected: bytes, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["graph", "dump"]) == ExitCode.DONE
    assert capfdbinary.readouterr().out == expected


def test_to_a_file(expected: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "graph.jsonl"
    assert main(["graph", "dump", "-o", str(file), "--json"]) == ExitCode.DONE
    assert file.read_bytes() == expected
    document = json.loads(capsys.readouterr().out)
    assert document["sha256"] == hashlib.sha256(expected).hexdigest()
    assert document["lines"] == sum(document["nodes"].values()) + sum(document["relationships"].values())
    assert [path.name for path in tmp_path.iterdir()] == ["graph.jsonl"]


def test_json_alone_compares_graphs(expected: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["graph", "dump", "--json"]) == ExitCode.DONE
    assert json.loads(capsys.readouterr().out)["sha256"] == hashlib.sha256(expected).hexdigest()


def test_no_such_folder(writer: GraphWriter, tmp_path: Path) -> None:
    assert main(["graph", "dump", "-o", str(tmp_path / "none" / "graph.jsonl")]) == ExitCode.BAD_INPUT


UNREADABLE = [
    ("PASSWORD", "not-it", ExitCode.CONFIGURATION),
    ("DATABASE", "elsewhere", ExitCode.NOT_FOUND),
    ("URI", "bolt://127.0.0.1:1", ExitCode.UNREACHABLE),
]


@pytest.mark.parametrize(("setting", "value", "status"), UNREADABLE)
def test_what_cant_be_read(
    stack: StackUnderTest, monkeypatch: pytest.MonkeyPatch, setting: str, value: str, status: ExitCode
) -> None:
    monkeypatch.setenv(f"HEADWATER_NEO4J_{setting}", value)
    assert main(["graph", "dump"]) == status
