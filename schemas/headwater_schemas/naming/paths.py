r"""Files and objects: the dataset's directory, from any path inside it.

| platform        | namespace                           | name                           |
|-----------------|-------------------------------------|--------------------------------|
| local files     | `file`, or `file://{host}`          | path, with its leading slash   |
| s3, s3a, s3n    | `s3://{bucket}`                     | key, without a leading slash   |
| gs              | `gs://{bucket}`                     | key, without a leading slash   |
| wasb, wasbs     | `wasbs://{container}@{host}`        | key, without a leading slash   |
| abfs, abfss     | `abfss://{container}@{host}`        | path, with its leading slash   |
| hdfs, dbfs, any | `{scheme}://{authority}`            | path, with its leading slash   |

These suffixes are removed, repeatedly; partitions by date or run are removed in mid-path, too:

    …/dt=2013-01-01/hour=05      Hive partitions
    …/2013/01/01, …/2013-01-01, …/20130101   dates as folders
    …/part-00000-7f.snappy.parquet           files that Spark, Hive or MapReduce wrote
    …/_delta_log/…, …/_spark_metadata/…, …/_temporary/…   metadata of a table

Writers use a path literally, and so does `path`: a `[`, `*`, `?` or `{` is part of a name. Readers use a path as a
pattern, which `path_pattern` cuts before the first step with an unescaped wildcard:

    …/*.csv, …/{a,b}/x           ⇒ …
    …/out\[1\]/x                 ⇒ …/out[1]/x, the folder's name for a writer
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from headwater_schemas.events.common import DatasetRef

_URI = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]+):(?://(?P<authority>[^/]*))?(?P<path>.*)", re.DOTALL)
# Hadoop's GlobPattern: a backslash takes the next character literally, a lone `]` or `}` means itself.
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_GLOB = re.compile(r"[*?{\[]")
_HIDDEN = frozenset({"_delta_log", "_spark_metadata", "_temporary", "_committed", "_started", "_SUCCESS"})
_PARTITION = re.compile(r"([^=]+)=(.*)")
_TIME_KEYS = frozenset(
    {"date", "day", "ds", "dt", "hour", "hr", "minute", "month", "run", "run_id", "snapshot", "ts", "week", "year"}
)
_DAY = r"(?:0[1-9]|[12]\d|3[01])"
_CLOCK = r"[T_-]?\d\d(?::?\d\d){0,2}Z?"
# A year alone is no date: `census/2020` may well be the dataset's name.
_DATE = re.compile(rf"(?:19|20)\d\d-?(?:0[1-9]|1[0-2])(?:-?{_DAY}(?:{_CLOCK})?)?")
_DATE_FOLDERS = re.compile(r"/(?:19|20)\d\d/(?:0?[1-9]|1[0-2])(?:/(?:0?[1-9]|[12]\d|3[01])(?:/(?:[01]?\d|2[0-3]))?)?$")
_PART_FILE = re.compile(r"part-(?:[mr]-)?\d+.*|\d{6}_\d+(?:_copy_\d+)?(?:\..*)?")


@dataclass(frozen=True, slots=True)
class LocalFiles:
    """Files of this machine, or of `host` if the URI names one."""

    schemes: ClassVar[tuple[str, ...]] = ("file",)
    authority: str
    path: str

    @property
    def ref(self) -> DatasetRef:
        """E.g. `file`, `/data/flights`."""
        host = _without_user(self.authority).lower()
        return DatasetRef("file" if host in {"", "localhost"} else f"file://{host}", self.path or "/")


@dataclass(frozen=True, slots=True)
class ObjectStore:
    """Objects in a bucket or container; keys have no leading slash."""

    aliases: ClassVar[dict[str, str]] = {
        "s3": "s3",
        "s3a": "s3",
        "s3n": "s3",
        "gs": "gs",
        "wasb": "wasbs",
        "wasbs": "wasbs",
    }
    scheme: str
    authority: str
    path: str

    @property
    def ref(self) -> DatasetRef:
        """E.g. `s3://lake`, `flights`."""
        bucket = self.authority if self.aliases[self.scheme] == "wasbs" else _without_user(self.authority)
        return DatasetRef(f"{self.aliases[self.scheme]}://{bucket}", self.path.lstrip("/") or "/")


@dataclass(frozen=True, slots=True)
class DistributedFiles:
    """Any other file system, e.g. HDFS, ADLS and DBFS."""

    aliases: ClassVar[dict[str, str]] = {"abfs": "abfss"}
    scheme: str
    authority: str
    path: str

    @property
    def ref(self) -> DatasetRef:
        """E.g. `hdfs://namenode:8020`, `/data/flights`."""
        scheme = self.aliases.get(self.scheme, self.scheme)
        # In abfss://container@account the part before the @ is no user.
        authority = self.authority if scheme == "abfss" else _without_user(self.authority).lower()
        return DatasetRef(f"{scheme}://{authority}" if authority else scheme, self.path or "/")


def path(uri: str) -> DatasetRef:
    """Return the dataset at a path, or the dataset that contains the path. Never raises: an odd path gets an odd name.

    Args:
        uri: path of a file, directory or partition, as Hadoop's `Path` prints it: not percent-encoded. Taken literally.
    """
    return _named(*_split(uri.strip()))


def path_pattern(uri: str) -> DatasetRef:
    """Return the dataset of a reader's path, cut before the first step with a glob, escapes resolved. Never raises.

    Args:
        uri: path as a program gives it to `spark.read.load`, `readStream` or `sc.textFile`.
    """
    scheme, authority, raw = _split(uri.strip())
    return _named(scheme, authority, _until_glob(raw))


def _named(scheme: str, authority: str, raw: str) -> DatasetRef:
    dataset = _dataset_path(raw)
    if scheme in LocalFiles.schemes:
        return LocalFiles(authority, dataset).ref
    if scheme in ObjectStore.aliases:
        return ObjectStore(scheme, authority, dataset).ref
    return DistributedFiles(scheme, authority, dataset).ref


def _split(uri: str) -> tuple[str, str, str]:
    # One letter before the colon is a Windows drive: the pattern's scheme has at least two letters.
    if found := _URI.fullmatch(uri):
        scheme, authority, raw = found["scheme"].lower(), found["authority"] or "", found["path"]
    else:
        raw = uri.replace("\\", "/") if re.match(r"[A-Za-z]:[\\/]", uri) else uri
        scheme, authority, raw = "file", "", f"/{raw}" if raw[1:2] == ":" else raw
    if scheme in {"abfs", "abfss", "wasb", "wasbs", "http", "https"}:
        raw = raw.partition("?")[0]  # a shared access signature
    return scheme, authority, raw


def _until_glob(raw: str) -> str:
    kept: list[str] = []
    for step in raw.split("/"):
        if _GLOB.search(_ESCAPED.sub("", step)):
            break
        kept.append(_ESCAPED.sub(r"\1", step))
    # Without its glob, `/*.csv` is the root.
    return "/" if kept == [""] else "/".join(kept)


def _dataset_path(raw: str) -> str:
    rooted = raw.startswith("/")
    segments = [segment for segment in raw.split("/") if segment not in {"", "."}]
    for index, segment in enumerate(segments):
        if segment in _HIDDEN:
            segments = segments[:index]
            break
    while segments:
        joined = "/" + "/".join(segments)
        last = segments[-1]
        if _PARTITION.fullmatch(last) or _PART_FILE.fullmatch(last) or _DATE.fullmatch(last):
            segments.pop()
        elif found := _DATE_FOLDERS.search(joined):
            segments = [segment for segment in joined[: found.start()].split("/") if segment]
        else:
            break
    kept = [segment for segment in segments if not _is_time_partition(segment)]
    return ("/" if rooted else "") + "/".join(kept)


def _is_time_partition(segment: str) -> bool:
    """Return True if a folder in mid-path belongs to one date or run; `env=prod/` may be another dataset."""
    found = _PARTITION.fullmatch(segment)
    return found is not None and (found[1].lower() in _TIME_KEYS or _DATE.fullmatch(found[2]) is not None)


def _without_user(authority: str) -> str:
    # s3a://KEY:SECRET@bucket
    return authority.rpartition("@")[2]
