"""PySpark's writers in a dry run: outputs are described and reported instead of written.

Parameters have PySpark's names.
"""

# ruff: noqa: A002, N803

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from headwater_dry_run.functions import code_of, function_digest
from headwater_dry_run.options import option_text, shown_options, without_secrets
from headwater_dry_run.output import Frames
from headwater_dry_run.signature import UnreadableError
from headwater_dry_run.sources import ScriptSource, Sources
from headwater_schemas import naming

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

_FILES: Final = ("csv", "json", "parquet", "orc", "text", "xml")
_OVERWRITTEN: Final = ("replacewhere", "partitionoverwritemode")
"""Options that select the rows that a writer overwrites."""
_STATE: Final = "_headwater_writing"
_DYNAMIC: Final = "of the partitions that get rows"
_NO_SINK: Final = ("noop", "console", "memory")
_NUMBERS: Final = itertools.count(1)
_IDENTITY: Final = re.compile(r"^identity\((.*)\)$")
_COLUMN: Final = re.compile(r"^Column<'(.*)'>$", re.DOTALL)


class Writes:
    """Reporter of the script's outputs."""

    def __init__(self, sources: Sources, frames: Frames) -> None:
        self.sources, self.frames = sources, frames

    def report(self, frame: DataFrame, target: ScriptSource, **write: Any) -> None:
        """Report a frame that the script would write; `write` has the further arguments of `report_found`."""
        self.report_found(self.frames.described(frame), frame.schema, target, **write)

    def report_found(
        self,
        description: dict[str, Any],
        schema: StructType,
        target: ScriptSource,
        *,
        format_: str | None = None,
        mode: str = "",
        options: Mapping[str, str] | None = None,
        partitioned_by: Sequence[str] = (),
        streaming: bool = False,
    ) -> None:
        """Report an output whose rows have been described already."""
        description |= {
            "schema": json.loads(schema.json()),
            "kind": target.kind,
            "name": target.name,
            "format": format_,
            "mode": without_secrets(mode),
            "options": dict(options or {}),
            "expressions": {path: without_secrets(text) for path, text in description["expressions"].items()},
            "influences": [without_secrets(text) for text in description["influences"]],
            # SQL writes `identity(day)` for `day`.
            "partitioned_by": [_IDENTITY.sub(r"\1", each) for each in partitioned_by],
            "streaming": streaming,
        }
        self.sources.channel.report("output", description)
        self.sources.last_write = target.name
        if target.kind in ("path", "table"):
            self.sources.wrote(target, schema)

    def report_statement(self, statement: str) -> None:
        """Report a statement that isn't a write; it is compared by its text and by the preceding write."""
        shown = without_secrets(" ".join(statement.split()))
        after = f", after what is written to {self.sources.last_write}" if self.sources.last_write else ""
        self.sources.channel.report("ddl", {"text": f"{shown}{after}"})

    def overwriting(self, which: str | None = None) -> str:
        """Return the mode of an overwrite: only the partitions that get rows, or all partitions.

        Args:
            which: `dynamic` or `static`; None: the session's setting.
        """
        default = self.sources.session.conf.get("spark.sql.sources.partitionOverwriteMode", "static")
        return f"overwrite {_DYNAMIC}" if (which or str(default)).lower() == "dynamic" else "overwrite"

    def target(self, format_: str | None, path: str | None, options: dict[str, str]) -> ScriptSource:
        """Return the target of a writer with these options."""
        if format_ == "kafka":
            return ScriptSource("topic", options.get("topic", "topics that the rows name"))
        if format_ == "jdbc":
            table = options.get("dbtable", "?")
            try:
                ref = naming.jdbc(options.get("url", ""), table)
            except ValueError:
                return ScriptSource("jdbc", table)
            return ScriptSource("jdbc", f"{ref.namespace}/{ref.name}")
        location = path or options.get("path")
        return self.sources.path(location) if location else ScriptSource("sink", format_ or "?")

    def batch_of(self, stream: DataFrame) -> DataFrame:
        """Return a stream's rows as foreachBatch gets them: an empty frame with the stream's lineage."""
        source = ScriptSource("stream", f"stream-{next(_NUMBERS)}")
        try:
            rows = f"stream:{self.frames.signature_of(stream)}"
            names = stream.schema.fieldNames()
            columns = {name: self.frames.signature_of(stream, name) for name in names}
            values = dict(zip(names, self.frames.signatures_of(stream)[1], strict=True))
        except UnreadableError as error:
            self.sources.channel.problem(f"The stream that foreachBatch gets isn't known: {error}.")
        else:
            self.sources.identities[source.name] = rows
            self.sources.streams[rows], self.sources.values[rows] = columns, values
            self.sources.read[source.name] = self.frames.texts(stream)["read"]
        return self.sources.frame(source, stream.schema)


def intercept_writes(writes: Writes) -> None:
    """Make PySpark's writers report their outputs instead of writing."""
    from pyspark import RDD
    from pyspark.sql import DataFrame
    from pyspark.sql.catalog import Catalog
    from pyspark.sql.readwriter import DataFrameWriter, DataFrameWriterV2
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    for writer in (DataFrameWriter, DataStreamWriter, DataFrameWriterV2):
        _remember(writer)
    _intercept_batch(DataFrameWriter, writes)
    _intercept_v2(DataFrameWriterV2, writes)
    _intercept_streams(DataStreamWriter, writes)
    for name in [name for name in dir(RDD) if name.startswith(("saveAs", "foreach"))]:
        setattr(RDD, name, _refusing(writes, f"RDD.{name}"))
    for name in ("createTable", "createExternalTable"):
        setattr(Catalog, name, _refusing(writes, f"Catalog.{name}"))
    # In Spark 4 frames have a subclass with its own methods.
    for frames in {DataFrame, type(writes.sources.session.range(0))}:
        for name in ("foreach", "foreachPartition"):
            setattr(frames, name, _callback(writes, name))
    _record_functions(writes)
    _record_rows(writes.frames)


def _remember(writer: Any) -> None:  # noqa: C901  one small function for each method
    """Record the writer's configuration, as PySpark passes it to the JVM."""

    def replace(name: str, record: Callable[..., None]) -> None:
        if not hasattr(writer, name):
            return

        def recorded(self: Any, *given: Any, **named: Any) -> Any:
            record(_state(self), *given, **named)
            return self

        setattr(writer, name, recorded)

    def format_(state: dict[str, Any], source: str) -> None:
        state["format"] = source.lower()

    def mode(state: dict[str, Any], saveMode: str | None = None, outputMode: str | None = None) -> None:
        state["mode"] = saveMode or outputMode or ""

    def option(state: dict[str, Any], key: str, value: Any) -> None:
        state["options"][key.lower()] = option_text(value)

    def options(state: dict[str, Any], **named: Any) -> None:
        state["options"].update({key.lower(): option_text(value) for key, value in named.items()})

    def partitions(state: dict[str, Any], *columns: Any) -> None:
        state["partitions"] = _flat(columns)

    def layout(word: str) -> Callable[..., None]:
        def record(state: dict[str, Any], *given: Any) -> None:
            state["layout"].append(f"{word}({', '.join(_flat(given))})")

        return record

    def ignored(state: dict[str, Any], *_: Any, **__: Any) -> None:
        """Ignore a call that changes neither schema nor rows."""

    for name, record in (
        ("format", format_),
        ("using", format_),
        ("mode", mode),
        ("outputMode", mode),
        ("option", option),
        ("options", options),
        ("tableProperty", option),
        ("partitionBy", partitions),
        ("partitionedBy", partitions),
        ("bucketBy", layout("bucket")),
        ("sortBy", layout("sort")),
        ("clusterBy", layout("cluster_by")),
        ("trigger", ignored),
        ("queryName", ignored),
    ):
        replace(name, record)


def _flat(columns: Sequence[Any]) -> list[str]:
    """Flatten arguments and lists to texts; a column becomes its expression."""
    flat = [each for one in columns for each in (one if isinstance(one, (list, tuple)) else [one])]
    return [_COLUMN.sub(r"\1", str(each)) for each in flat]


def _state(writer: Any) -> dict[str, Any]:
    state: dict[str, Any] = writer.__dict__.setdefault(
        _STATE, {"format": None, "mode": "", "options": {}, "partitions": [], "layout": []}
    )
    return state


def _update(state: dict[str, Any], format_: Any, mode: Any, partitions: Any, options: dict[str, Any]) -> None:
    state["format"] = (format_ or state["format"] or "parquet").lower()
    state["mode"] = mode or state["mode"]
    if partitions:
        state["partitions"] = [partitions] if isinstance(partitions, str) else list(partitions)
    state["options"].update({key.lower(): option_text(value) for key, value in options.items() if value is not None})


def _write_arguments(state: dict[str, Any], writes: Writes, *, is_partitioned: bool = False) -> dict[str, Any]:
    """Return the arguments of `Writes.report` that describe a writer's format, mode, options and partitioning.

    Args:
        writes: the session's writes.
        is_partitioned: True if the output may have partitions that the writer doesn't name.
    """
    options = {name: value for name, value in state["options"].items() if name not in _OVERWRITTEN}
    mode = state["mode"].lower()
    if mode == "overwrite":
        where, which = (state["options"].get(name) for name in _OVERWRITTEN)
        if where is not None:
            mode = f"overwrite where {where}"
        elif state["partitions"] or is_partitioned:
            mode = writes.overwriting(which)
    return {
        "format_": state["format"],
        "mode": mode,
        "options": shown_options(options),
        "partitioned_by": [*state["partitions"], *state["layout"]],
    }


def _intercept_batch(writer: Any, writes: Writes) -> None:
    def written(self: Any, target: ScriptSource) -> None:
        writes.report(self._df, target, **_write_arguments(_state(self), writes))

    def save(
        self: Any,
        path: Any = None,
        format: Any = None,
        mode: Any = None,
        partitionBy: Any = None,
        **options: Any,
    ) -> None:
        state = _state(self)
        _update(state, format, mode, partitionBy, options)
        if state["format"] not in _NO_SINK:
            written(self, writes.target(state["format"], path, state["options"]))

    def save_as_table(
        self: Any,
        name: str,
        format: Any = None,
        mode: Any = None,
        partitionBy: Any = None,
        **options: Any,
    ) -> None:
        _update(_state(self), format, mode, partitionBy, options)
        written(self, writes.sources.source_of_name(name))

    def insert_into(self: Any, tableName: str, overwrite: bool | None = None) -> None:  # noqa: FBT001
        state = _state(self)
        mode = state["mode"] if overwrite is None else "overwrite" if overwrite else "append"
        _update(state, None, mode or "append", None, {})
        target = writes.sources.source_of_name(tableName)
        # Columns are matched by position and get the table's names.
        frame = self._df.toDF(*matching(tableName, writes.sources.columns(target), len(self._df.columns)))
        writes.report(frame, target, **_write_arguments(state, writes, is_partitioned=True) | {"format_": None})

    def of_format(name: str) -> Any:
        def save_format(self: Any, path: str, mode: Any = None, partitionBy: Any = None, **options: Any) -> None:
            save(self, path, name, mode, partitionBy, **options)

        return save_format

    def jdbc(self: Any, url: str, table: str, mode: Any = None, properties: Any = None) -> None:  # noqa: ARG001
        save(self, None, "jdbc", mode, None, url=url, dbtable=table)

    writer.save, writer.saveAsTable, writer.insertInto, writer.jdbc = save, save_as_table, insert_into, jdbc
    for name in _FILES:
        setattr(writer, name, of_format(name))


def _intercept_v2(writer: Any, writes: Writes) -> None:
    def ending(mode: str) -> Any:
        def end(self: Any, *condition: Any) -> None:
            arguments = _write_arguments(_state(self), writes) | {"mode": " ".join([mode, *_flat(condition)])}
            writes.report(self._df, writes.sources.source_of_name(self._headwater_table), **arguments)

        return end

    def made(self: Any, df: DataFrame, table: str) -> None:
        self._df, self._spark, self._headwater_table = df, df.sparkSession, table

    writer.__init__ = made
    for name in ("create", "replace", "createOrReplace", "append", "overwrite", "overwritePartitions"):
        setattr(writer, name, ending(name))


def _intercept_streams(writer: Any, writes: Writes) -> None:
    def check(self: Any) -> None:
        """Check a streaming query as Spark does before its start; raises Spark's own error."""
        session: Any = writes.sources.session
        jvm = session._jvm
        modes = {"complete": "Complete", "update": "Update"}
        mode = getattr(jvm.org.apache.spark.sql.streaming.OutputMode, modes.get(_state(self)["mode"].lower(), "Append"))
        plan = self._df._jdf.queryExecution().analyzed()
        checker = jvm.org.apache.spark.sql.catalyst.analysis.UnsupportedOperationChecker
        checker.checkForStreaming(plan, mode())

    def start(
        self: Any,
        path: Any = None,
        format: Any = None,
        outputMode: Any = None,
        partitionBy: Any = None,
        queryName: Any = None,  # noqa: ARG001
        **options: Any,
    ) -> Any:
        state = _state(self)
        _update(state, format, outputMode, partitionBy, options)
        check(self)
        function = state.get("batch")
        if function is not None:
            function(writes.batch_of(self._df), 0)
        elif state.get("each") is not None:
            _report_callback(writes, self._df, "foreach", state["each"])
        elif state["format"] not in _NO_SINK:
            target = writes.target(state["format"], path, state["options"])
            _report_stream(writes, self, target)
        return EndedQuery()

    def to_table(
        self: Any,
        tableName: str,
        format: Any = None,
        outputMode: Any = None,
        partitionBy: Any = None,
        *_: Any,
        **options: Any,
    ) -> Any:
        _update(_state(self), format, outputMode, partitionBy, options)
        check(self)
        _report_stream(writes, self, writes.sources.source_of_name(tableName))
        return EndedQuery()

    def foreach_batch(self: Any, func: Any) -> Any:
        _state(self)["batch"] = func
        return self

    def foreach(self: Any, f: Any) -> Any:
        _state(self)["each"] = f
        return self

    writer.start, writer.toTable, writer.foreachBatch, writer.foreach = start, to_table, foreach_batch, foreach


def _report_stream(writes: Writes, writer: Any, target: ScriptSource) -> None:
    state = _state(writer)
    writes.report(
        writer._df,
        target,
        **_write_arguments(state, writes) | {"mode": state["mode"].lower() or "append"},
        streaming=True,
    )


class EndedQuery:
    """Streaming query that has processed all data."""

    id = "00000000-0000-0000-0000-000000000000"
    runId = "00000000-0000-0000-0000-000000000000"  # noqa: N815
    name = None
    isActive = False  # noqa: N815  PySpark's names, all of these
    lastProgress = None  # noqa: N815
    recentProgress: Sequence[Any] = ()  # noqa: N815
    status: dict[str, Any] = {"message": "Stopped", "isDataAvailable": False, "isTriggerActive": False}  # noqa: RUF012

    def awaitTermination(self, timeout: float | None = None) -> bool | None:
        """Return at once: the query has ended."""
        return None if timeout is None else True

    def processAllAvailable(self) -> None:
        """Return at once: all data is processed."""

    def stop(self) -> None:
        """Do nothing: the query has ended."""

    def exception(self) -> None:
        """Return None: the query has no error."""


def matching(table: str, columns: Sequence[str], count: int) -> Sequence[str]:
    """Return a table's columns, after checking that its rows have as many values.

    Raises:
        ValueError: the table has more or fewer columns.
    """
    if len(columns) != count:
        raise ValueError(f"{table} has {len(columns):,} columns, and the rows that are written to it have {count:,}")
    return columns


def _refusing(writes: Writes, what: str) -> Any:
    def refused(*_: Any, **__: Any) -> None:
        writes.sources.channel.problem(
            f"The script writes by {what}, which isn't compared.", "Write by DataFrame.write to have it compared."
        )

    return refused


def _callback(writes: Writes, name: str) -> Any:
    def called(self: Any, f: Any) -> None:
        _report_callback(writes, self, name, f)

    return called


def _report_callback(writes: Writes, frame: DataFrame, name: str, function: Any) -> None:
    """Report rows that go to the script's own code. The code is compared by its digest."""
    code = getattr(function, "__func__", function)
    function_name = getattr(function, "__name__", type(function).__name__)
    writes.sources.compared |= code_of(code)
    writes.report(frame, ScriptSource("code", f"{name}({function_name})"), mode=function_digest(code))


def _record_functions(writes: Writes) -> None:
    from pyspark.sql import udf as udf_module

    create = udf_module.UserDefinedFunction._create_judf

    def created(self: Any, func: Any) -> Any:
        judf = create(self, func)
        writes.sources.compared |= code_of(func)
        writes.frames.record_function_digest(judf.func(), function_digest(func))
        return judf

    udf_module.UserDefinedFunction._create_judf = created  # type: ignore[method-assign]


def _record_rows(frames: Frames) -> None:
    from pyspark.sql import SparkSession

    create = SparkSession.createDataFrame

    def created(self: Any, data: Any, *more: Any, **named: Any) -> Any:
        frame = create(self, data, *more, **named)
        if isinstance(data, (list, tuple)) or type(data).__module__.startswith("pandas."):
            text = repr(data) if isinstance(data, (list, tuple)) else str(data.to_dict("list"))
            frames.record_values_digest(frame, hashlib.sha256(f"{text}{frame.schema.json()}".encode()).hexdigest()[:16])
        return frame

    SparkSession.createDataFrame = created  # type: ignore[method-assign]
