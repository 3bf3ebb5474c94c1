"""Request ids in log lines, and OpenTelemetry spans.

Without a tracer, which is the default, spans cost nothing and need no package.

    with span("write", events=500):
        …

Attributes have the names of OpenTelemetry's semantic conventions; other names begin with `headwater.`. No value is text
from outside: no names of datasets, no statements.
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
        """Begin a current span; `carrier`: headers that name the span's parent (W3C Trace Context)."""

    def current(self) -> str | None:
        """Return the current span's trace id, 32 hexadecimal digits; None: there is no span."""


_spans: list[Spans] = []


def trace_with(spans: Spans | None) -> None:
    """Set the source of all spans of this process; None: no spans."""
    _spans[:] = [] if spans is None else [spans]


def span(
    name: str, attributes: Mapping[str, Any] | None = None, *, carrier: Mapping[str, str] | None = None
) -> AbstractContextManager[Any]:
    """Begin a span, which is current until the block ends; an exception that leaves the block is recorded in it.

    Args:
        name: name of the span, from a small set of names.
        attributes: numbers and words of a closed list.
        carrier: headers that name the span's parent (W3C Trace Context); None: the parent is the current span.

    Returns:
        A context manager that gives OpenTelemetry's `Span`; None if there is no tracer.
    """
    if not _spans:
        return contextlib.nullcontext()
    return _spans[0].span(name, attributes or {}, carrier=carrier)


def current_trace() -> str | None:
    """Return the current span's trace id, 32 hexadecimal digits; None: there is no span."""
    return _spans[0].current() if _spans else None


_REQUEST: ContextVar[str | None] = ContextVar("request", default=None)


@contextlib.contextmanager
def in_request(request: str) -> Iterator[None]:
    """Make the log lines of the block name a request."""
    token = _REQUEST.set(request)
    try:
        yield
    finally:
        _REQUEST.reset(token)


def current_request() -> str | None:
    """Return the id of the current request; None outside of requests."""
    return _REQUEST.get()
