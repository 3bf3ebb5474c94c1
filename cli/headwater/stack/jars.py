"""Verified cache of jars: missing locked jars are fetched, checked and placed; existing ones are only checked.

    <cache>/jars/<organisation>/<artifact>-<version>[-<classifier>].jar    verified, read by every checkout
    <cache>/ivy/<lock>                                                     Ivy's own cache, only while fetching

A jar is renamed to its final name after its SHA-256 was verified. So an interrupted download leaves only complete jars,
and the next attempt fetches the others.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rich.progress import DownloadColumn

from headwater.console import console
from headwater.errors import ConfigurationError
from headwater.stack import ivy
from headwater.stack.lock import Jar, LockName, read_lock
from headwater.stack.paths import cache_dir


def ensure_jars(name: LockName) -> list[Path]:
    """Return the verified jars of one lock, in classpath order; fetch missing and damaged jars.

    Two processes at once are safe: the second waits for the first and uses its jars.

    Raises:
        ConfigurationError: A jar does not have the locked checksum; it was not kept.
        UnreachableError: The download failed; complete jars are kept.
    """
    jars = read_lock(name)
    folder = cache_dir() / "jars"
    if _wrong(jars, folder):
        with _locked(cache_dir() / "jars.lock"):
            if missing := _wrong(jars, folder):
                _fetch(name, missing, folder)
    return [folder / jar.path for jar in jars]


def fetch_jars(*names: LockName) -> None:
    """Fetch the jars of these locks. For commands with a live display, which begins after the fetch's display."""
    for name in names:
        ensure_jars(name)


def place(jars: Sequence[Jar], arrived: Path, folder: Path) -> None:
    """Move the downloaded and valid jars into the cache.

    Raises:
        ConfigurationError: Some jars are missing or wrong; the message has coordinates and both checksums. The valid
            jars are placed nevertheless; the others are deleted.
    """
    wrong = []
    for jar in jars:
        source, target = arrived / jar.path, folder / jar.path
        digest = _digest(source)
        if digest != jar.sha256:
            source.unlink(missing_ok=True)
            wrong.append(f"{jar.coordinates} has sha256 {digest or '(no file)'}, not {jar.sha256}")
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        source.replace(target)
    if wrong:
        raise ConfigurationError(
            f"Downloaded files differ from the lock file and were deleted: {'; '.join(wrong)}.",
            fix="Run the command again. If it fails again, something between here and the repository changes files.",
        )


def _fetch(name: LockName, jars: Sequence[Jar], folder: Path) -> None:
    cache = cache_dir() / "ivy" / name
    folder.mkdir(parents=True, exist_ok=True)
    for left_by_a_kill in cache_dir().glob("arriving-*"):
        shutil.rmtree(left_by_a_kill)
    total = sum(jar.size for jar in jars)
    console.message(f"Fetching {len(jars)} jars for {name} ({total / 1e6:.0f} MB) into {folder}")
    with tempfile.TemporaryDirectory(dir=cache_dir(), prefix="arriving-") as arrived:
        with ivy.run(name, _dependencies(jars), cache=cache, flat=True, retrieve=Path(arrived)) as lines:
            _show(name, lines, jars)
        try:
            place(jars, Path(arrived), folder)
        finally:
            # Also after a wrong checksum: Ivy would return the same bytes again.
            shutil.rmtree(cache, ignore_errors=True)


def _dependencies(jars: Sequence[Jar]) -> str:
    # One element for each module: Ivy would drop one of two elements that differ only in the classifier.
    modules: dict[tuple[str, str, str], list[Jar]] = {}
    for jar in jars:
        modules.setdefault((jar.organisation, jar.artifact, jar.version), []).append(jar)
    return "\n".join(
        f'<dependency org="{organisation}" name="{artifact}" rev="{version}" transitive="false"'
        f' conf="default->default">{"".join(map(_artifact, variants))}</dependency>'
        for (organisation, artifact, version), variants in modules.items()
    )


def _artifact(jar: Jar) -> str:
    # The lock's grammar allows no characters that XML would have to escape.
    classifier = f' m:classifier="{jar.classifier}"' if jar.classifier else ""
    return f'<artifact name="{jar.artifact}" type="jar" ext="jar"{classifier}/>'


def _show(name: LockName, lines: Iterator[str], jars: Sequence[Jar]) -> None:
    # [SUCCESSFUL ] org.neo4j#neo4j-cypher;5.26.30!neo4j-cypher.jar (120ms)
    size = {(jar.organisation, jar.artifact): jar.size for jar in jars}
    with console.progress(DownloadColumn()) as progress:
        task = progress.add_task(name, total=sum(jar.size for jar in jars))
        for line in lines:
            if match := re.search(r"\[SUCCESSFUL \] ([^#\s]+)#([^;]+);", line):
                progress.advance(task, size.get((match[1], match[2]), 0))


def _wrong(jars: Sequence[Jar], folder: Path) -> list[Jar]:
    # Hashing all 190 MB takes 0.2 s on two cores, so every start does it and notices damaged or changed files.
    with ThreadPoolExecutor() as pool:
        digests = pool.map(lambda jar: _digest(folder / jar.path), jars)
        return [jar for jar, digest in zip(jars, digests, strict=True) if digest != jar.sha256]


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return ""


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            console.message("Waiting for another headwater that is fetching jars")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
