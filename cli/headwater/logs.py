"""Logs of the services `consume` and `serve`: each log record is a line on stderr, as text or as JSON for a collector.

    2026-11-22T10:06:35.123Z INFO    headwater.consume  Assigned 3 partitions of lineage.events: 0, 1, 2.
    {"time": "2026-11-22T10:06:35.123Z", "level": "INFO", "logger": "headwater.consume", "message": "Assigned …"}

The format is text on a terminal and JSON elsewhere, unless `log.format` or `--log-format` is given. Times are UTC,
RFC 3339. Likely credentials are removed, and control characters in data are shown as escapes, never sent to the
terminal.

Also logged are Python's warnings, and unexpected errors: exceptions that end the command, a thread or a worker, and
exceptions that Python can't raise (`sys.unraisablehook`).
"""

from __future__ import annotations

import contextlib
import json
import logging
import sys
import threading
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any, TextIO

import typer

from headwater.connection import Section
from headwater.console import console
from headwater_schemas.redacted_values import redacted_json
from headwater_schemas.redaction import redact
from headwater_schemas.tracing import current_request, current_trace
from headwater_schemas.visible import json_escaped, visible


class LogFormat(StrEnum):
    """Format of a log line."""

    TEXT = "text"
    JSON = "json"


class LogLevel(StrEnum):
    """Lowest level of the records that are logged."""

    DEBUG = "DEBUG"
    INFO = "INFO"
    WARNING = "WARNING"
    ERROR = "ERROR"


class LogSettings(Section):
    """Logs of `headwater consume` and `headwater serve`."""

    format: LogFormat | None = None
    """Default: text on a terminal, JSON elsewhere."""
    level: LogLevel = LogLevel.INFO
    """The lowest level that is written. Other packages than Headwater's are logged from WARNING up."""


LogFormatOption = Annotated[
    LogFormat | None,
    typer.Option(
        "--log-format", help="Format of the log lines on stderr. Default: text on a terminal, JSON elsewhere."
    ),
]


_PACKAGES = ("schemas", "openlineage", "graph", "analysis", "producers", "consumers", "review", "audit", "server")
_OUR_LOGGERS = ("headwater", *(f"headwater_{package}" for package in _PACKAGES))


def start_logging(settings: LogSettings) -> logging.Handler:
    """Send this process's logs and the console's reports to stderr until the command ends; returns the handler."""
    return console.until_end.enter_context(_logging_to_stderr(settings))


@contextlib.contextmanager
def _logging_to_stderr(settings: LogSettings) -> Iterator[logging.Handler]:
    chosen = settings.format or (LogFormat.TEXT if sys.stderr.isatty() else LogFormat.JSON)
    handler = _Stderr()
    handler.setFormatter(JsonLines() if chosen is LogFormat.JSON else TextLines())
    root = logging.getLogger()
    ours = [logging.getLogger(name) for name in _OUR_LOGGERS]
    levels = [(logger, logger.level) for logger in (root, *ours)]
    root.addHandler(handler)
    root.setLevel(max(logging.WARNING, logging.getLevelNamesMapping()[settings.level]))
    for logger in ours:
        logger.setLevel(settings.level.value)
    logging.captureWarnings(capture=True)
    console.log = logging.getLogger("headwater")
    hooks = threading.excepthook, sys.unraisablehook
    threading.excepthook, sys.unraisablehook = _thread_ended, _unraisable
    try:
        yield handler
    finally:
        threading.excepthook, sys.unraisablehook = hooks
        console.log = None
        logging.captureWarnings(capture=False)
        for logger, level in levels:
            logger.setLevel(level)
        root.removeHandler(handler)


def _thread_ended(ended: threading.ExceptHookArgs) -> None:
    if ended.exc_value is not None and not isinstance(ended.exc_value, SystemExit):
        name = "" if ended.thread is None else ended.thread.name
        logging.getLogger("headwater").error("Thread %s ended with an error.", name, exc_info=ended.exc_value)


def _unraisable(found: sys.UnraisableHookArgs) -> None:
    error = found.exc_value
    where = getattr(found.object, "__qualname__", None) or type(found.object).__name__
    logging.getLogger("headwater").error(
        "%s in %s.", (found.err_msg or "Exception ignored").removesuffix(" in"), where, exc_info=error
    )


def fields(**values: Any) -> Mapping[str, Any]:
    """Additional members of a JSON line: `logger.info(…, extra=fields(group="…"))`."""
    return {"fields": values}


class _Stderr(logging.StreamHandler[TextIO]):
    """Writes to the current `sys.stderr`, which a live display replaces to print lines above itself."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)

    @property
    def stream(self) -> TextIO:  # type: ignore[override]  # an attribute there, and never set here
        """Current stderr."""
        return sys.stderr


class TextLines(logging.Formatter):
    """A line for people."""

    def format(self, record: logging.LogRecord) -> str:
        """Time, level, logger, message; a traceback below, indented."""
        text = f"{_time(record)} {record.levelname:<7} {record.name}  {visible(redact(record.getMessage()))}"
        if (request := current_request()) is not None:
            text += f"  [request {request}]"
        if record.exc_info:
            lines = redact(self.formatException(record.exc_info)).splitlines()
            text = "\n    ".join([text, *map(visible, lines)])
        return text


class JsonLines(logging.Formatter):
    """One JSON object per line; JSON's escapes keep control characters out."""

    def format(self, record: logging.LogRecord) -> str:
        """Time, level, logger, message, the record's `fields`, and an exception with type, message and stack."""
        document: dict[str, Any] = {
            "time": _time(record),
            "level": record.levelname,
            "logger": record.name,
            "message": redact(record.getMessage()),
        }
        ids = {"request": current_request(), "trace_id": current_trace()}
        document |= {name: value for name, value in ids.items() if value is not None}
        for name, value in getattr(record, "fields", {}).items():
            document[name], _ = redacted_json(value)
        if record.exc_info and record.exc_info[1] is not None:
            kind, error, _ = record.exc_info
            document["exception"] = {
                "type": f"{kind.__module__}.{kind.__qualname__}",
                "message": redact(str(error)),
                "stack": redact(self.formatException(record.exc_info)),
            }
        return json_escaped(json.dumps(document, default=str, ensure_ascii=False))


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
