"""Committed list of jars: exact coordinates, SHA-256 and size, one jar per line.

    org.apache.kafka:kafka-clients:4.1.1 sha256:2f6a…e1 9876543

A line is `organisation:artifact:version[:classifier] sha256:<hex> <bytes>`; `#` begins a comment. The lists are
complete: only named jars are fetched. `python -m headwater.stack.relock` writes them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import resources
from pathlib import PurePosixPath
from typing import Literal, TypeAlias

from headwater.errors import ConfigurationError
from headwater.stack.spark import SPARK_JARS, Release, SparkJars, installed_release, lock_file

LockName: TypeAlias = Literal["kafka", "neo4j", "openlineage", "openlineage-spark3", "flink"] | SparkJars

_LINE = re.compile(r"(?P<coordinates>\S+) sha256:(?P<sha256>[0-9a-f]{64}) (?P<size>[1-9][0-9]*)")
_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")


@dataclass(frozen=True, slots=True, order=True)
class Jar:
    """One locked jar.

    Attributes:
        sha256: 64 lower-case hex digits of the whole file.
        size: Size in bytes.
    """

    organisation: str
    artifact: str
    version: str
    classifier: str
    sha256: str
    size: int

    @property
    def coordinates(self) -> str:
        """`organisation:artifact:version[:classifier]`, as in the lock."""
        parts = [self.organisation, self.artifact, self.version, self.classifier]
        return ":".join(part for part in parts if part)

    @property
    def path(self) -> PurePosixPath:
        """Path below the cache's `jars` folder: `organisation/artifact-version[-classifier].jar`."""
        name = "-".join(part for part in (self.artifact, self.version, self.classifier) if part)
        return PurePosixPath(self.organisation, f"{name}.jar")


def read_lock(name: LockName, release: Release | None = None) -> tuple[Jar, ...]:
    """Return the jars of a committed lock, in classpath order.

    Args:
        release: Spark version of a Spark lock; default: the installed one.

    Raises:
        ConfigurationError: This version of Spark has no such jars.
    """
    file = lock_file(name, release or installed_release()) if name in SPARK_JARS else f"{name}.lock"
    text = resources.files("headwater.stack").joinpath(f"locks/{file}").read_text(encoding="utf-8")
    return parse_lock(text, where=file)


def parse_lock(text: str, *, where: str) -> tuple[Jar, ...]:
    """Parse a lock.

    Args:
        where: Name of the text in an error.

    Raises:
        ConfigurationError: A line is malformed or repeated; the message has its number.
    """
    jars: dict[str, Jar] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        entry = line.split("#", 1)[0].strip()
        if not entry:
            continue
        match = _LINE.fullmatch(entry)
        parts = match["coordinates"].split(":") if match else []
        if not match or len(parts) not in (3, 4) or not all(map(_PART.fullmatch, parts)):
            raise ConfigurationError(f"{where}, line {number}: not a locked jar: {entry!r}.")
        organisation, artifact, version, classifier = (*parts, "")[:4]
        jar = Jar(organisation, artifact, version, classifier, match["sha256"], int(match["size"]))
        if jar.coordinates in jars:
            raise ConfigurationError(f"{where}, line {number}: {jar.coordinates} is listed twice.")
        jars[jar.coordinates] = jar
    return tuple(jars.values())


def render_lock(jars: Iterable[Jar], *, heading: str) -> str:
    """Format a lock for `parse_lock`, with `heading` as its comment."""
    lines = [f"# {line}" for line in heading.splitlines()]
    lines += [f"{jar.coordinates} sha256:{jar.sha256} {jar.size}" for jar in jars]
    return "\n".join(lines) + "\n"
