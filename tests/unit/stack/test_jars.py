"""The cache of jars, with a scripted Ivy in place of the real one."""

from __future__ import annotations

import contextlib
import hashlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from headwater.errors import ConfigurationError, UnreachableError
from headwater.stack import ivy, jars
from headwater.stack.lock import Jar
from support.waiting import patience

CONTENT = {"one": b"first jar", "two": b"second jar"}


def locked(artifact: str) -> Jar:
    content = CONTENT[artifact]
    return Jar("org", artifact, "1.0", "", hashlib.sha256(content).hexdigest(), len(content))


@dataclass
class ScriptedIvy:
    """Delivers `served`, artifact by artifact, and counts how often it is run and for what."""

    served: dict[str, bytes]
    fails: bool = False
    asked: list[str] = field(default_factory=list)

    @contextlib.contextmanager
    def run(self, name: str, dependencies: str, *, cache: Path, flat: bool, retrieve: Path) -> Iterator[Iterator[str]]:
        self.asked.append(dependencies)
        cache.mkdir(parents=True)
        for artifact, content in self.served.items():
            if f'name="{artifact}"' in dependencies:
                target = retrieve / "org" / f"{artifact}-1.0.jar"
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
        yield iter(["[SUCCESSFUL ] org#one;1.0!one.jar (1ms)\n"])
        if self.fails:
            raise UnreachableError("no network")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEADWATER_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(jars, "read_lock", lambda _name: (locked("one"), locked("two")))
    return tmp_path


def scripted(monkeypatch: pytest.MonkeyPatch, served: dict[str, bytes], *, fails: bool = False) -> ScriptedIvy:
    script = ScriptedIvy(served, fails)
    monkeypatch.setattr(ivy, "run", script.run)
    return script


def kept(cache: Path) -> set[str]:
    return {path.relative_to(cache).as_posix() for path in cache.rglob("*") if path.is_file()} - {"jars.lock"}


def test_missing_jars_are_fetched_verified_and_put_in_place(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scripted(monkeypatch, CONTENT)
    assert [path.read_bytes() for path in jars.ensure_jars("kafka")] == [b"first jar", b"second jar"]
    assert kept(cache) == {"jars/org/one-1.0.jar", "jars/org/two-1.0.jar"}


def test_verified_jars_are_not_fetched_again(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = scripted(monkeypatch, CONTENT)
    jars.ensure_jars("kafka")
    jars.ensure_jars("kafka")
    assert len(script.asked) == 1


def test_of_a_bad_checksum_nothing_is_kept_and_the_good_ones_are(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scripted(monkeypatch, {**CONTENT, "two": b"second jaR"})
    with pytest.raises(ConfigurationError, match=r"org:two:1\.0 has sha256 \w{64}, not \w{64}"):
        jars.ensure_jars("kafka")
    assert kept(cache) == {"jars/org/one-1.0.jar"}

    script = scripted(monkeypatch, CONTENT)
    jars.ensure_jars("kafka")
    assert 'name="one"' not in script.asked[0]


def test_a_damaged_jar_is_fetched_again(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scripted(monkeypatch, CONTENT)
    damaged = jars.ensure_jars("kafka")[1]
    damaged.write_bytes(b"second jaR")  # the same size
    assert jars.ensure_jars("kafka")[1].read_bytes() == CONTENT["two"]


def test_a_failed_download_keeps_ivys_cache_for_the_next_attempt(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scripted(monkeypatch, {"one": CONTENT["one"]}, fails=True)
    with pytest.raises(UnreachableError):
        jars.ensure_jars("kafka")
    assert (cache / "ivy" / "kafka").is_dir()
    assert kept(cache) == set()


def test_what_a_killed_process_left_is_cleared_away(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (cache / "arriving-x" / "org").mkdir(parents=True)
    (cache / "arriving-x" / "org" / "one-1.0.jar").write_bytes(b"half")
    scripted(monkeypatch, CONTENT)
    jars.ensure_jars("kafka")
    assert not (cache / "arriving-x").exists()


def test_two_at_once_fetch_once(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = scripted(monkeypatch, CONTENT)
    begin = threading.Barrier(2)

    def ensure() -> None:
        begin.wait(patience(5))
        jars.ensure_jars("kafka")

    threads = [threading.Thread(target=ensure) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(patience(10))
    assert len(script.asked) == 1


def test_variants_of_one_module_share_an_element() -> None:
    variants = [Jar("io", "epoll", "1", kind, "0" * 64, 1) for kind in ("linux", "osx")]
    assert jars._dependencies(variants).count("<dependency ") == 1
