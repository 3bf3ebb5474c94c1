"""Rules of committed files: no package registry's host, no path of somebody's machine, one noun in a module."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from support.waiting import patience

ROOT = Path(__file__).parents[3]

# Written in parts, for this file is committed too.
REGISTRY_HOSTS = [
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("maven", "org"),
        ("maven", "apache", "org"),
        ("npmjs", "org"),
        ("npmjs", "com"),
        ("yarnpkg", "com"),
        ("crates", "io"),
        ("golang", "org"),
        ("docker", "io"),
        ("ghcr", "io"),
        ("quay", "io"),
        ("gcr", "io"),
    )
]
HOSTS = re.compile(r"(?<![\w-])(?:" + "|".join(map(re.escape, REGISTRY_HOSTS)) + r")(?![\w-])")
LOCK_FILES = {"uv.lock"}  # uv writes where each wheel came from; that is what makes it a lock

PERSONAL_PATHS = re.compile(r"(?<![\w.])(?:/home/\w|/Users/\w|/root/|[A-Z]:\\Users)")

LONGEST_MODULE = 600  # lines; as long as the concept, and a file that needs more holds two


def committed() -> list[Path]:
    """The files that are, or on the next `git add` would be, committed."""
    try:
        listed = subprocess.run(
            ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            capture_output=True,
            check=True,
            timeout=patience(30),
        ).stdout.decode()
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout, so there is no list of committed files")
    return [path for name in listed.split("\0") if name and (path := ROOT / name).is_file()]


def text_lines(path: Path) -> list[str]:
    data = path.read_bytes()
    return [] if b"\0" in data else data.decode("utf-8", errors="replace").splitlines()


def found(pattern: re.Pattern[str], *, besides: set[str]) -> list[str]:
    return [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:120]}"
        for path in committed()
        if path.name not in besides
        for number, line in enumerate(text_lines(path), start=1)
        if pattern.search(line)
    ]


def test_no_registry_is_named() -> None:
    """Registries are the installing machine's own setting: a mirror, an archive, the public default."""
    assert found(HOSTS, besides=LOCK_FILES) == []


def test_no_path_of_a_machine_is_named() -> None:
    assert found(PERSONAL_PATHS, besides=LOCK_FILES | {Path(__file__).name}) == []
    if len(ROOT.parts) > 2:  # a checkout at /src would match what is not a machine's
        assert found(re.compile(re.escape(str(ROOT)) + r"\b"), besides=set()) == []


def test_a_module_holds_one_noun() -> None:
    folders = {"schemas", "openlineage", "graph", "analysis", "producers", "consumers", "review", "server", "cli"}
    folders |= {"spark_jobs", "scripts"}
    lengths = {
        str(path.relative_to(ROOT)): len(text_lines(path))
        for path in committed()
        if path.suffix == ".py" and path.relative_to(ROOT).parts[0] in folders
    }
    assert {name: lines for name, lines in lengths.items() if lines > LONGEST_MODULE} == {}


def test_the_guard_sees_a_host() -> None:
    for host in REGISTRY_HOSTS:
        assert HOSTS.search(f"index-url = https://{host}/simple"), host
        assert not HOSTS.search(f"our-{host}"), host


def test_the_guard_sees_a_path() -> None:
    for path in ("/home/ada/x", "see /Users/ada", "/root/.cache", "C:\\Users\\ada"):
        assert PERSONAL_PATHS.search(path), path
    assert not PERSONAL_PATHS.search("$HOME/x, ~/x and https://example.com/home/x")
