"""LocalFiles: small text files of this machine."""

from __future__ import annotations

from pathlib import Path


class LocalFiles:
    """TextFiles without a JVM. Paths are plain or URIs with the scheme `file`, as Spark writes them."""

    def read(self, path: str) -> str | None:
        """The file's text in UTF-8; None where there is no such file.

        Raises:
            OSError: it is there and can't be read.
        """
        try:
            return plain(path).read_text(encoding="utf-8")
        except FileNotFoundError:
            return None

    def names(self, folder: str) -> list[str]:
        """The names of what is in a folder, in no order; none where there is no such folder.

        Raises:
            OSError: it is there and can't be read.
        """
        try:
            return [each.name for each in plain(folder).iterdir()]
        except FileNotFoundError:
            return []


def is_local(path: str) -> bool:
    """Whether a path, as Spark resolved it, is one of this machine."""
    return path.startswith(("/", "file:"))


def plain(path: str) -> Path:
    """Spark writes `file:/x` as well as `file:///x`, and doesn't escape what is in it."""
    return Path("/" + path.removeprefix("file:").lstrip("/"))
