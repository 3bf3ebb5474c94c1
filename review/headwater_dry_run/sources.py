"""Sources that a script reads ⇒ empty frames of their declared schemas."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING, Any, Final

from headwater_dry_run.channel import Channel
from headwater_dry_run.values import Value
from headwater_schemas import naming

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

_KAFKA: Final = (
    "key BINARY, value BINARY, topic STRING, partition INT, offset BIGINT, timestamp TIMESTAMP, timestampType INT"
)
_HEADERS: Final = ", headers ARRAY<STRUCT<key: STRING, value: BINARY>>"
_FIXED: Final = {
    "text": "value STRING",
    "socket": "value STRING",
    "binaryfile": "path STRING, modificationTime TIMESTAMP, length BIGINT, content BINARY",
    "rate": "timestamp TIMESTAMP, value BIGINT",
    "rate-micro-batch": "timestamp TIMESTAMP, value BIGINT",
}
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_.-]+")
_UNSAFE_IN_TABLES: Final = re.compile(r"[^A-Za-z0-9_]+")
# Formats that SQL reads by path: delta.`/lake/orders`.
_FORMATS: Final = frozenset({"delta", "iceberg", "parquet", "orc", "json", "csv", "text", "avro", "binaryfile"})


class MissingSchemaError(Exception):
    """A source has no declared schema."""

    def __init__(self, kind: str, name: str) -> None:
        super().__init__(f"the schema of the {kind} {name} isn't known")
        self.fix = f"Give its columns with --tables FILE: {json.dumps({name: 'id BIGINT, day DATE'})}."


@dataclass(frozen=True, slots=True)
class ScriptSource:
    """Source that a script reads, or target that it writes.

    Attributes:
        kind: `path`, `table`, `topic`, `jdbc` or `stream` (the rows that a foreachBatch gets).
        name: name of the dataset, without the scratch folder.
        options: read options that change the rows; sources that differ only in options are equal.
    """

    kind: str
    name: str
    options: str = field(default="", compare=False)

    def __str__(self) -> str:
        """Describe the source for people."""
        return f"{self.kind} {self.name}"


class Sources:
    """Provider of empty frames and tables, which replace the sources that the script reads.

    Args:
        scratch: working folder of the script.

    Attributes:
        identities: signature of each source that isn't a dataset, such as a stream's rows, by the source's name.
        streams: signatures of a stream's columns, by name of the stream and of the column.
        values: values of a stream's columns, by name of the stream and of the column.
        read: source fields of a stream's columns, by name of the stream and path of the column; see `output`.
        last_write: name of the script's last output; empty if there is none.
        compared: code objects of the script that Spark would call with rows. They don't run; their code is compared.
        missing: raised error by source without a declared schema; the script may have caught the error.
    """

    def __init__(self, session: SparkSession, channel: Channel, scratch: Path) -> None:
        self.session, self.channel, self.scratch = session, channel, scratch
        self.identities: dict[str, str] = {}
        self.streams: dict[str, dict[str, str]] = {}
        self.values: dict[str, dict[str, Value]] = {}
        self.read: dict[str, dict[str, list[dict[str, Any]]]] = {}
        self.last_write = ""
        self.compared: set[CodeType] = set()
        self.missing: dict[ScriptSource, MissingSchemaError] = {}
        self._written: dict[ScriptSource, StructType] = {}
        self._served: dict[str, ScriptSource] = {}
        self._tables: dict[str, ScriptSource] = {}
        self._made: set[str] = set()
        self._current: list[str] = []

    def forget(self) -> None:
        """Begin another script: forget the previous script's outputs, and report inputs again."""
        self._written.clear()
        self._served.clear()
        self._current = []
        self.last_write = ""
        self.missing.clear()
        self.compared.clear()
        for spark_name in self._made:
            self.session._jsparkSession.sql(f"DROP TABLE IF EXISTS {spark_name}")
            self._tables.pop(spark_name.lower(), None)
        self._made.clear()

    def wrote(self, source: ScriptSource, schema: StructType) -> None:
        """Record an output of the script; the script may read it again."""
        self._written[source] = schema

    def was_written(self, source: ScriptSource) -> bool:
        """Return True if the script would have written the source."""
        return source in self._written

    def frame(self, source: ScriptSource, schema: StructType | None, *, streaming: bool = False) -> DataFrame:
        """Return an empty frame in place of a source.

        Args:
            schema: schema that the script declares; None: the dataset's declared schema.
            streaming: True if the script reads the source as a stream.

        Raises:
            MissingSchemaError: no schema is declared.
        """
        known_schema = schema or self.schema(source)
        folder = self.folder(source)
        reader = (self.session.readStream if streaming else self.session.read).schema(known_schema)
        # The JVM's reader, since PySpark's methods are replaced.
        return self._frame(reader._jreader.format("parquet").load(str(folder)))

    def schema(self, source: ScriptSource) -> StructType:
        """Return a source's declared schema.

        Raises:
            MissingSchemaError: the dataset has no schema.
        """
        from pyspark.sql.types import _parse_datatype_string

        if source in self._written:
            return self._written[source]
        columns = self.channel.ask(source.kind, source.name)
        if columns is None:
            raise self.missing.setdefault(source, MissingSchemaError(source.kind, source.name))
        parsed: StructType = _parse_datatype_string(columns)  # type: ignore[assignment]
        return parsed

    def folder(self, source: ScriptSource) -> Path:
        """Return the empty folder for a source; its name is equal in each run."""
        digest = hashlib.sha256(f"{source}{source.options}".encode()).hexdigest()[:10]
        name = f"{_UNSAFE.sub('_', source.name)[-60:]}-{digest}"
        folder = self.scratch / "sources" / name
        if name not in self._served:
            folder.mkdir(parents=True, exist_ok=True)
            self._served[name] = source
            if source.kind != "stream":
                self.channel.report("input", {"kind": source.kind, "name": source.name})
        return folder

    def read_with(self) -> list[str]:
        """List sources with their read options, for people; sources without options are left out."""
        return [f"READ: {source.name} as {source.options}" for source in self._served.values() if source.options]

    def of_folder(self, path: str) -> ScriptSource | None:
        """Return the source behind a scratch folder."""
        return self._served.get(path.rstrip("/").rsplit("/", 1)[-1])

    def table(self, name: str) -> str:
        """Create a table for this name if missing; return its name in Spark.

        Raises:
            MissingSchemaError: the table has no declared schema.
        """
        parts = [part.strip("`") for part in _parts(name)]
        source, in_catalog = self.source_of_parts(parts), self._catalog_name(parts)
        if _quoted(in_catalog).lower() in self._tables and self._exists(in_catalog):
            self.folder(source)
        elif not self._exists(in_catalog):
            schema = self.schema(source)
            jvm: Any = self.session._jsparkSession
            struct = jvm.parseDataType(schema.json())
            spark_name = self._register(parts)
            jvm.catalog().createTable(spark_name, "parquet", struct, {"path": str(self.folder(source))})
        return _quoted(in_catalog)

    def made(self, parts: Sequence[str]) -> str:
        """Record that the script creates or drops a table; return its name in Spark."""
        spark_name = self._register(parts)
        self._made.add(spark_name)
        return spark_name

    def _register(self, parts: Sequence[str]) -> str:
        source, in_catalog = self.source_of_parts(parts), self._catalog_name(parts)
        if len(in_catalog) > 1:
            self.session._jsparkSession.sql(f"CREATE DATABASE IF NOT EXISTS `{in_catalog[0]}`")
        self._tables[_quoted(in_catalog).lower()] = source
        return _quoted(in_catalog)

    def use(self, parts: Sequence[str]) -> None:
        """Set the current database, to which names without a database belong."""
        current = _without_catalog(parts)
        self._current = [] if current == ["default"] else current

    def source_of_parts(self, parts: Sequence[str]) -> ScriptSource:
        """Return the source of a table's name, given its parts; a format and a path together mean the path."""
        known = self._tables.get(_quoted(parts).lower()) if len(parts) > 1 else None
        if known is not None:
            return known
        if _is_of_path(parts):
            return self.path(parts[1])
        return ScriptSource("table", ".".join(self._full(parts)).lower())

    def _full(self, parts: Sequence[str]) -> list[str]:
        return [*self._current, *parts] if len(parts) == 1 else _without_catalog(parts)

    def _catalog_name(self, parts: Sequence[str]) -> list[str]:
        """Return a table's name in the dry run's catalog, which has two levels: database and table.

        In the name of a path, each run of characters other than letters, digits and `_` becomes `_`.
        """
        full = self._full(parts)
        if _is_of_path(full):
            return [full[0].lower(), _UNSAFE_IN_TABLES.sub("_", full[1]).strip("_")]
        return full if len(full) < 3 else ["__".join(full[:-1]), full[-1]]

    def source_of_name(self, name: str) -> ScriptSource:
        """Return the source of a table's name in the script; see `source_of_parts`."""
        return self.source_of_parts([part.strip("`") for part in _parts(name)])

    def columns(self, source: ScriptSource) -> list[str]:
        """List the names of a table's columns. This doesn't count as a read.

        Raises:
            MissingSchemaError: the table has no declared schema.
        """
        in_catalog = self._catalog_name([part.strip("`") for part in _parts(source.name)])
        if source.kind == "table" and self._exists(in_catalog):
            return list(self.session._jsparkSession.table(_quoted(in_catalog)).schema().fieldNames())
        return self.schema(source).fieldNames()

    def _exists(self, parts: Sequence[str]) -> bool:
        return bool(self.session._jsparkSession.catalog().tableExists(_quoted(parts)))

    def topic(self, options: Mapping[str, str]) -> ScriptSource:
        """Return the source of a Kafka reader."""
        topics = options.get("subscribe") or options.get("subscribepattern") or options.get("assign") or "?"
        return ScriptSource("topic", ",".join(sorted(part.strip() for part in topics.split(","))))

    def path(self, given: str) -> ScriptSource:
        """Return the dataset at a path; paths in the scratch folder are relative to it."""
        text = given if ":/" in given else str(self.scratch / given)
        local = re.sub(r"^file:/+", "/", text)
        if local.startswith(f"{self.scratch}/"):
            return ScriptSource("path", naming.path(local).name.removeprefix(f"{self.scratch}/").strip("/"))
        ref = naming.path_pattern(text)
        scheme = "" if ref.namespace == "file" else f"{ref.namespace.rstrip('/')}/"
        return ScriptSource("path", f"{scheme}{ref.name.lstrip('/')}" if scheme else ref.name)

    def _frame(self, jdf: Any) -> DataFrame:
        from pyspark.sql import DataFrame

        return DataFrame(jdf, self.session)


def fixed_schema(format_: str, options: Mapping[str, str]) -> StructType | None:
    """Return the fixed schema of a format's sources; None if the format has none."""
    from pyspark.sql.types import _parse_datatype_string

    if format_ == "kafka":
        text: str | None = _KAFKA + (_HEADERS if options.get("includeheaders", "").lower() == "true" else "")
    else:
        text = _FIXED.get(format_)
    return None if text is None else _parse_datatype_string(text)  # type: ignore[return-value]


def _quoted(parts: Sequence[str]) -> str:
    return ".".join(f"`{part}`" for part in parts)


def _is_of_path(parts: Sequence[str]) -> bool:
    return len(parts) == 2 and parts[0].lower() in _FORMATS and "/" in parts[1]


def _without_catalog(parts: Sequence[str]) -> list[str]:
    return [*parts[1:]] if parts and parts[0].lower() == "spark_catalog" else [*parts]


def _parts(name: str) -> list[str]:
    return re.findall(r"`(?:[^`]|``)*`|[^.`]+", name)
