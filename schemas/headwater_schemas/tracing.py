"""Ids by which the logs of one request can be followed; and spans of OpenTelemetry.

Without a tracer, which is the default, spans cost nothing and need no package.

    with span("write", events=500):
        …

The names of attributes are those of OpenTelemetry's semantic conventions where these have one, else begin with
`headwater.`. No value is text from outside: no names of datasets, no statements.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import Any, Protocol


class Spans(Protocol):
    """Source of spans."""

    def span(
        self, name: str, attributes: Mapping[str, Any], *, carrier: Mapping[str, str] | None
    ) -> AbstractContextManager[Any]:
        """A current span; `carrier`: headers that name its parent (W3C Trace Context)."""

    def current(self) -> str | None:
        """Trace id of the current span, 32 hexadecimal digits; None: there is no span."""


_spans: list[Spans] = []


def trace_with(spans: Spans | None) -> None:
    """Let all spans of this process come from a source; None: no spans."""
    _spans[:] = [] if spans is None else [spans]


def span(
    name: str, attributes: Mapping[str, Any] | None = None, *, carrier: Mapping[str, str] | None = None
) -> AbstractContextManager[Any]:
    """A current span, until the block ends; an exception that leaves the block is recorded in it.

    Args:
        name: low-cardinality name.
        attributes: numbers and words of a closed list.
        carrier: headers that name its parent (W3C Trace Context); None: the current span is its parent.

    Returns:
        A context manager of OpenTelemetry's `Span`, or of None where nothing is traced.
    """
    if not _spans:
        return contextlib.nullcontext()
    return _spans[0].span(name, attributes or {}, carrier=carrier)


def current_trace() -> str | None:
    """Trace id of the current span, 32 hexadecimal digits; None: there is no span."""
    return _spans[0].current() if _spans else None


_REQUEST: ContextVar[str | None] = ContextVar("request", default=None)


@contextlib.contextmanager
def in_request(request: str) -> Iterator[None]:
    """Let log lines of the block name a request."""
    token = _REQUEST.set(request)
    try:
        yield
    finally:
        _REQUEST.reset(token)


def current_request() -> str | None:
    """Id of the current request; None: there is none."""
    return _REQUEST.get()
