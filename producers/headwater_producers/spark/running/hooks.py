"""Hook of sessions: attaches capture to each SparkSession that this process creates.

Sessions made by `SparkSession.builder…getOrCreate()`, `SparkSession(context)` or `SQLContext` in any module
call `SparkSession.__init__` without a JVM session. Sessions created by `newSession()` (which `attach` watches itself)
and sessions of streaming queries are not hooked.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from typing import Any, Final

logger = logging.getLogger(__name__)

_CONNECT_MODULE: Final = "pyspark.sql.connect."


def attach_to_sessions(attach: Callable[[Any], object]) -> None:
    """Call `attach` for each session that is made from now on. Errors of `attach` are logged, and not raised."""
    from pyspark.sql import SparkSession

    make = SparkSession.__init__
    get_or_create = SparkSession.Builder.getOrCreate

    @functools.wraps(make)
    def init_and_attach(self: Any, sparkContext: Any, jsparkSession: Any = None, *more: Any, **options: Any) -> None:  # noqa: N803
        make(self, sparkContext, jsparkSession, *more, **options)
        if jsparkSession is None:
            _attach(attach, self)

    @functools.wraps(get_or_create)
    def get_and_attach(self: Any) -> Any:
        session = get_or_create(self)
        # A Connect session has another class; `attach` logs that it can't be captured.
        if type(session).__module__.startswith(_CONNECT_MODULE):
            _attach(attach, session)
        return session

    SparkSession.__init__ = init_and_attach  # type: ignore[method-assign]
    SparkSession.Builder.getOrCreate = get_and_attach  # type: ignore[method-assign]


def _attach(attach: Callable[[Any], object], session: Any) -> None:
    try:
        attach(session)
    except Exception as error:
        logger.error("lineage isn't captured: %s", error)  # noqa: TRY400  the job's log needs no traceback of ours
