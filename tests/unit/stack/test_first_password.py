"""Neo4j's first password, as its own files have it."""

from __future__ import annotations

import stat
from pathlib import Path

from headwater.stack import neo4j, paths


def test_the_line_is_salted_and_iterated_as_neo4j_does_it() -> None:
    line = neo4j.initial_user("secret", salt=bytes(range(32)))
    user, credential, flag = line.rstrip("\n").split(":")
    algorithm, digest, salt, iterations = credential.split(",")
    assert (user, algorithm, salt, iterations, flag) == ("neo4j", "SHA-256", bytes(range(32)).hex(), "1024", "")
    assert len(digest) == 64
    assert neo4j.initial_user("secret") != neo4j.initial_user("secret")


def test_a_private_file_is_its_owners_alone_from_the_start(tmp_path: Path) -> None:
    path = tmp_path / "password"
    path.write_text("old")
    path.chmod(0o644)
    paths.write_private(path, "new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text() == "new"
