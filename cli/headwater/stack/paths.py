"""Where the stack keeps things: downloads in the user's cache folder, data in the user's data folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def cache_dir() -> Path:
    """Downloads, shared by all checkouts: `HEADWATER_CACHE_DIR`, else the platform's cache folder; may not exist."""
    return _chosen("HEADWATER_CACHE_DIR", xdg="XDG_CACHE_HOME", unix=".cache", macos="Library/Caches")


def data_dir() -> Path:
    """The embedded stack's data: `HEADWATER_DATA_DIR`, else the platform's data folder; may not exist."""
    return _chosen("HEADWATER_DATA_DIR", xdg="XDG_DATA_HOME", unix=".local/share", macos="Library/Application Support")


def demo_dir() -> Path:
    """What `headwater demo` keeps, its own stack's data included; may not exist."""
    return data_dir() / "demo"


def _chosen(variable: str, *, xdg: str, unix: str, macos: str) -> Path:
    if chosen := os.environ.get(variable):
        return Path(chosen).expanduser().absolute()
    if base := os.environ.get(xdg):
        return Path(base) / "headwater"
    return Path.home() / (macos if sys.platform == "darwin" else unix) / "headwater"
