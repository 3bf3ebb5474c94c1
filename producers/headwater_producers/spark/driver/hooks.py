"""Hooks of PySpark where Spark's own listeners aren't called, or lack a part of the information.

The first `attach` of a process installs them; in applications that aren't captured the methods work as before.

    DataStreamWriter.foreachBatch        the function is wrapped, to report the micro-batch of each call
    DataStreamWriter.start, toTable      a new session is observed for its streams, too, from its first query on
    SparkSession.newSession              the new session joins the captured application
    DataFrame.checkpoint, .rdd, …        the plan of a frame that becomes an RDD or a new plan is remembered
    RDD.foreach, .saveAs…                reported here, since they run no query
    RDD.collect, .take, …                return rows to the program without a query; so does DataFrame.toLocalIterator
    DataFrameWriter.save                 to Kafka: the topic's end offsets are requested before the write

Spark keeps a listener for the whole life of the application for each session whose `streams` was ever used. An
application may create a session for each request that it serves. So a session of `newSession()` is only observed for
streams once it starts a query.

A wrapper of a frame's or RDD's method calls the method, then hands references over: it asks the JVM only for the
application's id, and never changes the method's result or exception; no exception of capture leaves it. Only a batch
write to Kafka waits until the topic's state is known, `capture_topic_wait_seconds` at most. After a write that waited
in vain, the writes of the next PAUSE_SECONDS don't wait.
"""

from __future__ import annotations

import functools
import logging
import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from headwater_producers.spark.driver import sessions
from headwater_producers.spark.driver.listeners import RUNNING_BATCH, WRAPPED, watch
from headwater_producers.spark.driver.signals import CommandEnded, FrameKept, RddActed, RddRead, TopicWriteBegins
from headwater_producers.spark.events.run_error import from_exception
from headwater_producers.spark.jvm import versions
from headwater_schemas.events import RunError

logger = logging.getLogger(__name__)


PAUSE_SECONDS: Final = 30.0
"""Time during which writes don't wait, after a write that waited in vain."""
_NOT_OPTIONS: Final = frozenset({"path", "format", "mode", "partitionBy"})
_SOURCE: Final = "_headwater_source"
_KEPT: Final = ("checkpoint", "localCheckpoint")
_CONSUMED: Final = ("foreach", "foreachPartition")
_SAVED: Final = (
    "saveAsHadoopFile",
    "saveAsNewAPIHadoopFile",
    "saveAsPickleFile",
    "saveAsSequenceFile",
    "saveAsTextFile",
)
_SAVED_BY_CONF: Final = ("saveAsHadoopDataset", "saveAsNewAPIHadoopDataset")
_READ: Final = ("collect", "take", "toLocalIterator")
"""Methods through which all other methods of an RDD get its rows, too."""
_ITERATED: Final = "toLocalIterator"
_STARTS: Final = ("start", "toTable")
_OUTPUT_PATHS: Final = ("mapreduce.output.fileoutputformat.outputdir", "mapred.output.dir")


def install() -> None:
    """Wrap PySpark's methods. Idempotent."""
    if hasattr(versions.frame_class().checkpoint, WRAPPED):
        return
    _hook_queries()
    _hook_new_sessions()
    _hook_topic_writes()
    _hook_rdds()


def _hook_rdds() -> None:
    frames, rdds = versions.frame_class(), versions.rdd_class()
    for name in _KEPT:
        _replace(frames, name, _followed(getattr(frames, name), lambda frame, made: _report_kept(frame, frame=made)))
    # Called once for each frame, which keeps its result.
    became = _followed(versions.frame_rdd(frames), lambda frame, rdd: _report_kept(frame, rdd=rdd))
    rdd = functools.cached_property(became)
    rdd.__set_name__(frames, "rdd")
    frames.rdd = rdd
    for name in (*_CONSUMED, *_SAVED, *_SAVED_BY_CONF):
        _replace(rdds, name, _acting(getattr(rdds, name), name))
    for name in _READ:
        _replace(rdds, name, _followed(getattr(rdds, name), _report_rows))
    _replace(frames, _ITERATED, _followed(getattr(frames, _ITERATED), _report_iterated))


def output_path(action: str, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> str | None:
    """Return the path that an action on an RDD writes to; None if it writes no files, or the path is unknown."""
    if action in _SAVED:
        path = arguments[0] if arguments else named.get("path")
        return str(path) if path is not None else None
    if action in _SAVED_BY_CONF:
        conf = arguments[0] if arguments else named.get("conf")
        found = (conf.get(key) for key in _OUTPUT_PATHS) if isinstance(conf, dict) else ()
        return next((str(path) for path in found if path is not None), None)
    return None


def _replace(owner: type, name: str, wrapper: Any) -> None:
    setattr(wrapper, WRAPPED, True)
    setattr(owner, name, wrapper)


def _followed(original: Callable[..., Any], report: Callable[[Any, Any], None]) -> Callable[..., Any]:
    """Wrap a method to report its object and its result after each call that succeeds."""

    @functools.wraps(original)
    def followed(self: Any, *arguments: Any, **named: Any) -> Any:
        result = original(self, *arguments, **named)
        report(self, result)
        return result

    return followed


def _acting(original: Callable[..., Any], action: str) -> Callable[..., Any]:
    @functools.wraps(original)
    def acted(self: Any, *arguments: Any, **named: Any) -> Any:
        started_at = datetime.now(UTC)
        try:
            result = original(self, *arguments, **named)
        except BaseException as error:
            _report_acted(self, action, output_path(action, arguments, named), started_at, error)
            raise
        _report_acted(self, action, output_path(action, arguments, named), started_at, None)
        return result

    return acted


def _report_rows(rdd: Any, _rows: Any) -> None:
    _report_read(rdd.ctx, lambda: RddRead(_jvm_rdd(rdd)))


def _report_iterated(frame: Any, _rows: Any) -> None:
    def ended() -> CommandEnded:
        return CommandEnded(_ITERATED, frame._jdf.queryExecution(), None, None, frame._session, datetime.now(UTC))

    _report_read(frame._session.sparkContext, ended)


def _report_read(context: Any, signal: Callable[[], CommandEnded | RddRead]) -> None:
    try:
        application = sessions.known_application(context)
        if application is not None and (target := application.target) is not None and target.captures_reads:
            target.offer(signal())
    except Exception:
        logger.warning(
            "lineage capture: the program's reads of rows can't be recorded; writes of these rows lack the inputs",
            exc_info=True,
        )


def _report_kept(source: Any, *, frame: Any = None, rdd: Any = None) -> None:
    try:
        application = sessions.known_application(source._session.sparkContext)
        if application is not None and (target := application.target) is not None:
            jvm_frame = frame._jdf if frame is not None else None
            jvm_rdd = rdd._jrdd if rdd is not None else None
            target.offer(FrameKept(source._jdf, jvm_frame, jvm_rdd, source._session))
    except Exception:
        logger.warning(
            "lineage capture: the RDD of a DataFrame can't be read; writes of its rows are recorded without its inputs",
            exc_info=True,
        )


def _report_acted(rdd: Any, action: str, path: str | None, started_at: datetime, error: BaseException | None) -> None:
    try:
        application = sessions.known_application(rdd.ctx)
        if application is not None and (target := application.target) is not None:
            failure: RunError | None = from_exception(error) if error is not None else None
            ended_at = datetime.now(UTC)
            target.offer(RddActed(_jvm_rdd(rdd), action, path, started_at, ended_at, failure, RUNNING_BATCH.get()))
    except Exception:
        logger.warning("lineage capture: an action on an RDD can't be read, and isn't recorded", exc_info=True)


def _jvm_rdd(rdd: Any) -> Any:
    """Return the JVM's RDD behind a Python RDD; for a chain of Python functions, the RDD at its start.

    PySpark creates an RDD for the chain only when it runs, and a new one for each action.
    """
    own = getattr(rdd, "_jrdd_val", None)
    if own is not None:
        return own
    first = getattr(rdd, "_prev_jrdd", None)
    return first if first is not None else rdd._jrdd


def _hook_queries() -> None:
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    original = DataStreamWriter.foreachBatch

    @functools.wraps(original)
    def foreach_batch(self: DataStreamWriter, func: Callable[[Any, int], None]) -> DataStreamWriter:
        return original(self, _watched(self, func))

    _replace(DataStreamWriter, "foreachBatch", foreach_batch)
    for name in _STARTS:
        _replace(DataStreamWriter, name, _starting(getattr(DataStreamWriter, name)))


def _watched(writer: Any, func: Callable[[Any, int], None]) -> Callable[[Any, int], None]:
    try:
        listeners = sessions.known_listeners(writer._spark)
    except Exception:
        logger.warning(
            "lineage capture: a foreachBatch function can't be wrapped; its writes are runs of their own", exc_info=True
        )
        return func
    return func if listeners is None else watch(func, listeners)


def _starting(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def start(self: Any, *arguments: Any, **named: Any) -> Any:
        try:
            if (listeners := sessions.known_listeners(self._spark)) is not None:
                listeners.observe_streams()
        except Exception:
            logger.warning(
                "lineage capture: no listener could be added for streaming queries; those of this session aren't "
                "recorded",
                exc_info=True,
            )
        return original(self, *arguments, **named)

    return start


def _hook_new_sessions() -> None:
    from pyspark.sql import SparkSession

    original = SparkSession.newSession

    @functools.wraps(original)
    def new_session(self: SparkSession) -> SparkSession:
        session = original(self)
        try:
            if sessions.known_application(session.sparkContext) is not None:
                sessions.join(session, is_new=True)
        except Exception:
            logger.warning(
                "lineage capture: no listener could be added to a new session; its queries aren't recorded",
                exc_info=True,
            )
        return session

    _replace(SparkSession, "newSession", new_session)


class TopicWait:
    """Wait of batch writes to Kafka for their topics' states; used from any thread.

    Args:
        clock: monotonic seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._not_before = float("-inf")

    def wait(self, writer: Any, options: Mapping[str, Any]) -> None:
        """Wait until the topic's state is known, or the time is over. Never raises."""
        try:
            application = sessions.known_application(writer._spark.sparkContext)
            if application is None or (target := application.target) is None or self._clock() < self._not_before:
                return
            if options:
                # `save` itself does the same next.
                writer.options(**options)
            asked = threading.Event()
            target.offer(TopicWriteBegins(writer._jwrite, writer._spark, asked))
            # Mostly the answer comes before Spark writes, even without a wait. An answer after the write has begun
            # bounds nothing.
            if (seconds := target.topic_wait_seconds) and not asked.wait(seconds):
                self._not_before = self._clock() + PAUSE_SECONDS
        except Exception:
            logger.warning(
                "lineage capture: a topic can't be asked about; its write is recorded without offsets",
                exc_info=True,
            )


def _hook_topic_writes() -> None:
    from pyspark.sql.readwriter import DataFrameWriter

    formatted, saved = DataFrameWriter.format, DataFrameWriter.save
    topics = TopicWait()

    @functools.wraps(formatted)
    def format_(self: DataFrameWriter, source: str) -> DataFrameWriter:
        setattr(self, _SOURCE, source)
        return formatted(self, source)

    @functools.wraps(saved)
    def save(self: DataFrameWriter, *arguments: Any, **named: Any) -> None:
        given = arguments[1] if len(arguments) > 1 else named.get("format")
        source = given if given is not None else getattr(self, _SOURCE, None)
        if isinstance(source, str) and source.lower() == "kafka" and RUNNING_BATCH.get() is None:
            topics.wait(self, {name: value for name, value in named.items() if name not in _NOT_OPTIONS})
        saved(self, *arguments, **named)

    _replace(DataFrameWriter, "format", format_)
    _replace(DataFrameWriter, "save", save)
