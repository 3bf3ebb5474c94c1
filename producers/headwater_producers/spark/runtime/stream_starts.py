"""Starts of streaming queries: the moment at which a new session is observed for its streams, too.

Spark keeps, for as long as the application lives, a listener of its own for each session whose streams were ever
asked for. An application may make a session for each request that it serves; so one that `newSession()` has made is
asked when it starts a query, and not before. `DataStreamWriter.start` and `toTable` are wrapped for that, once a
process, from the first `attach` on; elsewhere they do what they always did.
"""

from __future__ import annotations

import functools
import logging
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

logger = logging.getLogger(__name__)

_MARK: Final = "_headwater_wrapped"
_STARTS: Final = ("start", "toTable")


def install() -> None:
    """Wraps the methods. Idempotent."""
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    if hasattr(DataStreamWriter.start, _MARK):
        return
    for name in _STARTS:
        wrapper = _starting(getattr(DataStreamWriter, name))
        setattr(wrapper, _MARK, True)
        setattr(DataStreamWriter, name, wrapper)


def _starting(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def start(self: Any, *arguments: Any, **named: Any) -> Any:
        # Sessions know of this module's neighbours.
        from headwater_producers.spark import sessions

        try:
            if (listeners := sessions.known_listeners(self._spark)) is not None:
                listeners.observe_streams()
        except Exception:
            logger.warning("lineage capture: streaming queries of a session can't be observed", exc_info=True)
        return original(self, *arguments, **named)

    return start
