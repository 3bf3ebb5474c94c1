"""Running Ivy, with a shell script in Java's place."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.errors import UnreachableError
from headwater.stack import ivy
from headwater.stack.java import JavaRuntime
from headwater.stack.state import ProcessId


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEADWATER_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(ivy, "java_runtime", lambda: JavaRuntime(tmp_path, 17, "PATH"))
    (tmp_path / "bin").mkdir()
    return tmp_path


def says(home: Path, script: str) -> None:
    (home / "bin" / "java").write_text(f"#!/bin/sh\n{script}\n")
    (home / "bin" / "java").chmod(0o755)


def lines(home: Path) -> list[str]:
    with ivy.run("x", "", cache=home / "ivy", flat=True, retrieve=home / "out") as output:
        return list(output)


def test_every_line_is_given_to_the_last(home: Path) -> None:
    says(home, "echo one; echo two; printf three")
    assert "".join(lines(home)) == "one\ntwo\nthree"


def test_a_failure_is_reported_with_its_causes_once(home: Path) -> None:
    says(home, "for i in 1 2 3; do echo 'resolving'; echo ' SERVER ERROR: Bad Gateway '; done; exit 1")
    with pytest.raises(UnreachableError, match=r"^The jars could not be downloaded\. SERVER ERROR: Bad Gateway$"):
        lines(home)


def test_leaving_early_ends_it(home: Path) -> None:
    says(home, "echo begun; echo $$; exec sleep 600")
    with ivy.run("x", "", cache=home / "ivy", flat=True, retrieve=home / "out") as output:
        assert next(output) == "begun\n"
        program = ProcessId.of(int(next(output)))
        assert program.alive()
    assert not program.alive()


def test_the_repository_is_asked_through_the_proxy_of_the_environment(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("https_proxy", raising=False)
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example:3128")
    says(home, 'printf "%s\\n" "$@"')
    assert {"-Dhttps.proxyHost=proxy.example\n", "-Dhttps.proxyPort=3128\n"} <= set(lines(home))
