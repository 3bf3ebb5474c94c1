from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from headwater_producers.outbox import OutboxUnusableError
from headwater_producers.outbox.locked_file import create_locked
from headwater_producers.outbox.store import SUFFIX, Store, size_of
from headwater_schemas.record import Record
from support.outbox import record


def _numbers(store: Store, after: int = 0) -> list[int]:
    return [number for number, _ in store.read(after, max_events=1_000, max_bytes=1_000_000)]


def _append(store: Store, records: list[tuple[int, Record]]) -> None:
    store.append(records)
    store.admit(records)


def _left(path: Path) -> list[int]:
    """Numbers in the file of an outbox that is gone."""
    adopted = Store.adopt(path)
    assert adopted is not None
    numbers = _numbers(adopted)
    adopted.close()
    return numbers


def _dead(folder: Path, names: range) -> Path:
    """The file of an outbox that is gone."""
    store = Store.create(folder)
    _append(store, [(number, record(f"e{number}")) for number in names])
    store.close()
    return store.path


def test_what_is_written_is_read_in_order_and_removed(tmp_path: Path) -> None:
    store = Store.create(tmp_path)
    records = [(number, record(f"e{number}", size=number)) for number in range(1, 6)]
    _append(store, records)
    assert store.read(0, max_events=10, max_bytes=10_000) == records
    assert store.read(2, max_events=2, max_bytes=10_000) == records[2:4]
    assert store.read(0, max_events=10, max_bytes=1) == records[:1], "one at least, however large"
    assert store.bytes == sum(size_of(one) for _, one in records)
    assert (store.forget([1, 3, 3, 99]), store.count, store.oldest()) == (2, 3, 2)
    assert store.bytes == sum(size_of(one) for number, one in records if number not in {1, 3})
    assert store.forget_oldest(1) == 1
    assert _numbers(store) == [4, 5]
    store.close()


def test_an_empty_one_leaves_nothing_behind(tmp_path: Path) -> None:
    store = Store.create(tmp_path)
    _append(store, [(1, record("e1"))])
    store.forget([1])
    store.close()
    assert list(tmp_path.iterdir()) == []


def test_a_commit_is_on_the_disk_before_it_returns(tmp_path: Path) -> None:
    """FULL syncs the log with each commit; NORMAL, which only the next checkpoint does, loses what came since."""
    path = tmp_path / f"one{SUFFIX}"
    connection = create_locked(path)
    assert connection is not None
    full = 2
    assert connection.execute("PRAGMA synchronous").fetchone() == (full,)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert connection.execute("PRAGMA locking_mode").fetchone() == ("exclusive",)
    connection.close()


def test_a_new_file_is_durable_under_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it the folder may not list the file after the machine went down, with all that was committed to it."""
    synced = []
    sync = os.fsync

    def recording(descriptor: int) -> None:
        synced.append(os.fstat(descriptor).st_ino)
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", recording)
    Store.create(tmp_path).close()
    assert synced == [tmp_path.stat().st_ino]


def test_the_dead_are_adopted_and_the_living_are_not(tmp_path: Path) -> None:
    alive = Store.create(tmp_path)
    _append(alive, [(1, record("e1"))])
    assert Store.adopt(alive.path) is None, "within this process"
    code = (
        "import sys; from pathlib import Path; from headwater_producers.outbox.store import Store\n"
        "sys.exit(0 if Store.adopt(Path(sys.argv[1])) is None else 3)"
    )
    assert subprocess.run([sys.executable, "-c", code, str(alive.path)], check=False).returncode == 0, "from another"
    alive.close()
    assert _left(alive.path) == [1]


def test_of_many_who_want_it_at_most_one_gets_it(tmp_path: Path) -> None:
    path = _dead(tmp_path, range(1, 4))
    found: list[Store | None] = []
    ready = threading.Barrier(8)

    def want() -> None:
        ready.wait()
        found.append(Store.adopt(path))

    threads = [threading.Thread(target=want) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8, "nobody stumbled"
    winners = [store for store in found if store is not None]
    assert len(winners) <= 1, "none, where they were in each other's way: they look again"
    for store in winners:
        store.close()
    assert _left(path) == [1, 2, 3]


def test_a_torn_tail_costs_nothing_that_was_committed_before_it(tmp_path: Path) -> None:
    """Power loss leaves a log whose last bytes never reached the disk, here at every length."""
    store = Store.create(tmp_path)
    _append(store, [(1, record("e1"))])
    committed = store.path.with_name(f"{store.path.name}-wal").stat().st_size
    _append(store, [(number, record(f"e{number}", size=3_000)) for number in range(2, 5)])
    # The files as they are now, copied by another process: a lock of this one would go with its last descriptor.
    image = tmp_path / "image"
    image.mkdir()
    subprocess.run(["cp", str(store.path), f"{store.path}-wal", str(image)], check=True)
    log = (image / f"{store.path.name}-wal").read_bytes()
    main = (image / store.path.name).read_bytes()
    whole = 0
    for length in range(committed, len(log) + 1, 509):
        place = tmp_path / f"cut{length}"
        place.mkdir()
        path = place / store.path.name
        path.write_bytes(main)
        path.with_name(f"{path.name}-wal").write_bytes(log[:length] + b"\xff" * 64)
        found = _left(path)
        assert found in ([1], [1, 2, 3, 4]), "a commit is all there or not at all"
        whole += len(found) == 4
    store.close()
    assert 0 <= whole <= 1


def test_a_file_that_was_never_finished_is_cleared_away(tmp_path: Path) -> None:
    (tmp_path / f"x{SUFFIX}").touch()
    assert Store.adopt(tmp_path / f"x{SUFFIX}") is None
    assert list(tmp_path.iterdir()) == []


def test_a_later_version_is_left_alone(tmp_path: Path) -> None:
    path = _dead(tmp_path, range(1, 2))
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 2")
    connection.close()
    with pytest.raises(OutboxUnusableError, match="later version"):
        Store.adopt(path)


def test_a_full_disk_takes_all_of_a_group_or_nothing(tmp_path: Path) -> None:
    store = Store.create(tmp_path)
    _append(store, [(1, record("e1"))])
    [pages] = store._connection.execute("PRAGMA page_count").fetchone()
    store._connection.execute(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(OutboxUnusableError, match="database or disk is full"):
        _append(store, [(number, record(f"e{number}", size=3_000)) for number in range(2, 9)])
    assert (store.count, _numbers(store)) == (1, [1])
    store._connection.execute(f"PRAGMA max_page_count = {pages + 1_000}")
    _append(store, [(number, record(f"e{number}", size=3_000)) for number in range(2, 9)])
    assert _numbers(store) == list(range(1, 9))
    store.close()


def test_what_the_disk_refuses_to_delete_is_gone_all_the_same(tmp_path: Path) -> None:
    """Deleting takes space, too. On a full disk the delivered must not count as held, nor be relayed for ever."""
    store = Store.create(tmp_path)
    _append(store, [(number, record(f"e{number}")) for number in range(1, 4)])
    store._connection.execute("PRAGMA query_only = ON")
    assert store.forget([1, 2]) == 2
    store.purge()
    assert (store.count, _numbers(store)) == (1, [3])
    with pytest.raises(OutboxUnusableError):
        _append(store, [(4, record("e4"))])
    store._connection.execute("PRAGMA query_only = OFF")
    _append(store, [(4, record("e4"))])
    store.close()
    assert _left(store.path) == [3, 4], "the debt was paid with the next write"


@pytest.mark.parametrize("deletes", ["the next event", "purging", "closing"])
def test_what_was_delivered_is_deleted_with_whatever_comes_next(tmp_path: Path, deletes: str) -> None:
    store = Store.create(tmp_path)
    _append(store, [(1, record("e1")), (2, record("e2"))])
    assert (store.forget([1]), store.owed, _numbers(store)) == (1, 1, [2])
    match deletes:
        case "the next event":
            _append(store, [(3, record("e3"))])
            assert store.owed == 0
        case "purging":
            store.purge()
            assert store.owed == 0
    left = _numbers(store)
    store.close()
    assert _left(store.path) == left


FORKING = """
import os, signal, sys
from pathlib import Path
from headwater_producers.outbox.store import Store
from support.outbox import record

store = Store.create(Path(sys.argv[1]))
store.append([(1, record("e1"))])
child = os.fork()
if child == 0:
    sys.exit(0)  # with all that the end of an interpreter closes
os.waitpid(child, 0)
assert Store.adopt(store.path) is None
store.append([(2, record("e2"))])
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_forked_child_that_ends_takes_nothing_along(tmp_path: Path) -> None:
    """It has a copy of the connection, and SQLite in it believes to own the file."""
    path = os.pathsep.join([str(Path(__file__).parents[2]), *sys.path])
    ended = subprocess.run(
        [sys.executable, "-c", FORKING, str(tmp_path)],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    [path_left] = tmp_path.glob(f"*{SUFFIX}")
    assert _left(path_left) == [1, 2]
