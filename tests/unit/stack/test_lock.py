"""The committed list of jars: its grammar, and what must hold of the lists themselves."""

from __future__ import annotations

import pytest

from headwater.errors import ConfigurationError
from headwater.stack.lock import Jar, LockName, parse_lock, read_lock, render_lock
from headwater.stack.spark import RELEASES, Release, release_of

HASH = "a" * 64


def test_a_line_names_coordinates_hash_and_size() -> None:
    (jar,) = parse_lock(f"# heading\n\nio.netty:netty-epoll:4.1.2:linux-x86_64 sha256:{HASH} 77 # native\n", where="x")
    assert jar == Jar("io.netty", "netty-epoll", "4.1.2", "linux-x86_64", HASH, 77)
    assert str(jar.path) == "io.netty/netty-epoll-4.1.2-linux-x86_64.jar"


def test_a_malformed_line_is_refused_by_its_number(subtests: pytest.Subtests) -> None:
    cases = [
        f"org:artifact sha256:{HASH} 1",
        f"org:artifact:1:c:d sha256:{HASH} 1",
        f"org:artifact:1 sha256:{HASH[:-1]} 1",
        f"org:artifact:1 sha256:{HASH.upper()} 1",
        f"org:artifact:1 sha256:{HASH} 0",
        f"org:artifact:1 sha256:{HASH}",
        f"org:../artifact:1 sha256:{HASH} 1",
        f'org:arti"fact:1 sha256:{HASH} 1',
    ]
    for line in cases:
        with subtests.test(line=line), pytest.raises(ConfigurationError, match=r"some\.lock, line 2"):
            parse_lock(f"# heading\n{line}\n", where="some.lock")


def test_a_jar_may_stand_there_once() -> None:
    line = f"org:artifact:1 sha256:{HASH} 1\n"
    with pytest.raises(ConfigurationError, match="twice"):
        parse_lock(line + line, where="x")


def test_what_is_written_is_read_back() -> None:
    jars = read_lock("kafka")
    assert parse_lock(render_lock(jars, heading="two\nlines"), where="x") == jars


LOCKS: list[tuple[LockName, Release | None]] = [("kafka", None), ("neo4j", None), ("openlineage", None)]
LOCKS += [(name, release) for release in RELEASES for name in release.modules]


def test_one_lock_has_each_module_in_one_version_and_each_file_once(subtests: pytest.Subtests) -> None:
    for name, release in LOCKS:
        with subtests.test(name=name, release=release):
            jars = read_lock(name, release)
            versions = {(jar.organisation, jar.artifact): jar.version for jar in jars}
            assert all(versions[jar.organisation, jar.artifact] == jar.version for jar in jars)
            assert len({jar.path for jar in jars}) == len(jars)


def test_locks_agree_on_the_jars_they_share() -> None:
    known: dict[str, str] = {}
    for jar in (jar for name, release in LOCKS for jar in read_lock(name, release)):
        assert known.setdefault(jar.coordinates, jar.sha256) == jar.sha256


def test_the_locks_of_a_spark_are_made_of_what_the_table_has_for_it(subtests: pytest.Subtests) -> None:
    for release in RELEASES:
        with subtests.test(release.name):
            for name, module in release.modules.items():
                assert module in {jar.coordinates for jar in read_lock(name, release)}


def test_a_format_without_jars_for_a_spark_is_named_with_the_sparks_that_have_them() -> None:
    with pytest.raises(ConfigurationError, match=r"no jars of iceberg for Spark 4\.2\.") as refused:
        read_lock("iceberg", release_of("4.2.0"))
    assert refused.value.fix == "Use a PySpark of 3.5, 4.0, 4.1 for it."
    with pytest.raises(ConfigurationError, match=r"no jars of delta for Spark 4\.3\.") as refused:
        read_lock("delta", release_of("4.3.0"))
    assert refused.value.fix == "Use a PySpark of 3.5, 4.0, 4.1, 4.2 for it."


def test_a_pyspark_has_the_jars_of_its_minor_version(
    subtests: pytest.Subtests, capsys: pytest.CaptureFixture[str]
) -> None:
    cases = [("3.5.1", "3.5"), ("4.0.0", "4.0"), ("4.1.0.dev2", "4.1"), ("4.2.9", "4.2"), ("4.3.0", "4.3")]
    for pyspark, name in cases:
        with subtests.test(pyspark=pyspark):
            assert release_of(pyspark).name == name
            assert capsys.readouterr().err == ""


def test_an_unknown_pyspark_has_those_of_the_nearest_with_a_warning(
    subtests: pytest.Subtests, capsys: pytest.CaptureFixture[str]
) -> None:
    for pyspark, name in [("4.4.0", "4.3"), ("5.0.0", "4.3"), ("3.4.1", "3.5")]:
        with subtests.test(pyspark=pyspark):
            assert release_of(pyspark).name == name
            assert f"No jars are known for PySpark {pyspark}" in capsys.readouterr().err
