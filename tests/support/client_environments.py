"""Environments of real OpenLineage clients, each of its own, made by uv of a file of pinned requirements.

They are made once, in seconds to a minute, and kept in the cache folder; another version of the file is another one.
"""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

from headwater.stack.paths import cache_dir
from support.other_spark import run_uv


def programs_of(requirements: Path) -> Path:
    """The folder of the environment's programs.

    Raises:
        NotToBeHadError: uv is missing, or can't reach the packages.
    """
    digest = hashlib.blake2b(requirements.read_bytes(), digest_size=6).hexdigest()
    folder = cache_dir() / "openlineage-clients" / f"{requirements.parent.name}-{digest}"
    done = folder / "complete"
    if not done.exists():
        run_uv("venv", "--clear", "--python", sys.executable, str(folder), env=dict(os.environ))
        python = str(folder / "bin" / "python")
        run_uv("pip", "sync", "--python", python, str(requirements), env=dict(os.environ))
        done.touch()
    return folder / "bin"
