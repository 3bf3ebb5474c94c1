"""Marks: short words that stand for paths, for the full-text index `headwater_position_paths`.

A run or micro-batch that read or wrote a file is found by the file's mark among the `_marks` of its positions, in
milliseconds however many there are. The paths themselves can't be indexed: Lucene takes no word over 32,766 bytes, and
a commit with a longer one stops the database. Whoever looks a mark up compares the paths as well: 64 bits may coincide.

    file:///lake/d/dt=1/part-0   ⇒ marks of  file:/lake/d/dt=1/part-0  and of its partition  file:/lake/d/dt=1
    s3a://b/d/part-0             ⇒ mark of   s3://b/d/part-0
    dt=1/hour=2                  ⇒ marks of  dt=1/hour=2  and  dt=1    (a table's partition)
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_URI = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(?://([^/]*))?(.*)", re.DOTALL)
_SCHEMES = {"s3a": "s3", "s3n": "s3", "abfs": "abfss", "wasb": "wasbs"}


def path_marks(paths: Iterable[str]) -> list[str]:
    """The marks of some paths and of the partitions (`key=value` folders) they are in, sorted."""
    return sorted({_mark(place) for path in paths for place in _places(canonical_path(path))})


def path_mark(path: str) -> str:
    """The mark of one path or partition: 16 hex digits."""
    return _mark(canonical_path(path))


def canonical_path(path: str) -> str:
    """One spelling of a path for all: `file:///x`, `file://localhost/x` and `/x` are `file:/x`, `s3a:` is `s3:`.

    What begins with neither a scheme nor a slash, as a table's partition does, only loses slashes at its end.
    """
    found = _URI.fullmatch(path)
    if found is None:
        scheme, authority, rest = ("file", "", path) if path.startswith("/") else ("", "", path)
    else:
        scheme, authority, rest = found[1].lower(), found[2] or "", found[3]
    scheme = _SCHEMES.get(scheme, scheme)
    rest = re.sub(r"/{2,}", "/", rest).rstrip("/")
    if scheme == "file" and authority.lower() == "localhost":
        authority = ""
    return f"{scheme}://{authority}{rest}" if authority else f"{scheme}:{rest}" if scheme else rest


def is_within(path: str, place: str) -> bool:
    """Whether a path is a file or partition, or lies in it; both canonical."""
    return path == place or path.startswith(place + "/")


def _places(path: str) -> Iterator[str]:
    yield path
    for slash in reversed([match.start() for match in re.finditer("/", path)]):
        folder = path[:slash]
        if "=" in folder.rpartition("/")[2]:
            yield folder


def _mark(place: str) -> str:
    return hashlib.blake2b(place.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
