"""Preparation of `headwater review`: scripts and tables, before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.errors import InputError
from headwater.reviewing import at_revision, tables_of
from support.review_in_ci import git


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with a job, and a link that leads out of it."""
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "--quiet")
    (folder / "job.py").write_text("old")
    (folder / "link").symlink_to("/etc/hostname")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "a")
    (folder / "job.py").write_text("new")
    return folder


def test_a_revision_without_the_links_that_lead_out_of_it(repository: Path, tmp_path: Path) -> None:
    found = at_revision(repository / "job.py", "HEAD", tmp_path / "there")
    assert found.path.read_text() == "old"
    assert sorted(path.name for path in (tmp_path / "there").iterdir()) == ["job.py"]


def test_what_is_no_revision_is_refused_and_no_option_of_git(
    subtests: pytest.Subtests, repository: Path, tmp_path: Path
) -> None:
    for revision in ["nowhere", "", "-h", "--list", "--output={}"]:
        with subtests.test(revision=revision):
            written = tmp_path / "written"
            with pytest.raises(InputError, match="--against"):
                at_revision(repository / "job.py", revision.format(written), tmp_path / "there")
            assert not written.exists()


def test_tables_that_are_none(subtests: pytest.Subtests, tmp_path: Path) -> None:
    cases = [
        (b"", "no JSON"),
        (b"\xff", "no JSON"),
        (b"[]", "an object of names"),
        (b"[" * 100_000, "nested too deep"),
        (b'{"a": 1' + b"1" * 5_000 + b"}", "no JSON"),
        (b'{"a": ""}', "a, line 1: is empty"),
        (b'{"a": 3}', "a, line 1"),
        (b'{"a": null}', "a, line 1"),
        (b'{"a": "id BIGNT"}', "a, line 1: not DDL"),
    ]
    for content, message in cases:
        with subtests.test(content=content):
            (tmp_path / "tables.json").write_bytes(content)
            with pytest.raises(InputError, match=message):
                tables_of(tmp_path / "tables.json")
