"""A PATH on which no java is found."""

from __future__ import annotations

import os
from pathlib import Path


def path_without_java(folder: Path) -> str:
    """The PATH, with each folder that has a `java` replaced by one of links to everything else in it."""
    entries = []
    for number, entry in enumerate(os.environ["PATH"].split(os.pathsep)):
        if not (Path(entry) / "java").exists():
            entries.append(entry)
            continue
        mirror = folder / f"path-{number}"
        mirror.mkdir()
        for program in Path(entry).iterdir():
            if program.name != "java":
                (mirror / program.name).symlink_to(program)
        entries.append(str(mirror))
    return os.pathsep.join(entries)
