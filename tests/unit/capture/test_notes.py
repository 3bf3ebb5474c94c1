from __future__ import annotations

import os
import stat
import time
from pathlib import Path
from typing import TYPE_CHECKING

from headwater_producers.spark.streaming.interval_events import LastEmitted, LastEmittedStore

if TYPE_CHECKING:
    import pytest

QUERY = "5b0e7f3a-0000-4000-8000-00000000000a"
NOTE = LastEmitted(last=7, plan_digest="abc", quality=(("a.b", True),), versions='["v1", null, null]')


def test_the_next_process_reads_what_was_noted(tmp_path: Path) -> None:
    folder = tmp_path / "outbox" / "queries"
    assert LastEmittedStore(folder).read(QUERY) is None
    assert not folder.exists(), "an application without streaming queries leaves nothing behind"
    notes = LastEmittedStore(folder)
    notes.write(QUERY, LastEmitted(last=3))
    notes.write(QUERY, NOTE)
    assert LastEmittedStore(folder).read(QUERY) == NOTE
    assert [path.name for path in folder.iterdir()] == [f"{QUERY}.json"]


def test_a_note_is_its_owners_alone_as_everything_in_the_outbox(tmp_path: Path) -> None:
    folder = tmp_path / "outbox" / "destination" / "queries"
    LastEmittedStore(folder).write(QUERY, NOTE)
    made = [folder.parent.parent, folder.parent, folder, *folder.iterdir()]
    assert [stat.S_IMODE(path.stat().st_mode) for path in made] == [0o700, 0o700, 0o700, 0o600]


def test_without_a_folder_nothing_is_noted_or_known() -> None:
    notes = LastEmittedStore(None)
    notes.write(QUERY, NOTE)
    assert notes.read(QUERY) is None


def test_a_note_that_can_not_be_read_or_written_is_none_and_emitted_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "queries"
    folder.mkdir()
    (folder / f"{QUERY}.json").write_text('{"last": ')
    notes = LastEmittedStore(folder)
    assert notes.read(QUERY) is None
    # A file where the folder should be: nobody can write below it, root neither.
    in_the_way = LastEmittedStore(folder / f"{QUERY}.json" / "queries")
    in_the_way.write(QUERY, NOTE)
    in_the_way.write(QUERY, NOTE)
    assert caplog.text.count("can't be saved") == 2, "once for each of the two"


def test_an_id_that_is_no_name_of_a_file_is_not_noted(tmp_path: Path) -> None:
    notes = LastEmittedStore(tmp_path / "queries")
    notes.write("../../elsewhere", NOTE)
    assert notes.read("../../elsewhere") is None
    assert list(tmp_path.rglob("*")) == []


def test_queries_that_nobody_starts_any_more_are_forgotten(tmp_path: Path) -> None:
    notes = LastEmittedStore(tmp_path)
    for query in ("old", "young"):
        notes.write(query, NOTE)
    os.utime(tmp_path / "old.json", (time.time() - 500 * 86_400,) * 2)
    later = LastEmittedStore(tmp_path)
    assert (later.read("old"), later.read("young")) == (None, NOTE)
