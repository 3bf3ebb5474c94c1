"""Lines in files: several processes, rotation, unfinished lines, disks that are full."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from headwater_audit.errors import AuditUnwritableError
from headwater_audit.file import AuditFile, lines_of, rotated
from headwater_audit.verifying import AuditFault
from headwater_audit.writer import AuditWriter, Commit
from support.audit import file_writer, record, signer, verified, write
from support.waiting import eventually, patience

KEY = signer()

PROCESS = """
import sys
from pathlib import Path
from support.audit import file_writer, write
path, first, size = sys.argv[1:]
sys.stdin.readline()
write(file_writer(Path(path), max_bytes=int(size)), 200, int(first))
"""


def kinds(path: Path) -> list[str]:
    return [json.loads(line.data)["kind"] for line in lines_of([path])]


def test_a_file_has_the_records_in_order(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    write(file_writer(path, by=KEY), 5)
    assert kinds(path) == ["OPENED", *["OUTCOME"] * 4, "HEAD", "OUTCOME", "CLOSED"]
    assert path.stat().st_mode & 0o777 == 0o600
    found = verified(lines_of([path]), [KEY.public])
    assert (found.records, found.found, found.unclosed) == (5, 0, ())


def test_processes_share_a_file_and_its_rotation(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    started = [
        subprocess.Popen(
            [sys.executable, "-c", PROCESS, str(path), str(first), "20000"], stdin=subprocess.PIPE, env=environment
        )
        for first in (0, 1_000)
    ]
    try:
        for process in started:
            assert process.stdin is not None
            process.stdin.write(b"\n")
            process.stdin.close()
        assert [process.wait(patience(60)) for process in started] == [0, 0]
    finally:
        for process in started:
            process.kill()
            process.wait(patience(60))
    found = verified(lines_of([path]))
    assert (found.findings, found.unclosed, found.chains, found.records) == ((), (), 2, 400)
    assert [number for number, _ in rotated(path)] == list(range(1, len(rotated(path)) + 1))
    assert len(rotated(path)) > 3
    requests = [json.loads(line.data).get("request") for line in lines_of([path])]
    assert len({*requests} - {None}) == 400


def test_a_rotated_file_that_is_missing_is_found(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    for first in range(0, 40, 10):
        write(file_writer(path, max_bytes=2_000), 10, first)
    assert not verified(lines_of([path])).found
    for _, file in rotated(path)[:-1]:
        content = file.read_bytes()
        file.unlink()
        assert verified(lines_of([path])).found, f"without {file.name}"
        file.write_bytes(content)


def test_an_unfinished_line_of_a_killed_process_is_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    write(file_writer(path), 3)
    whole = path.read_bytes()
    cut = whole[: len(whole) - 100]
    path.write_bytes(cut)
    found = verified(lines_of([path]))
    assert (found.found, len(found.unclosed), found.unfinished) == (0, 1, (f"{path}:5",))

    write(file_writer(path), 1, first=3)
    found = verified(lines_of([path]))
    assert (found.findings, len(found.unclosed), found.unfinished) == ((), 1, (f"{path}:5",))

    lines = path.read_bytes().split(b"\n")
    lines[4] = b"somebody's own"
    path.write_bytes(b"\n".join(lines))
    found = verified(lines_of([path]))
    assert [(each.fault, each.place) for each in found.findings] == [
        (AuditFault.REMOVED, f"{path}:6"),
        (AuditFault.NOT_A_LINE, f"{path}:5"),
    ]


def test_an_unfinished_line_at_the_end_of_a_rotated_file_is_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    write(file_writer(path), 3)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) - 100])
    write(file_writer(path, max_bytes=100), 1, first=3)
    found = verified(lines_of([path]))
    assert (found.findings, found.unfinished) == ((), (f"{path}.000001:5",))


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Writes behind this size fail, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_refuses_and_what_is_lost_shows(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    writer = file_writer(path, by=KEY)
    writer.write(record(0))
    before = path.read_bytes()
    with largest_file(len(before) + 200):  # in the middle of a line
        for number in (1, 2):
            with pytest.raises(AuditUnwritableError, match="File too large"):
                writer.write(record(number))
        assert "File too large" in str(writer.problem)
        assert path.read_bytes() == before
    writer.write(record(3))
    assert str(writer.problem) == "None"
    writer.close()
    assert kinds(path) == ["OPENED", "OUTCOME", "LOST", "OUTCOME", "CLOSED"]
    found = verified(lines_of([path]), [KEY.public])
    assert (found.findings, found.unclosed, found.lost) == ((), (), 2)


def test_a_file_that_can_not_be_opened_refuses(tmp_path: Path) -> None:
    writer = file_writer(tmp_path / "missing" / "audit.jsonl")
    with pytest.raises(AuditUnwritableError, match="No such file"):
        writer.write(record(0))
    (tmp_path / "missing").mkdir()
    writer.write(record(1))
    writer.close()
    assert kinds(tmp_path / "missing" / "audit.jsonl") == ["OPENED", "LOST", "OUTCOME", "CLOSED"]


def test_part_of_a_line_that_can_not_be_cut_off_begins_another_chain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "audit.jsonl"
    writer = file_writer(path)
    writer.write(record(0))

    def refused(*_: object) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patched, largest_file(path.stat().st_size + 200):
        patched.setattr(os, "ftruncate", refused)
        with pytest.raises(AuditUnwritableError, match="some of the lines may be in it"):
            writer.write(record(1))
    writer.write(record(2))
    writer.close()
    found = verified(lines_of([path]))
    assert (found.findings, len(found.unclosed), found.chains) == ((), 1, 2)
    assert found.unfinished == (f"{path}:3",)
    opened = [json.loads(line.data) for line in lines_of([path]) if b'"OPENED"' in line.data]
    assert opened[1]["continues"] == f"{opened[0]['chain']}:1"


def test_records_share_a_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commits: list[Commit] = []
    writer = file_writer(tmp_path / "a")
    writer.committed = commits.append
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda number: writer.write(record(number)), range(400)))
    writer.close()
    assert sum(commit.durable for commit in commits) == 400
    assert len(commits) < 400
    assert not verified(lines_of([tmp_path / "a"])).found


def test_a_head_follows_in_time(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    writer = AuditWriter(
        AuditFile(path, max_bytes=1 << 30), signer=KEY, head_seconds=0.01, timeout_seconds=patience(30)
    )
    writer.write(record(0))
    eventually(lambda: kinds(path) == ["OPENED", "OUTCOME", "HEAD"])
    writer.close()
    assert kinds(path) == ["OPENED", "OUTCOME", "HEAD", "CLOSED"]


def test_a_closed_writer_takes_nothing(tmp_path: Path) -> None:
    writer = file_writer(tmp_path / "audit.jsonl")
    writer.close()
    with pytest.raises(AuditUnwritableError, match="closed"):
        writer.write(record(0))
