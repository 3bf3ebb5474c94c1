"""Nobody else on the machine can read what the embedded stack keeps."""

from __future__ import annotations

import sys
from pathlib import Path

from headwater.stack.info import Member, StackInfo
from headwater.stack.paths import OURS, private_folder, write_private
from headwater.stack.process import GuardedProcess
from support.waiting import patience

WRITES = "import pathlib, sys; folder = pathlib.Path(sys.argv[1]); folder.mkdir(); (folder / 'store').write_text('x')"


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_new_folder_is_its_owners_alone(tmp_path: Path) -> None:
    private_folder(tmp_path / "a" / "b", ours=OURS)
    assert mode(tmp_path / "a" / "b") == 0o700


def test_one_that_was_open_is_tightened_with_all_in_it(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "headwater", tmp_path / "elsewhere"
    store = folder / "kafka" / "data" / "store"
    store.parent.mkdir(parents=True)
    for path in (store, elsewhere):
        path.write_text("x")
        path.chmod(0o644)
    (folder / "kafka" / "link").symlink_to(elsewhere)
    for each in (folder, folder / "kafka", store.parent):
        each.chmod(0o755)
    private_folder(folder, ours=OURS)
    assert [mode(each) for each in (folder, folder / "kafka", store.parent)] == [0o700] * 3
    assert mode(store) == 0o600
    assert mode(elsewhere) == 0o644


def test_a_folder_that_holds_other_things_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("x")
    tmp_path.chmod(0o755)
    private_folder(tmp_path, ours=OURS)
    assert mode(tmp_path) == 0o755


def test_a_private_file_replaces_one_that_was_open(tmp_path: Path) -> None:
    path = tmp_path / "conf"
    path.write_text("old")
    path.chmod(0o644)
    write_private(path, "new")
    assert (path.read_text(), mode(path)) == ("new", 0o600)


def test_what_a_server_writes_is_private(tmp_path: Path) -> None:
    output = tmp_path / "output"
    program = GuardedProcess(
        "writer", [sys.executable, "-c", WRITES, str(tmp_path / "data")], output=output, private=True
    )
    program._guard.wait(patience(30))
    program.stop()
    assert (mode(tmp_path / "data"), mode(tmp_path / "data" / "store"), mode(output)) == (0o700, 0o600, 0o600)


def test_the_open_broker_is_reported_where_the_stack_is_described() -> None:
    member, somewhere = Member(1, "1", Path("/log")), Path("/x")
    info = StackInfo("h:1", "bolt://h:2", "neo4j", "http://h:3/", somewhere, somewhere, "21", member, member)
    kafka = info.document()["kafka"]
    assert isinstance(kafka, dict)
    assert kafka["authentication"] == "none"
    assert any("every user of this machine" in str(cell) for cell in info.table().columns[1].cells)
