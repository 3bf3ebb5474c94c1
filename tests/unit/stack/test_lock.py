"""The committed list of jars: its grammar, and what must hold of the lists themselves."""

from __future__ import annotations

import pytest

from headwater.errors import ConfigurationError
from headwater.stack.lock import Jar, LockName, parse_lock, read_lock, render_lock

HASH = "a" * 64


def test_a_line_names_coordinates_hash_and_size() -> None:
    (jar,) = parse_lock(f"# heading\n\nio.netty:netty-epoll:4.1.2:linux-x86_64 sha256:{HASH} 77 # native\n", where="x")
    assert jar == Jar("io.netty", "netty-epoll", "4.1.2", "linux-x86_64", HASH, 77)
    assert str(jar.path) == "io.netty/netty-epoll-4.1.2-linux-x86_64.jar"


@pytest.mark.parametrize(
    "line",
    [
        f"org:artifact sha256:{HASH} 1",
        f"org:artifact:1:c:d sha256:{HASH} 1",
        f"org:artifact:1 sha256:{HASH[:-1]} 1",
        f"org:artifact:1 sha256:{HASH.upper()} 1",
        f"org:artifact:1 sha256:{HASH} 0",
        f"org:artifact:1 sha256:{HASH}",
        f"org:../artifact:1 sha256:{HASH} 1",
        f'org:arti"fact:1 sha256:{HASH} 1',
    ],
)
def test_a_malformed_line_is_refused_by_its_number(line: str) -> None:
    with pytest.raises(ConfigurationError, match=r"some\.lock, line 2"):
        parse_lock(f"# heading\n{line}\n", where="some.lock")


def test_a_jar_may_stand_there_once() -> None:
    line = f"org:artifact:1 sha256:{HASH} 1\n"
    with pytest.raises(ConfigurationError, match="twice"):
        parse_lock(line + line, where="x")


def test_what_is_written_is_read_back() -> None:
    jars = read_lock("kafka")
    assert parse_lock(render_lock(jars, heading="two\nlines"), where="x") == jars


@pytest.mark.parametrize("name", ["kafka", "neo4j", "openlineage", "spark", "tables"])
def test_one_lock_has_each_module_in_one_version_and_each_file_once(name: LockName) -> None:
    jars = read_lock(name)
    versions = {(jar.organisation, jar.artifact): jar.version for jar in jars}
    assert all(versions[jar.organisation, jar.artifact] == jar.version for jar in jars)
    assert len({jar.path for jar in jars}) == len(jars)


def test_locks_agree_on_the_jars_they_share() -> None:
    names: tuple[LockName, ...] = ("kafka", "neo4j", "openlineage", "spark", "tables")
    known: dict[str, str] = {}
    for jar in (jar for name in names for jar in read_lock(name)):
        assert known.setdefault(jar.coordinates, jar.sha256) == jar.sha256
