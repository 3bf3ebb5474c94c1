"""Folders of the stack: downloads in the user's cache folder, data in the user's private data folder."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Final

# Umask of the servers and their programs: no other user may read a file or enter a folder.
PRIVATE_UMASK: Final = 0o077

# Everything that Headwater writes into the data folder. The user may have named a folder with other content.
OURS: Final = ("demo", "kafka", "neo4j", "ports.json", "stack.json", "supervisor.lock", "supervisor.log")


def cache_dir() -> Path:
    """Downloads, shared by all checkouts: `HEADWATER_CACHE_DIR`, else the platform's cache folder; may not exist."""
    return _chosen("HEADWATER_CACHE_DIR", xdg="XDG_CACHE_HOME", unix=".cache", macos="Library/Caches")


def data_dir() -> Path:
    """The embedded stack's data: `HEADWATER_DATA_DIR`, else the platform's data folder; may not exist."""
    return _chosen("HEADWATER_DATA_DIR", xdg="XDG_DATA_HOME", unix=".local/share", macos="Library/Application Support")


def demo_dir() -> Path:
    """Folder of `headwater demo`, its own stack's data included; may not exist."""
    return data_dir() / "demo"


def private_folder(folder: Path, *, ours: Collection[str] | None = None) -> None:
    """Create a folder that only its owner can enter, or restrict an existing one and its files to the owner.

    An existing folder is restricted with everything below it, because earlier releases left it open. Links are not
    followed, and other users' files stay unchanged.

    Args:
        ours: Names that Headwater writes, for a folder that the user may have chosen. A folder with other content, such
            as a home folder, stays unchanged. None: the folder is Headwater's own.
    """
    if not folder.exists():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    elif ours is not None and not {entry.name for entry in folder.iterdir()} <= {*ours}:
        return
    if _tightened(folder):
        for place, folders, files in os.walk(folder):
            for name in (*folders, *files):
                _tightened(Path(place, name))


def _tightened(path: Path) -> bool:
    """Remove other users' access to a path; return True if they had any."""
    found = path.lstat()
    mode = stat.S_IMODE(found.st_mode)
    if stat.S_ISLNK(found.st_mode) or found.st_uid != os.geteuid() or not mode & PRIVATE_UMASK:
        return False
    path.chmod(mode & ~PRIVATE_UMASK)
    return True


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read, from its creation on."""
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "w", encoding="utf-8") as file:  # noqa: PTH123  a descriptor, for its mode
        file.write(text)


def _chosen(variable: str, *, xdg: str, unix: str, macos: str) -> Path:
    if chosen := os.environ.get(variable):
        return Path(chosen).expanduser().absolute()
    if base := os.environ.get(xdg):
        return Path(base) / "headwater"
    return Path.home() / (macos if sys.platform == "darwin" else unix) / "headwater"
