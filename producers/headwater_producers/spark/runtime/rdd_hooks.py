"""Hooks of PySpark where Spark's own listeners aren't called: frames that become RDDs, and what is done with RDDs.

`checkpoint()`, `localCheckpoint()` and `.rdd` leave a plan behind, and `foreach`, `foreachPartition` and `saveAs…` of
an RDD run no query. So these methods are wrapped, once a process, from the first `attach` on; in an application that
isn't captured they do what they always did. A wrapper calls the method, then hands references over: it asks the JVM
nothing but which application it is in, never changes what is returned or raised, and an exception of ours ends here.
"""

from __future__ import annotations

import functools
import logging
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from headwater_producers.spark.events.run_error import from_exception
from headwater_producers.spark.runtime.foreach_batch import RUNNING_BATCH
from headwater_producers.spark.runtime.signals import FrameKept, RddActed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from headwater_schemas.events import RunError

logger = logging.getLogger(__name__)

_MARK: Final = "_headwater_wrapped"
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
_OUTPUT_PATHS: Final = ("mapreduce.output.fileoutputformat.outputdir", "mapred.output.dir")


def install() -> None:
    """Wraps the methods. Idempotent."""
    from pyspark.core.rdd import RDD
    from pyspark.sql.classic.dataframe import DataFrame

    if hasattr(DataFrame.checkpoint, _MARK):
        return
    for name in _KEPT:
        _replace(DataFrame, name, _keeping(getattr(DataFrame, name)))
    # Asked for once a frame: PySpark keeps it in the frame itself, which is then asked no more.
    rdd = functools.cached_property(_becoming(vars(DataFrame)["rdd"].func))
    rdd.__set_name__(DataFrame, "rdd")
    setattr(DataFrame, "rdd", rdd)  # noqa: B010 - mypy takes it for a method
    for name in (*_CONSUMED, *_SAVED, *_SAVED_BY_CONF):
        _replace(RDD, name, _acting(getattr(RDD, name), name))


def output_path(action: str, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> str | None:
    """Where an action on an RDD writes to; None where it writes no files, or that isn't known."""
    if action in _SAVED:
        path = arguments[0] if arguments else named.get("path")
        return str(path) if path is not None else None
    if action in _SAVED_BY_CONF:
        conf = arguments[0] if arguments else named.get("conf")
        found = (conf.get(key) for key in _OUTPUT_PATHS) if isinstance(conf, dict) else ()
        return next((str(path) for path in found if path is not None), None)
    return None


def _replace(owner: type, name: str, wrapper: Any) -> None:
    setattr(wrapper, _MARK, True)
    setattr(owner, name, wrapper)


def _keeping(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def kept(self: Any, *arguments: Any, **named: Any) -> Any:
        frame = original(self, *arguments, **named)
        _report_kept(self, frame=frame)
        return frame

    return kept


def _becoming(original: Callable[[Any], Any]) -> Callable[[Any], Any]:
    @functools.wraps(original)
    def rdd(self: Any) -> Any:
        made = original(self)
        _report_kept(self, rdd=made)
        return made

    return rdd


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


def _report_kept(source: Any, *, frame: Any = None, rdd: Any = None) -> None:
    from headwater_producers.spark import sessions

    try:
        application = sessions.known_application(source._session.sparkContext)
        if application is not None and (target := application.target) is not None:
            kept = frame._jdf if frame is not None else None
            made = rdd._jrdd if rdd is not None else None
            target.offer(FrameKept(source._jdf, kept, made, source._session))
    except Exception:
        logger.warning("lineage capture: the RDD of a DataFrame can't be tracked", exc_info=True)


def _report_acted(rdd: Any, action: str, path: str | None, started_at: datetime, error: BaseException | None) -> None:
    from headwater_producers.spark import sessions

    try:
        application = sessions.known_application(rdd.ctx)
        if application is not None and (target := application.target) is not None:
            failure: RunError | None = from_exception(error) if error is not None else None
            ended_at = datetime.now(UTC)
            target.offer(RddActed(_jvm_rdd(rdd), action, path, started_at, ended_at, failure, RUNNING_BATCH.get()))
    except Exception:
        logger.warning("lineage capture: an action on an RDD can't be tracked", exc_info=True)


def _jvm_rdd(rdd: Any) -> Any:
    """The JVM's RDD that a Python one is made of. Of a chain of Python functions that which they begin with.

    PySpark makes an RDD of the chain only when it runs, and anew for each action.
    """
    made = getattr(rdd, "_jrdd_val", None)
    if made is not None:
        return made
    begun = getattr(rdd, "_prev_jrdd", None)
    return begun if begun is not None else rdd._jrdd
