"""Readers of PySpark in a dry run, served by `sources`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from headwater_dry_run.options import option_text, options_text
from headwater_dry_run.sources import ScriptSource, Sources, fixed_schema
from headwater_schemas import naming

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_FILES: Final = ("csv", "json", "parquet", "orc", "text", "xml")
_STATE: Final = "_headwater_reading"


def serve_reads(sources: Sources) -> None:
    """Serve readers and tables from `sources`."""
    from pyspark.sql import SparkSession
    from pyspark.sql.catalog import Catalog
    from pyspark.sql.readwriter import DataFrameReader
    from pyspark.sql.streaming.readwriter import DataStreamReader

    for reader, streaming in ((DataFrameReader, False), (DataStreamReader, True)):
        _remember(reader)
        _serve(reader, sources, streaming=streaming)
    session_table = SparkSession.table

    def table(session: Any, tableName: str) -> DataFrame:  # noqa: N803  PySpark's name
        return session_table(session, _session_name(sources, tableName))

    SparkSession.table = table  # type: ignore[method-assign,assignment]
    Catalog.setCurrentDatabase = lambda _, dbName: sources.use([dbName])  # type: ignore[method-assign,assignment]  # noqa: N803


def _session_name(sources: Sources, name: str) -> str:
    """Return the name of a table or temporary view in the dry run's session."""
    catalog: Any = sources.session._jsparkSession.catalog()
    if "." not in name and catalog.tableExists(name):
        return name
    return sources.table(name)


def _remember(reader: Any) -> None:
    """Record format, schema and options, which PySpark passes to the JVM."""
    set_schema, set_option, set_options = reader.schema, reader.option, reader.options

    def with_format(self: Any, source: str) -> Any:
        _state(self)["format"] = source.lower()
        # The JVM doesn't need the format: reads are served.
        return self

    def with_schema(self: Any, schema: Any) -> Any:
        _state(self)["schema"] = schema
        return set_schema(self, schema) and self

    def with_option(self: Any, key: str, value: Any) -> Any:
        _state(self)["options"][key.lower()] = option_text(value)
        return set_option(self, key, value) and self

    def with_options(self: Any, **options: Any) -> Any:
        _state(self)["options"].update({key.lower(): option_text(value) for key, value in options.items()})
        return set_options(self, **options) and self

    reader.format, reader.schema, reader.option, reader.options = with_format, with_schema, with_option, with_options


def _serve(reader: Any, sources: Sources, *, streaming: bool) -> None:
    def load(self: Any, path: Any = None, format: str | None = None, schema: Any = None, **options: Any) -> DataFrame:  # noqa: A002
        state = _state(self)
        state["options"].update({key.lower(): option_text(value) for key, value in options.items()})
        return _loaded(sources, format or state["format"], path, schema or state["schema"], state, streaming=streaming)

    def table(_: Any, tableName: str) -> DataFrame:  # noqa: N803  PySpark's name
        frame = sources.session.table(tableName)
        if not streaming:
            return frame
        return sources.frame(sources.source_of_name(tableName), frame.schema, streaming=True)

    reader.load, reader.table = load, table
    for name in _FILES:
        if hasattr(reader, name):
            setattr(reader, name, _of_format(sources, name, streaming=streaming))
    if not streaming:
        reader.jdbc = _jdbc(sources)


def _of_format(sources: Sources, format_: str, *, streaming: bool) -> Any:
    def read(self: Any, path: Any = None, schema: Any = None, **options: Any) -> DataFrame:
        state = _state(self)
        given = {key.lower(): option_text(value) for key, value in options.items() if value is not None}
        state["options"].update(given)
        if not isinstance(path, (str, list, tuple, type(None))):
            raise TypeError(f"the source of {format_} is a {type(path).__name__}, not a path: reading it needs data")
        return _loaded(sources, format_, path, schema or state["schema"], state, streaming=streaming)

    if format_ in ("parquet", "orc"):
        # These methods accept several paths, and no schema.
        def read_paths(self: Any, *paths: Any, **options: Any) -> DataFrame:
            flat = [each for path in paths for each in (path if isinstance(path, (list, tuple)) else [path])]
            return read(self, flat or options.pop("path", None), **options)

        return read_paths
    return read


def _jdbc(sources: Sources) -> Any:
    def jdbc(self: Any, url: str, table: str, *_: Any, **__: Any) -> DataFrame:
        state = _state(self)
        state["options"].update({"url": url, "dbtable": table})
        return _loaded(sources, "jdbc", None, state["schema"], state, streaming=False)

    return jdbc


def _loaded(
    sources: Sources, format_: str | None, path: Any, schema: Any, state: dict[str, Any], *, streaming: bool
) -> DataFrame:
    from pyspark.sql.types import _parse_datatype_string

    chosen = (format_ or sources.session.conf.get("spark.sql.sources.default") or "parquet").lower()
    options = state["options"]
    read_as = f"{chosen} {options_text(options)}".strip()
    declared = _parse_datatype_string(schema) if isinstance(schema, str) else schema
    known: Any = declared or fixed_schema(chosen, options)
    if chosen == "kafka":
        return sources.frame(replace(sources.topic(options), options=read_as), known, streaming=streaming)
    if chosen == "jdbc":
        return sources.frame(replace(_jdbc_source(options), options=read_as), known, streaming=streaming)
    paths = [path] if isinstance(path, str) else list(path or [])
    paths = paths or [each for each in (options.get("path"),) if each]
    if not paths:
        return sources.frame(ScriptSource("source", chosen, read_as), known, streaming=streaming)
    frames = []
    for each in paths:
        source = replace(sources.path(each), options=read_as)
        frames.append(
            sources.frame(source, None if sources.was_written(source) and not declared else known, streaming=streaming)
        )
    whole = frames[0]
    for frame in frames[1:]:
        whole = whole.union(frame)
    return whole


def _jdbc_source(options: dict[str, str]) -> ScriptSource:
    table = options.get("dbtable") or options.get("query") or "?"
    try:
        ref = naming.jdbc(options.get("url", ""), table)
    except ValueError:
        return ScriptSource("jdbc", table)
    return ScriptSource("jdbc", f"{ref.namespace}/{ref.name}")


def _state(reader: Any) -> dict[str, Any]:
    state: dict[str, Any] = reader.__dict__.setdefault(_STATE, {"format": None, "schema": None, "options": {}})
    return state
